// PlanTuner: measured search for compile(): times the backend's programs, and keeps measurements in
// tuning records.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "luminal/backends/backend.h"
#include "luminal/base/os/paths.h"
#include "luminal/driver/compile.h"
#include "luminal/driver/measure/tuning_store.h"

namespace luminal {

class PlanTuner {
 public:
  // Without a call of derive_again(), for SearchMode::Measured and Replay. All arguments must
  // outlive it. UserError if a replay can't open its records.
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
  // Records the result of improve(). Returns whether the records hold a plan of this question now.
  bool keep(const std::string& question, std::string entry);
  // What went wrong with the records.
  std::vector<std::string> notes() const { return store_.notes(); }

 private:
  // What an earlier search with a smaller budget found.
  struct Earlier {
    search::MeasuredPlan found;
    search::SearchTrail trail;
  };

  records::PlanKey key_of(const std::string& question) const;
  search::MeasuredOptions search_options(const std::optional<std::string>& question);
  std::string progress_text(const search::SearchEvent& event) const;
  std::optional<Earlier> earlier(const search::SearchedTerms& terms, const search::FoundPlan& first,
                                 const std::optional<std::string>& question,
                                 search::MeasuredOptions options, search::SearchMemory& memory);
  void defend(Earlier earlier, search::MeasuredPlan& found, search::PlanTimer& timer,
              search::SearchMemory& memory);

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
  std::chrono::steady_clock::time_point budget_start_;
  // How far improve() went.
  search::SearchTrail trail_;
  double seconds_ = 0;
  int candidates_ = 0;
  bool interrupted_ = false;
};

}  // namespace luminal
