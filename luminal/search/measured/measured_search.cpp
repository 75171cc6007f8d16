#include "luminal/search/measured/measured_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "luminal/base/errors.h"
#include "luminal/search/cost/roofline_bound.h"
#include "luminal/search/cuts/plan_cost.h"

namespace luminal::search {
namespace {

using Clock = std::chrono::steady_clock;

// Shares of the time budget: until the first, plans are proposed; until the second, schedules are
// tuned; the remainder is for finalists.
constexpr double kUntilTuning = 0.5;
constexpr double kUntilFinalists = 0.8;
constexpr double kTimingShare = 0.05;   // share of the budget for timing the kernels of one plan
constexpr double kMostTiming = 0.5;     // the same in seconds, at most
constexpr double kOfAComparison = 0.1;  // share of the budget for comparing two plans, at least
constexpr int kMostInVain = 16;         // proposals in a row without a new plan
// A plan whose kernels together take more than this many times the best one's is no finalist.
constexpr double kFarFromBest = 1.03;
// A plan expected to take more than this many times as long as the best isn't run: one that
// recomputes a convolution for every use takes minutes, and no budget interrupts a run.
constexpr double kHopeless = 4;
constexpr size_t kMostNoted = 4;  // choices that a report names beside the one that was taken
// From this share of its roofline on, what the best plan could gain is noise.
constexpr double kNearBound = 0.95;
// Above this share the roofline is no bound: caches serve what the model reads from memory.
constexpr double kNoBound = 1.05;

// The record of a kernel that turned out to run once, when weights are set.
const records::KernelRecord kRunsOnce = {.seconds = 1e-9,
                                         .low = 1e-9,
                                         .high = 1e-9,
                                         .samples = 1,
                                         .checked = true,
                                         .note = "runs once, when weights are set"};

// What is varied once the times so far lead to no new plan: the order of moves, optimism about
// unmeasured kernels, the fusion policy, merging, and the term of a value; and a plan that no model
// has chosen.
struct Proposal {
  uint64_t order = 0;
  double hope = 1;
  FusionPolicy fusion = FusionPolicy::Modelled;
  bool sideways = true;
  std::optional<TermFlip> term = {};  // that computes a value
};

Proposal proposal(int number) {
  if (number == 2) return {.hope = 0.6};
  if (number == 3) return {.sideways = false};
  if (number == 4) return {.fusion = FusionPolicy::Always};
  constexpr double kHopes[] = {1, 0.7, 0.4, 0.85};
  return {.order = static_cast<uint64_t>(number), .hope = kHopes[number % 4]};
}

// Values with other terms, in the order of the plan's classes: the model may be wrong by more than
// any optimism about a kernel makes up for.
constexpr size_t kMostTermsTried = 12;

std::vector<TermFlip> other_terms(const SearchedTerms& terms, const FoundPlan& first) {
  const PlanCost cost(terms.terms.extracted.graph, terms.request, terms.options);
  std::vector<bool> computed(first.plan.term.size(), false);
  for (const auto& step : first.plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    for (kernel::ClassId id : kernel->lowered.classes) computed[id.index()] = true;
  }
  std::vector<TermFlip> flips;
  for (kernel::ClassId id : cost.terms().open()) {
    for (int term : cost.terms().of(id)) {
      if (!computed[id.index()] || term == first.plan.term[id.index()]) continue;
      std::vector<int> choice = cost.choice_for(cost.forced()).term;
      choice[id.index()] = term;
      if (!cost.terms().has_cycle(choice)) flips.push_back({id, term});
      if (flips.size() == kMostTermsTried) return flips;
    }
  }
  return flips;
}

struct Candidate {
  FoundPlan found;
  std::string digest;
  double seconds = 0;  // the sum of its kernels, each as often as it runs
  std::string what;    // "the model's choice"
};

std::vector<const kernel::KernelStep*> kernels_of(const kernel::Plan& plan) {
  std::vector<const kernel::KernelStep*> kernels;
  for (const auto& step : plan.steps) {
    if (const auto* kernel = std::get_if<kernel::KernelStep>(&step)) kernels.push_back(kernel);
  }
  return kernels;
}

std::string us(double seconds) { return fmt::format("{:.1f} µs", seconds * 1e6); }

class MeasuredSearch {
 public:
  MeasuredSearch(const SearchedTerms& terms, const MeasuredOptions& options, PlanTimer* timer,
                 SearchMemory& memory)
      : terms_(terms),
        options_(options),
        timer_(timer),
        memory_(memory),
        costs_(std::make_shared<KernelCosts>(terms.options.machine, terms.options.sizes,
                                             terms.request.weights)) {}

