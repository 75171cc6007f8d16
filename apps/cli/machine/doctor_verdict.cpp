#include "apps/cli/machine/doctor_verdict.h"

#include <fmt/format.h>

#include "apps/cli/terminal/colours.h"

namespace luminal::cli {
namespace {

constexpr uint64_t kLittleMemory = uint64_t{1} << 30;

}  // namespace

std::vector<HealthFinding> what_to_mend(const HealthFacts& facts) {
  std::vector<HealthFinding> found;
  if (facts.cache_folder.empty()) {
    found.push_back({"there is no cache folder, so each run compiles anew",
                     "set XDG_CACHE_HOME to an absolute path"});
  } else if (!facts.cache_writable) {
    found.push_back({"the cache folder isn't writable, so each run compiles anew",
                     "set XDG_CACHE_HOME to a folder that is"});
  } else if (!facts.cache_not_private.empty()) {
    found.push_back({fmt::format("the cache folder isn't used: {}", facts.cache_not_private),
                     fmt::format("own it, and run chmod go-w '{}'", facts.cache_folder)});
  }
  if (facts.available_memory > 0 && facts.available_memory < kLittleMemory) {
    found.push_back(
        {fmt::format("only {} MB of memory are free", facts.available_memory / 1'000'000),
         "end other programs, or take a smaller model or --context"});
  }
  if (!facts.has_avx2) {
    found.push_back({"the processor has no AVX2, so kernels take several times as long",
                     "use a machine with AVX2 or AVX-512"});
  }
  if (facts.transparent_huge_pages == "never") {
    found.push_back({"transparent huge pages are off, so large weights are read more slowly",
                     "as root, echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"});
  }
  if (!facts.line_editing) {
    found.push_back({"there is no libedit: `luminal chat` can't edit or recall lines",
                     "install libedit2 (or libedit, by distribution); a build needs libedit-dev"});
  }
  return found;
}

std::string verdict_text(const std::vector<HealthFinding>& findings, bool coloured) {
  if (findings.empty()) {
    return "verdict: " + styled("all is well", Style::Green, coloured) + "\n";
  }
  const std::string count = findings.size() == 1 ? std::string("one thing to fix")
                                                 : fmt::format("{} things to fix", findings.size());
  std::string text = "verdict: " + styled(count, Style::Yellow, coloured) + "\n";
  for (const HealthFinding& finding : findings) {
    text += fmt::format("  {}\n    {}\n", finding.problem,
                        styled("-> " + finding.remedy, Style::Bold, coloured));
  }
  return text;
}

}  // namespace luminal::cli
