// measured_search: autotuning, from the plan that the model prefers to the fastest one.
//
// The model proposes a plan; its distinct kernels are timed once each; the times replace the
// model's, and the search is repeated, until the best plan has only measured kernels. Then other
// plans are proposed, with other orders of moves and more optimism about unmeasured kernels. The
// best few are run whole, alternating with the champion: a challenger replaces it only if the
// confidence interval of the time ratio lies below 1. So a larger budget never gives a slower plan,
// except for the noise that such an interval admits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/records/record.h"
#include "luminal/search/measured/kernel_costs.h"
#include "luminal/search/measured/plan_digest.h"
#include "luminal/search/pipeline/rotation_planner.h"

namespace luminal::search {

// Runs plans and times them. The results of everything that it times have been checked.
class PlanTimer {
 public:
  virtual ~PlanTimer() = default;
  // By kernel of the plan, in order: its time if `wanted`; nullopt if it runs once. Takes about
  // `seconds`, but at least a few runs.
  virtual std::vector<std::optional<records::KernelRecord>> time_kernels(
      const kernel::Plan& plan, const std::vector<bool>& wanted, double seconds) = 0;
  // Runs the whole graph by both plans, alternating. The caller fills in the names of champion and
  // challenger.
  virtual records::Comparison compare(const kernel::Plan& champion, const kernel::Plan& challenger,
                                      double seconds) = 0;
};

// What was measured before, here or elsewhere.
class SearchMemory {
 public:
  virtual ~SearchMemory() = default;
  virtual std::optional<records::KernelRecord> kernel(const std::string& key) = 0;
  virtual void remember(const std::string& key, const records::KernelRecord& record) = 0;
  virtual std::optional<records::Comparison> comparison(const std::string& champion,
                                                        const std::string& challenger) = 0;
  virtual void remember(const records::Comparison& comparison) = 0;
};

// How far a search went, so that it can be repeated without a clock.
struct SearchTrail {
  int proposals = 0;       // plans asked for, known ones among them
  int tuned = 0;           // rounds of choices of strategy and schedule
  int comparisons = 0;     // of finalists
  std::string champion{};  // the digest of the plan that won
};

struct SearchEvent {
  std::string kind;         // "candidate", "passed over", "compared", "champion" or "stopped"
  std::string text;         // for people
  int candidates = 0;       // distinct plans so far
  int kernels = 0;          // distinct ones that were timed or remembered so far
  double best_seconds = 0;  // the best plan's kernels together
  double bound_share = 0;   // its roofline / best_seconds; above 1 where caches serve reads
};

struct MeasuredOptions {
  double seconds = 20;
  int candidates = 200;               // distinct plans
  int finalists = 3;                  // timed whole, against the champion
  std::optional<SearchTrail> replay;  // repeats that search from memory alone
  // The backend's other ways to run a step's kernel; null: none.
  std::function<std::vector<kernel::StepChoice>(const kernel::KernelStep&)> choices = {};
  std::function<bool()> stop;  // polled; true ends the search with the champion so far
  std::function<void(const SearchEvent&)> event;
};

struct MeasuredReport {
  SearchTrail trail;
  int candidates = 0;
  int timed = 0;                   // kernels timed now
  int remembered = 0;              // and known from before
  int compared = 0;                // pairs of plans timed now
  double first_seconds = 0;        // the model's choice: its kernels together
  double best_seconds = 0;         // the champion's
  double bound_seconds = 0;        // its roofline
  std::string stopped;             // why
  bool interrupted = false;        // options.stop ended it before its budget was used
  double seconds = 0;              // taken
  std::vector<std::string> notes;  // of each comparison
};

struct MeasuredPlan {
  BetterPlan plan;
  MeasuredReport report;
};

// `timer` may be null for a replay. UserError that names what a replay misses.
MeasuredPlan measured_search(const SearchedTerms& terms, const FoundPlan& first,
                             const MeasuredOptions& options, PlanTimer* timer,
                             SearchMemory& memory);

}  // namespace luminal::search