  MeasuredPlan run(const FoundPlan& first) {
    other_terms_ = other_terms(terms_, first);
    add({.found = first, .digest = plan_digest(first.plan), .what = "the cost model's choice"});
    report_.first_seconds = candidates_.front().seconds;
    propose_all();
    tune_schedules();
    compare_finalists();
    report_.trail.champion = candidates_[champion_].digest;
    if (options_.replay && options_.replay->champion != report_.trail.champion) {
      throw UserError(
          "replay: the records lead to another plan than the search that wrote them, because "
          "records were added since; compile with --search measured once more");
    }
    return finished();
  }

 private:
  // ---- Budget --------------------------------------------------------------------------------

  double taken() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // Whether the search ends here; the reason is noted.
  bool is_over(double share) {
    if (options_.replay) return false;
    if (options_.stop && options_.stop()) {
      report_.interrupted = true;
      return over("it was interrupted");
    }
    if (taken() > options_.seconds * share) {
      return over(fmt::format("the time limit of {:g} s was reached", options_.seconds));
    }
    return false;
  }

  bool over(std::string why) {
    report_.stopped = std::move(why);
    return true;
  }

  // ---- Candidates ----------------------------------------------------------------------------

  const Candidate& best() const { return candidates_[best_]; }

  // What the plan's kernels take together.
  double total(const kernel::Plan& plan) const {
    double seconds = 0;
    for (const kernel::KernelStep* step : kernels_of(plan)) {
      if (costs_->runs_once(step->lowered)) continue;
      const std::string key = key_of(*step);
      const double of_step =
          costs_->knows(key) ? costs_->measured(key) : costs_->seconds(step->lowered);
      seconds += of_step * runs(*step);
    }
    return seconds;
  }

  int runs(const kernel::KernelStep& step) const {
    return terms_.request.loops.runs(kernel::stored_by(step.lowered).front());
  }

  double bound(const kernel::Plan& plan) const {
    double seconds = 0;
    for (const kernel::KernelStep* step : kernels_of(plan)) {
      if (costs_->runs_once(step->lowered)) continue;
      const RooflineBound least =
          roofline_bound(step->lowered.kernel, terms_.options.machine, terms_.options.sizes);
      seconds += std::max(least.bytes_seconds, least.flops_seconds) * runs(*step);
    }
    return seconds;
  }

  // Times the kernels that aren't known yet, and adds the candidate.
  void add(Candidate candidate) {
    learn(candidate.found.plan);
    candidate.seconds = total(candidate.found.plan);
    seen_.emplace(candidate.digest, candidates_.size());
    candidates_.push_back(std::move(candidate));
    // Later times correct the model, but don't change what was measured.
    if (candidates_.back().seconds < best().seconds) best_ = candidates_.size() - 1;
    const Candidate& last = candidates_.back();
    tell("candidate", fmt::format("{}: {} kernels, {}", last.what, last.found.plan.n_kernels(),
                                  us(last.seconds)));
  }

