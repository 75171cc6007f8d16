#include "luminal/driver/compile/plan_cache.h"

#include <fmt/format.h>

#include "luminal/base/digest.h"
#include "luminal/base/seconds_since.h"

namespace luminal {
namespace {

std::shared_ptr<const kernel::PlannedGraph> modelled_plan(const PlanAsked& asked) {
  return plan_graph(asked.graph, asked.roots, asked.options, asked.report, asked.packing,
                    asked.choose_library);
}

}  // namespace

std::shared_ptr<const kernel::PlannedGraph> PlanCache::plan(const PlanAsked& asked) {
  CompileReport& report = asked.report;
  const bool is_kept =
      !files_.folder().empty() && !asked.choose_library && !has_custom_ops(asked.graph);
  if (!is_kept || wants_stages(asked.options.inspect)) return modelled_plan(asked);
  const auto start = std::chrono::steady_clock::now();
  const std::string key = key_of(asked, asked.options.report != nullptr,
                                 asked.options.inspect.find_rivals, asked.first_kernel());
  const std::string name = base::digest(key);
  if (const std::optional<std::string> entry = files_.find(name)) {
    std::optional<KeptPlan> kept;
    try {
      kept = read_entry(*entry, key, asked.graph, asked.roots);
    } catch (const std::exception& error) {
      report.notes.push_back(fmt::format("the plan in {}/{}{} is not used: {}; it was made again",
                                         files_.folder().string(), name, base::kCachedPlans.ending,
                                         error.what()));
    }
    if (kept) {
      const std::string from =
          fmt::format("the cache ({}…{})", name.substr(0, 12), base::kCachedPlans.ending);
      report_kept(*kept, from, base::seconds_since(start), asked);
      return kept->planned;
    }
  }
  const ReportMark mark(report);
  auto planned = modelled_plan(asked);
  const std::string entry = entry_of(key, report, mark, *planned);
  try {
    // Only an entry that reads back as itself is stored.
    const KeptPlan again = read_entry(entry, key, asked.graph, asked.roots);
    if (entry_of(key, again.report, *again.planned) != entry) {
      throw base::ByteError("it reads back as another plan");
    }
    files_.store(name, entry);
  } catch (const std::exception& error) {
    report.notes.push_back(fmt::format("the plan is not kept: {}", error.what()));
  }
  return planned;
}

}  // namespace luminal
