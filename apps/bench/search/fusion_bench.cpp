// Whether policy `measured` is as good as the better of `never` and `always`: a case, such as
// swiglu/bf16/32 (pattern, dtype and tokens), is compiled under all three, which are timed in
// turns. Settings:
//   profile                of `luminal tune fusion`
//   hidden, intermediate   widths
//   budget                 approximate seconds of a case
// Answers have the seconds of `measured` by round, and of_better: its ratio to the better of the
// others.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/ratio_json.h"
#include "apps/bench/harness/turns.h"
#include "luminal/base/errors.h"
#include "luminal/driver/fusion/fusion_profile.h"
#include "luminal/driver/fusion/measure_fusion.h"
#include "luminal/driver/fusion/paired_times.h"
#include "luminal/version.h"

namespace luminal {
namespace {

constexpr double kConfidence = 0.95;

struct Setting {
  std::string name;
  FusionPattern pattern;
  DType dtype;
  int64_t tokens;
};

std::vector<Setting> all_settings() {
  std::vector<Setting> list;
  for (const DType dtype : {DType::F32, DType::BF16}) {
    for (const FusionPattern pattern : kFusionPatterns) {
      for (const int64_t tokens : {1, 8, 32, 128, 512}) {
        list.push_back(
            {fmt::format("{}/{}/{}", name(pattern), name(dtype), tokens), pattern, dtype, tokens});
      }
    }
  }
  return list;
}

bench::Json measure(const Setting& of, const bench::Json& settings) {
  if (settings.at("profile") == "") {
    throw UserError("the setting profile names the file of `luminal tune fusion`");
  }
  const bool is_norm = of.pattern == FusionPattern::AddRmsNorm;
  const int64_t intermediate = settings.at("intermediate");
  const FusionShape shape{.tokens = of.tokens,
                          .hidden = settings.at("hidden"),
                          .intermediate = intermediate * (is_norm ? 2 : 1),
                          .dtype = of.dtype};
  // Other data than the profile's.
  const PatternGraph built(of.pattern, measured_shape(of.pattern, shape), 2);
  const CompileOptions compile{
      .storage = {.cache_folder = "none", .fusion_profile = settings.at("profile")}};
  const std::string group(name(of.pattern));
  std::vector<FusionRival> rivals;
  for (FusionPolicy policy : {FusionPolicy::Measured, FusionPolicy::Never, FusionPolicy::Always}) {
    rivals.push_back(fusion_rival(built, compile, {{group, policy}}));
  }
  std::vector<std::function<void()>> runs;
  for (FusionRival& rival : rivals) runs.push_back([&rival] { rival.executable.run(); });
  // By the compiler's own turns, which the profile was measured with.
  const PairedTimes times = paired_times(runs, settings.at("budget"));
  const bool never_is_better = bench::median(bench::ratios_of(times[1], times[2])) < 1;
  const FusionReport& decided = rivals[0].report.fusion.at(0);
  return {
      {"seconds", times[0]},
      {"pattern", group},
      {"dtype", std::string(name(of.dtype))},
      {"tokens", of.tokens},
      {"decision", decided.decision},
      {"source", decided.source},
      {"better", never_is_better ? "never" : "always"},
      {"of_better",
       bench::ratio_json(bench::ratios_of(times[0], times[never_is_better ? 1 : 2]), kConfidence)}};
}

bench::Json answer(const bench::Command& command) {
  for (const Setting& of : all_settings()) {
    if (of.name == command.of) return measure(of, command.settings);
  }
  throw UserError("there is no case '" + command.of + "'");
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  using namespace luminal;
  bench::Contestant contestant{
      .name = "luminal",
      .version = LUMINAL_VERSION,
      .cases = {},
      .settings = {{"profile", ""}, {"hidden", 576}, {"intermediate", 1536}, {"budget", 0.5}},
      .answer = answer};
  for (const Setting& of : all_settings()) contestant.cases.push_back(of.name);
  return bench::bench_main(contestant, argc, argv);
}