  void learn(const kernel::Plan& plan) {
    const std::vector<const kernel::KernelStep*> kernels = kernels_of(plan);
    std::vector<std::string> keys(kernels.size());
    std::vector<bool> wanted(kernels.size(), false);
    std::set<std::string> asked;
    for (size_t k = 0; k < kernels.size(); ++k) {
      if (costs_->runs_once(kernels[k]->lowered)) continue;
      keys[k] = key_of(*kernels[k]);
      if (costs_->knows(keys[k]) || asked.contains(keys[k])) continue;
      if (const auto record = memory_.kernel(keys[k])) {
        ++report_.remembered;
        learn(*kernels[k], keys[k], *record);
        continue;
      }
      wanted[k] = true;
      asked.insert(keys[k]);
    }
    if (asked.empty()) return;
    if (options_.replay || timer_ == nullptr) {
      throw UserError(fmt::format(
          "replay: {} of the plan's kernels were never timed on this device by this compiler, the "
          "first of them\n{}compile with --search measured to time them, or import records that "
          "have them (luminal tune import)",
          asked.size(), *asked.begin()));
    }
    const double seconds = std::min(kMostTiming, options_.seconds * kTimingShare);
    const auto times = timer_->time_kernels(plan, wanted, seconds);
    for (size_t k = 0; k < kernels.size(); ++k) {
      if (!wanted[k]) continue;
      ++report_.timed;
      const records::KernelRecord record = times[k].value_or(kRunsOnce);
      memory_.remember(keys[k], record);
      learn(*kernels[k], keys[k], record);
    }
  }

  void learn(const kernel::KernelStep& step, const std::string& key,
             const records::KernelRecord& record) {
    records_.emplace(key, record);
    costs_->learn(step.lowered, key, record.seconds);
  }

  // ---- Proposals -----------------------------------------------------------------------------

  // Returns whether the plan is new.
  bool propose(const Proposal& proposal) {
    ++report_.trail.proposals;
    SearchOptions options = terms_.options;
    costs_->set_hope(proposal.hope);
    options.costs = costs_.get();
    options.order = proposal.order;
    options.fusion = proposal.fusion;
    options.sideways = options.sideways && proposal.sideways;
    if (proposal.term) options.fixed_terms = {*proposal.term};
    options.progress = nullptr;
    FoundPlan found = find_plan(terms_.terms.extracted.graph, terms_.request, options);
    costs_->set_hope(1);
    std::string digest = plan_digest(found.plan);
    if (seen_.contains(digest)) return false;
    // A plan that can't be unrolled is no plan of the whole graph.
    if (is_hopeless(found.plan) || !terms_.whole(found.plan)) {
      seen_.emplace(digest, 0);
      return false;
    }
    add({.found = std::move(found),
         .digest = std::move(digest),
         .what = proposal.fusion == FusionPolicy::Fixed      ? "by fixed rules of fusion"
                 : proposal.order == 0 && proposal.hope == 1 ? "by the times so far"
                                                             : "another try"});
    return true;
  }

  bool is_hopeless(const kernel::Plan& plan) const {
    const double expected = total(plan);
    if (expected <= best().seconds * kHopeless) return false;
    tell("passed over", fmt::format("{} kernels expected to take {}: {:.0f} times the best plan's",
                                    plan.n_kernels(), us(expected), expected / best().seconds));
    return true;
  }

  bool goes_on(int in_vain) {
    if (options_.replay) {
      // No search continues after so many failures: records that say so were forged.
      return report_.trail.proposals < options_.replay->proposals && in_vain <= kMostInVain;
    }
    if (is_over(kUntilTuning)) return false;
    if (static_cast<int>(candidates_.size()) >= options_.candidates) {
      over(fmt::format("{} candidates were tried", options_.candidates));
      return false;
    }
    const double share = bound(best().found.plan) / best().seconds;
    if (share >= kNearBound && share <= kNoBound) {
      over(fmt::format("the best plan is at {:.0f} % of its roofline", share * 100));
      return false;
    }
    if (in_vain >= kMostInVain) {
      over(fmt::format("{} tries in a row led to plans that were known", kMostInVain));
      return false;
    }
    return true;
  }

