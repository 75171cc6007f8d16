#include "apps/inspect/debug/stages.h"

#include <fmt/format.h>

#include <iterator>

namespace luminal::debug {

void debug(const Subject& subject, const std::string& until, DebugReport& report,
           const std::function<void(const std::string& stage)>& progress) {
  report.name = subject.name;
  report.sizes += (report.sizes.empty() ? "" : "; ") + text_of(subject.sizes);
  Trial trial(subject);
  const std::function<bool()> stages[] = {
      [&] { return look_at_graph(subject, report); },
      [&] { return look_at_data(subject, report); },
      [&] { return look_at_rolled(subject, report); },
      [&] { return look_at_terms(subject, report); },
      [&] { return look_at_plan(subject, trial, report); },
      [&] { return look_at_code(subject, trial, report); },
      [&] { return look_at_run(subject, trial, report); },
  };
  static_assert(std::size(kStages) == std::size(stages));
  bool going = true;
  for (size_t s = 0; s < std::size(stages); ++s) {
    if (!going) {
      report.skip(kStages[s], subject.plan, "a stage before it failed");
      continue;
    }
    if (progress) {
      progress(fmt::format("stage {} of {}: {}", s + 1, std::size(stages), kStages[s]));
    }
    going = stages[s]();
    if (until == kStages[s]) return;
  }
}

}  // namespace luminal::debug
