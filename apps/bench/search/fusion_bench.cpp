// Checks whether policy `measured` is as good as the better of `never` and `always`: compiles every
// setting of a profile under all three and times them in turns. One line of JSON per setting:
//   {"pattern": …, "tokens": …, "ratio": measured to the better one, "low": …, "high": …}
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "luminal/driver/fusion/fusion_profile.h"
#include "luminal/driver/fusion/measure_fusion.h"
#include "luminal/driver/fusion/paired_times.h"

namespace luminal {
namespace {

struct Options {
  std::string profile;
  int64_t hidden = 576;
  int64_t intermediate = 1536;
  std::vector<std::string> dtypes = {"f32"};
  std::vector<int64_t> tokens = {1, 8, 32, 128, 512};
  double seconds = 0.5;
};

nlohmann::ordered_json measure(FusionPattern pattern, const FusionShape& shape,
                               const Options& options) {
  const PatternGraph built(pattern, measured_shape(pattern, shape), 2);  // not the profile's data
  const CompileOptions compile{
      .storage = {.cache_folder = "none", .fusion_profile = options.profile}};
  const std::string group(name(pattern));
  std::vector<FusionRival> rivals;
  for (FusionPolicy policy : {FusionPolicy::Measured, FusionPolicy::Never, FusionPolicy::Always}) {
    rivals.push_back(fusion_rival(built, compile, {{group, policy}}));
  }
  std::vector<std::function<void()>> runs;
  for (FusionRival& rival : rivals) runs.push_back([&rival] { rival.executable.run(); });
  const PairedTimes times = paired_times(runs, options.seconds);
  const bool never_is_better = ratio_of(times[1], times[2]).median < 1;
  const MedianInterval ratio = ratio_of(times[0], times[never_is_better ? 1 : 2]);
  const FusionReport& decided = rivals[0].report.fusion.at(0);
  return {{"pattern", group},         {"dtype", std::string(name(shape.dtype))},
          {"tokens", shape.tokens},   {"decision", decided.decision},
          {"source", decided.source}, {"better", never_is_better ? "never" : "always"},
          {"ratio", ratio.median},    {"low", ratio.low},
          {"high", ratio.high},       {"rounds", times[0].size()}};
}

void run(const Options& options) {
  for (const std::string& dtype : options.dtypes) {
    for (FusionPattern pattern : kFusionPatterns) {
      for (int64_t tokens : options.tokens) {
        const bool is_norm = pattern == FusionPattern::AddRmsNorm;
        const FusionShape shape{.tokens = tokens,
                                .hidden = options.hidden,
                                .intermediate = options.intermediate * (is_norm ? 2 : 1),
                                .dtype = *dtype_from_name(dtype)};
        std::cout << measure(pattern, shape, options).dump() << std::endl;
      }
    }
  }
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  luminal::Options options;
  CLI::App app("policy `measured` against the better of `never` and `always`");
  app.add_option("--profile", options.profile, "Profile of `luminal tune fusion`")->required();
  app.add_option("--hidden", options.hidden);
  app.add_option("--intermediate", options.intermediate);
  app.add_option("--dtype", options.dtypes)->delimiter(',');
  app.add_option("--tokens", options.tokens)->delimiter(',');
  app.add_option("--seconds", options.seconds, "Approximate seconds per setting");
  CLI11_PARSE(app, argc, argv);
  luminal::run(options);
  return 0;
}