  // Proposal 0 is what no model chose, 1 the best plan by the times so far; each other term is
  // tried before further orders of moves.
  static constexpr int kByTimes = 1;
  Proposal numbered(int number) const {
    constexpr int kBeforeTerms = 5;
    if (number == 0) return {.fusion = FusionPolicy::Fixed};
    if (number == kByTimes) return {};
    const auto n_terms = static_cast<int>(other_terms_.size());
    if (number < kBeforeTerms || number >= kBeforeTerms + n_terms) {
      return proposal(number < kBeforeTerms ? number : number - n_terms);
    }
    return {.term = other_terms_[static_cast<size_t>(number - kBeforeTerms)]};
  }

  // Proposes the plan of fixed rules; then the best one by the times so far until that is no new
  // one; then variations, each new one followed by the best plan again.
  void propose_all() {
    int next = 0, in_vain = 0;
    if (terms_.options.fusion != FusionPolicy::Modelled) {
      over("the fusion policy leaves one plan");
      return;
    }
    while (goes_on(in_vain)) {
      const bool fresh = propose(numbered(next));
      in_vain = fresh ? 0 : in_vain + 1;
      if (fresh && next != kByTimes && goes_on(0)) propose(Proposal{});
      if (!fresh || next != kByTimes) ++next;
    }
  }

  // ---- Strategies and schedules --------------------------------------------------------------

  // In each round every kernel of the best plan runs by the next choice that the backend offers for
  // it, since a run times kernels one by one. A kernel keeps a choice that is clearly faster, and
  // the following ones are tried on top of it. With another strategy come choices of its own.
  void tune_schedules() {
    if (!options_.choices) return;
    kernel::Plan tuned = best().found.plan;
    std::vector<std::vector<kernel::StepChoice>> offers;
    for_each_kernel(tuned, [&](kernel::KernelStep& step) {
      offers.push_back(costs_->runs_once(step.lowered) ? std::vector<kernel::StepChoice>()
                                                       : options_.choices(step));
    });
    bool changed = false;
    for (size_t round = 0; has_round(offers, round); ++round) {
      const bool more = options_.replay ? report_.trail.tuned < options_.replay->tuned
                                        : !is_over(kUntilFinalists);
      if (!more) break;
      ++report_.trail.tuned;
      kernel::Plan tried = tuned;
      size_t k = 0;
      for_each_kernel(tried, [&](kernel::KernelStep& step) {
        if (round < offers[k].size()) choose(step, offers[k][round]);
        ++k;
      });
      learn(tried);
      keep_tried(tuned);
      keep_tried(tried);
      k = 0;
      for (kernel::StepId id : tuned.step_ids()) {
        auto* step = std::get_if<kernel::KernelStep>(&tuned.steps[id.index()]);
        if (step == nullptr) continue;
        const kernel::Strategy before = step->strategy;
        changed |= take_if_faster(*step, std::get<kernel::KernelStep>(tried.at(id)));
        if (step->strategy != before) add_offers(*step, offers[k]);
        ++k;
      }
    }
    note_tried(tuned);
    if (!changed) return;
    Candidate candidate{.found = best().found,
                        .digest = plan_digest(tuned),
                        .seconds = 0,
                        .what = "the best one with tuned kernels"};
    candidate.found.plan = std::move(tuned);
    if (!seen_.contains(candidate.digest)) add(std::move(candidate));
  }

  static bool has_round(const std::vector<std::vector<kernel::StepChoice>>& offers, size_t round) {
    return std::ranges::any_of(offers, [&](const auto& list) { return list.size() > round; });
  }

  // Other strategies than the step's were offered before.
  void add_offers(const kernel::KernelStep& step, std::vector<kernel::StepChoice>& offers) const {
    for (kernel::StepChoice& choice : options_.choices(step)) {
      if (choice.strategy == step.strategy) offers.push_back(std::move(choice));
    }
  }

