// PlanTuner: measured search for compile(): times the backend's programs, and keeps measurements in
// tuning records.
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
  // For SearchMode::Measured and Replay. All arguments must outlive it. UserError if a replay can't
  // open its records.
  PlanTuner(const Graph& graph, const std::vector<NodeId>& roots, const backends::Backend& backend,
            const backends::LoadOptions& load, const PlanSearch& asked,
            const StorageOptions& storage, const ShowProgress& progress);

  // The plan that an earlier search with at least this budget found, if it is in the records; never
  // for a replay. ByteError if it is malformed. `question` is the plan key under which the records
  // keep answers.
  std::optional<TunedPlan> remembered(const std::string& question);
  // From now on improve() repeats the search that led to this plan, from the times in the records
  // and without a clock. A plan of another user isn't trusted: deriving it again is right whatever
  // its bytes say.
  void derive_again(const TunedPlan& plan) { derived_ = plan; }
  // Back to a search of its own.
  void search_anew() { derived_.reset(); }
  // For RotationPlanner::finish(); adds the search to the report. Without a question (custom ops
  // can't be compared) nothing can be replayed.
  search::BetterPlan improve(const search::SearchedTerms& terms, const search::FoundPlan& first,
                             const std::optional<std::string>& question, CompileReport& report);
  // Records the result of improve().
  void keep(const std::string& question, std::string entry);
  // What went wrong with the records.
  std::vector<std::string> notes() const { return store_.notes(); }

 private:
  records::PlanKey key_of(const std::string& question) const;
  search::MeasuredOptions search_options(const std::optional<std::string>& question);

  const Graph& graph_;
  const std::vector<NodeId>& roots_;
  const backends::Backend& backend_;
  // Kernels of candidate plans are compiled once: without a cache, into a temporary folder of this
  // search.
  std::optional<base::TemporaryFolder> cache_;
  backends::LoadOptions load_;
  const PlanSearch& asked_;
  const ShowProgress& progress_;
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
