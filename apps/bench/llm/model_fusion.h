// Measures whether fusion pays for a whole model: the policies `never`, `always` and `measured`
// generate the same number of tokens in turns.
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
  int64_t prefill = 0;  // prompt tokens
  int64_t decode = 0;   // answer tokens, chosen greedily
};
std::string text(const FusionSetting& setting);  // "[prefill=128, decode=16]"

// `never` or `always` being slower than the other by this factor isn't due to a busy machine.
inline constexpr double kHopeless = 4;

struct ModelFusionOptions {
  std::string model;
  std::vector<FusionSetting> settings;
  int runs = 7;  // measured; one warm-up run precedes them
  llm::SessionOptions session;
};

struct PolicyTimes {
  std::vector<double> total_ms;  // by run
  std::vector<double> first_ms;  // TTFT
  bool same_answer = true;       // same tokens as the first policy: policies round differently
  bool hopeless = false;  // more than kHopeless times slower in its first run, so it got no others
};

struct SettingTimes {
  FusionSetting setting;
  std::vector<PolicyTimes> of_policy;  // in the order of kFusionPolicies
  // Ratios of adjacent runs: `always` to `never`, and `measured` to the better of the two.
  Judgement always_by_never, measured_by_better;
};

struct ModelFusion {
  ModelFusionOptions options;
  std::vector<SettingTimes> settings;
  std::vector<int64_t> kernels;  // per policy, in its plans
};

inline constexpr FusionPolicy kFusionPolicies[] = {FusionPolicy::Never, FusionPolicy::Always,
                                                   FusionPolicy::Measured};
const char* policy_name(size_t policy);  // "never", "always", "measured"

ModelFusion run_model_fusion(const ModelFusionOptions& options, const Progress& progress);

// {"config": …, "results": {policy: {setting: {"total_ms": …}}}}, with the samples and the ratios.
std::string model_fusion_json(const ModelFusion& result);
// Stops whichever of `never` and `always` took more than kHopeless times as long as the other in
// the first run: measuring how far it loses would take most of the time.
void give_up_hopeless(SettingTimes& times);
// One line per setting, and where fusion loses.
std::string model_fusion_table(const ModelFusion& result);

}  // namespace luminal::bench