  void keep_tried(kernel::Plan& plan) {
    size_t k = 0;
    for_each_kernel(plan, [&](kernel::KernelStep& step) {
      tried_.resize(std::max(tried_.size(), k + 1));
      const auto record = records_.find(key_of(step));
      if (record != records_.end()) tried_[k].emplace(text_of(step), record->second.seconds);
      ++k;
    });
  }

  // What each kernel's choice was taken over, the fastest first.
  void note_tried(kernel::Plan& tuned) {
    size_t k = 0;
    for_each_kernel(tuned, [&](kernel::KernelStep& step) {
      if (k >= tried_.size()) return;
      const std::string taken = text_of(step);
      std::vector<std::pair<double, std::string>> others;
      for (const auto& [text, seconds] : tried_[k]) {
        if (text != taken) others.emplace_back(seconds, text);
      }
      std::ranges::sort(others);
      if (others.size() > kMostNoted) others.resize(kMostNoted);
      std::string line;
      for (const auto& [seconds, text] : others) {
        line += fmt::format("{}{} {}", line.empty() ? "" : "; ", text, us(seconds));
      }
      const auto own = tried_[k].find(taken);
      if (own != tried_[k].end() && !others.empty()) {
        report_.notes.push_back(fmt::format("kernel {} of the best plan by {}, {}; over {}", k,
                                            taken, us(own->second), line));
      }
      ++k;
    });
  }

  static std::string text_of(const kernel::KernelStep& step) {
    return kernel::text(kernel::StepChoice{step.strategy, step.schedule});
  }

  // A choice of the step's strategy is added to its schedule; another strategy has one of its own.
  static void choose(kernel::KernelStep& step, const kernel::StepChoice& choice) {
    if (choice.strategy != step.strategy) {
      step.strategy = choice.strategy;
      step.schedule = choice.schedule;
      return;
    }
    for (const auto& [knob, value] : choice.schedule.list()) step.schedule.set(knob, value);
  }

  template <typename Function>
  static void for_each_kernel(kernel::Plan& plan, Function function) {
    for (auto& step : plan.steps) {
      if (auto* kernel = std::get_if<kernel::KernelStep>(&step)) function(*kernel);
    }
  }

  bool take_if_faster(kernel::KernelStep& step, const kernel::KernelStep& tried) const {
    const auto now = records_.find(key_of(step));
    const auto other = records_.find(key_of(tried));
    if (now == records_.end() || other == records_.end() || now == other) return false;
    if (other->second.high >= now->second.low) return false;
    step.strategy = tried.strategy;
    step.schedule = tried.schedule;
    return true;
  }

  std::string key_of(const kernel::KernelStep& step) const {
    return costs_->key(step.lowered, {step.strategy, step.schedule});
  }

  // ---- Finalists -----------------------------------------------------------------------------

  std::vector<size_t> finalists() const {
    std::vector<size_t> order;
    for (size_t c = 0; c < candidates_.size(); ++c) {
      const bool near = candidates_[c].seconds <= best().seconds * kFarFromBest;
      if (c != champion_ && near) order.push_back(c);
    }
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const double left = candidates_[a].seconds, right = candidates_[b].seconds;
      return left != right ? left < right : a < b;
    });
    if (order.size() > static_cast<size_t>(options_.finalists)) {
      order.resize(static_cast<size_t>(options_.finalists));
    }
    return order;
  }

  void compare_finalists() {
    // Kernels timed late correct the sums of plans found early.
    for (Candidate& candidate : candidates_) candidate.seconds = total(candidate.found.plan);
    const std::vector<size_t> order = finalists();
    for (size_t f = 0; f < order.size(); ++f) {
      if (options_.replay && report_.trail.comparisons >= options_.replay->comparisons) return;
      const Candidate& champion = candidates_[champion_];
      const Candidate& challenger = candidates_[order[f]];
      const auto comparison = compared(champion, challenger, order.size() - f);
      if (!comparison) return;
      ++report_.trail.comparisons;
      const bool wins = comparison->high < 1;
      report_.notes.push_back(fmt::format(
          "{} takes {:.3f}× ({:.3f} … {:.3f}) what {} takes, in {} rounds: {}", challenger.what,
          comparison->ratio, comparison->low, comparison->high, champion.what, comparison->rounds,
          wins ? "it is the champion now" : "not clearly faster"));
      tell("compared", report_.notes.back());
      if (!wins) continue;
      champion_ = order[f];
      tell("champion", candidates_[champion_].what);
    }
  }

