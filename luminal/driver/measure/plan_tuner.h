// PlanTuner: a measured search as compile() runs it: with the backend's programs as its clock, and
// records as its memory.
#pragma once

#include <optional>
#include <string>

#include "luminal/backends/backend.h"
#include "luminal/base/os/paths.h"
#include "luminal/driver/compile.h"
#include "luminal/driver/measure/tuning_store.h"

namespace luminal {

class PlanTuner {
 public:
  // For a search by measuring or replaying. All must outlive it. UserError where a replay can't
  // open its records.
  PlanTuner(const Graph& graph, const std::vector<NodeId>& roots, const backends::Backend& backend,
            const backends::LoadOptions& load, const CompileOptions& options);

  // The plan that a search with at least this budget found, if records have it; of a replay, always
  // none. ByteError for bytes that aren't one. `question` are the bytes of what is asked, of which
  // records know answers.
  std::optional<TunedPlan> remembered(const std::string& question);
  // From here on improve() repeats the search that led to this plan, by the times in the records
  // and without a clock. A plan of others isn't trusted: what is derived again is right whatever
  // its bytes say.
  void derive_again(const TunedPlan& plan) { derived_ = plan; }
  // Back to a search of its own.
  void search_anew() { derived_.reset(); }
  // For RotationPlanner::finish(): adds to the report what it did. Without a question (a graph with
  // custom ops has no bytes to compare) nothing can be replayed.
  search::BetterPlan improve(const search::SearchedTerms& terms, const search::FoundPlan& first,
                             const std::optional<std::string>& question, CompileReport& report);
  // Keeps what improve() came to.
  void keep(const std::string& question, std::string entry);
  // What went wrong with the records.
  std::vector<std::string> notes() const { return store_.notes(); }

 private:
  records::PlanKey key_of(const std::string& question) const;
  search::MeasuredOptions search_options(const std::optional<std::string>& question);

  const Graph& graph_;
  const std::vector<NodeId>& roots_;
  const backends::Backend& backend_;
  // Kernels of plans that are tried are compiled once: where no cache is kept, for this search.
  std::optional<base::TemporaryFolder> cache_;
  backends::LoadOptions load_;
  const CompileOptions& options_;
  records::Device device_;
  TuningStore store_;
  std::optional<TunedPlan> derived_;
  // How far improve() went.
  search::SearchTrail trail_;
  double seconds_ = 0;
  int candidates_ = 0;
  bool interrupted_ = false;
};

}  // namespace luminal
