// Whether fusing pays for a whole model: the policies `never`, `always` and `measured`, generating
// the same number of tokens in turns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/harness/progress.h"
#include "apps/bench/harness/statistics.h"
#include "luminal/driver/compile.h"
#include "luminal/llm/session.h"

namespace luminal::bench {

struct FusionSetting {
  int64_t prefill = 0;  // tokens of the prompt
  int64_t decode = 0;   // tokens of the answer, the likeliest each
};
std::string text(const FusionSetting& setting);  // "[prefill=128, decode=16]"

// Times as long as the other of `never` and `always` are beyond what a busy machine does.
inline constexpr double kHopeless = 4;

struct ModelFusionOptions {
  std::string model;
  std::vector<FusionSetting> settings;
  int runs = 7;  // that count; one more goes before them
  llm::SessionOptions session;
};

struct PolicyTimes {
  std::vector<double> total_ms;  // by run
  std::vector<double> first_ms;  // until the first token was known
  bool same_answer = true;       // as the first policy's: policies round differently
  bool hopeless = false;         // so far behind in its first run that it got no others
};

struct SettingTimes {
  FusionSetting setting;
  std::vector<PolicyTimes> of_policy;  // as kFusionPolicies
  // Of runs that stand beside each other: always by never, and measured by the better of the two.
  Judgement always_by_never, measured_by_better;
};

struct ModelFusion {
  ModelFusionOptions options;
  std::vector<SettingTimes> settings;
  std::vector<int64_t> kernels;  // of each policy's plans
};

inline constexpr FusionPolicy kFusionPolicies[] = {FusionPolicy::Never, FusionPolicy::Always,
                                                   FusionPolicy::Measured};
const char* policy_name(size_t policy);  // "never", "always", "measured"

ModelFusion run_model_fusion(const ModelFusionOptions& options, const Progress& progress);

// {"config": …, "results": {policy: {setting: {"total_ms": …}}}}, with the samples and the ratios.
std::string model_fusion_json(const ModelFusion& result);
// Of `never` and `always`, the one that the first run leaves no hope for: it would take most of the
// time to say by how much it loses. Without one that took kHopeless times the other: nothing.
void give_up_hopeless(SettingTimes& times);
// A line for each setting, and where fusing loses.
std::string model_fusion_table(const ModelFusion& result);

}  // namespace luminal::bench