  std::optional<records::Comparison> compared(const Candidate& champion,
                                              const Candidate& challenger, size_t left) {
    if (auto known = memory_.comparison(champion.digest, challenger.digest)) return known;
    if (options_.replay || timer_ == nullptr) {
      throw UserError(
          "replay: the records have no comparison of two plans that were finalists; compile with "
          "--search measured to make it");
    }
    // The first comparison is made even if the time is over: all that was found would be lost.
    if (is_over(1) && (report_.compared > 0 || report_.interrupted)) return std::nullopt;
    const double seconds = std::max((options_.seconds - taken()) / static_cast<double>(left),
                                    options_.seconds * kOfAComparison);
    records::Comparison comparison =
        timer_->compare(champion.found.plan, challenger.found.plan, seconds);
    comparison.champion = champion.digest;
    comparison.challenger = challenger.digest;
    ++report_.compared;
    memory_.remember(comparison);
    return comparison;
  }

  // ---- The end -------------------------------------------------------------------------------

  MeasuredPlan finished() {
    const Candidate& champion = candidates_[champion_];
    report_.candidates = static_cast<int>(candidates_.size());
    report_.seconds = taken();
    report_.best_seconds = champion.seconds;
    report_.bound_seconds = bound(champion.found.plan);
    if (report_.stopped.empty()) report_.stopped = "all candidates were tried";
    if (options_.replay) report_.stopped = "the recorded search was replayed to its end";
    MeasuredPlan result{.plan = {.found = champion.found, .costs = costs_}, .report = report_};
    result.plan.found.report.candidates = report_.candidates;
    result.plan.found.report.distinct_kernels = costs_->n_measured();
    for_each_kernel(result.plan.found.plan, [&](kernel::KernelStep& step) {
      const auto record = records_.find(key_of(step));
      if (record == records_.end()) return;
      step.measured = {record->second.seconds, record->second.low, record->second.high};
    });
    tell("stopped", report_.stopped);
    return result;
  }

  void tell(const char* kind, std::string text) const {
    if (!options_.event || candidates_.empty()) return;
    options_.event({.kind = kind,
                    .text = std::move(text),
                    .candidates = static_cast<int>(candidates_.size()),
                    .kernels = costs_->n_measured(),
                    .best_seconds = best().seconds,
                    .bound_share = bound(best().found.plan) / best().seconds});
  }

  const SearchedTerms& terms_;
  const MeasuredOptions& options_;
  PlanTimer* timer_;
  SearchMemory& memory_;
  std::shared_ptr<KernelCosts> costs_;
  const Clock::time_point start_ = Clock::now();
  std::vector<Candidate> candidates_;
  std::vector<TermFlip> other_terms_;
  std::vector<std::map<std::string, double>> tried_;      // by kernel: choices and their times
  std::map<std::string, size_t> seen_;                    // by digest
  std::map<std::string, records::KernelRecord> records_;  // by key: all that were looked up
  size_t best_ = 0;                                       // by the sum of its kernels
  size_t champion_ = 0;                                   // by whole runs
  MeasuredReport report_;
};

}  // namespace

MeasuredPlan measured_search(const SearchedTerms& terms, const FoundPlan& first,
                             const MeasuredOptions& options, PlanTimer* timer,
                             SearchMemory& memory) {
  return MeasuredSearch(terms, options, timer, memory).run(first);
}

}  // namespace luminal::search
