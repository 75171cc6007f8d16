#include "luminal/egraph/runner.h"

#include "luminal/egraph/actions.h"
#include "luminal/egraph/rebuild.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace luminal::egraph {
namespace {

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Runner {
 public:
  Runner(Engine& engine, const RunLimits& limits)
      : engine_(engine), database_(engine.database), limits_(limits) {
    constexpr double kForever = 1e9;
    if (limits.seconds < kForever) {
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(std::max(0.0, limits.seconds)));
    }
    for (const Rule& rule : engine.rules) report_.rules.push_back({.name = rule.name});
    matches_.resize(engine.rules.size());
  }

  RunReport run(const Schedule& schedule) {
    rebuild(database_);
    const ChangeCounts before = database_.counts;
    run_part(schedule);
    report_.changed = database_.counts.total() != before.total();
    report_.tuples = database_.tuples();
    report_.classes = database_.classes();
    return std::move(report_);
  }

 private:
  bool stopped() const { return report_.stop != StopReason::Finished; }

  // Returns whether anything changed.
  bool run_part(const Schedule& schedule) {
    switch (schedule.kind) {
      case Schedule::Kind::Run:
        if (schedule.until && schedule.until()) return false;
        return iterate(schedule.ruleset);
      case Schedule::Kind::Sequence:
        return run_parts(schedule);
      case Schedule::Kind::Saturate: {
        bool changed = false;
        while (run_parts(schedule)) changed = true;
        return changed;
      }
      case Schedule::Kind::Repeat: {
        bool changed = false;
        for (uint64_t i = 0; i < schedule.times && run_parts(schedule); ++i) changed = true;
        return changed;
      }
    }
    return false;
  }

  // A stopped run changes nothing more, which ends every loop around it.
  bool run_parts(const Schedule& schedule) {
    bool changed = false;
    for (const Schedule& part : schedule.parts) {
      if (run_part(part)) changed = true;
    }
    return changed && !stopped();
  }

  bool iterate(RulesetId id) {
    Ruleset& ruleset = engine_.rulesets[id.index()];
    if (stopped()) return false;
    if (!ruleset.has_naive && ruleset.searched_until > database_.last_time()) return false;
    if (report_.iterations.size() >= limits_.iterations) {
      return stop(StopReason::IterationLimit, busiest_rule());
    }
    const Clock::time_point start = Clock::now();
    const ChangeCounts before = database_.counts;
    IterationReport iteration{.ruleset = id};
    const bool searched = search(ruleset, iteration);
    report_.search_seconds += seconds_since(start);
    if (!searched) return false;
    apply(ruleset);
    const Clock::time_point rebuild_start = Clock::now();
    rebuild(database_);
    report_.rebuild_seconds += seconds_since(rebuild_start);

    iteration.new_tuples = database_.counts.added - before.added;
    iteration.unions = database_.counts.unions - before.unions;
    iteration.tuples = database_.tuples();
    iteration.classes = database_.classes();
    iteration.seconds = seconds_since(start);
    report_.iterations.push_back(iteration);
    return database_.counts.total() != before.total();
  }

  // Fills `matches_`; nothing has happened yet where it returns false.
  bool search(Ruleset& ruleset, IterationReport& iteration) {
    for (RuleId id : ruleset.rules) {
      Rule& rule = engine_.rule(id);
      Matches& matches = matches_[id.index() - 1];
      matches.clear();
      const uint32_t since = rule.naive ? 0 : rule.searched_until;
      if (!rule.matcher.has_news(database_, since)) continue;
      const Clock::time_point start = Clock::now();
      RuleReport& counters = report_.rules[id.index() - 1];
      const SearchLimits limits{.matches = limits_.matches_per_rule, .deadline = deadline_};
      const SearchEnd end = rule.matcher.find(database_, since, limits, matches);
      ++counters.searches;
      counters.seconds += seconds_since(start);
      if (end == SearchEnd::MatchLimit) return stop(StopReason::MatchLimit, rule.name);
      if (end == SearchEnd::TimeLimit || Clock::now() > deadline_) {
        return stop(StopReason::TimeLimit, busiest_rule());
      }
      iteration.matches += matches.count;
    }
    ++database_.clock;
    for (RuleId id : ruleset.rules) engine_.rule(id).searched_until = database_.clock;
    ruleset.searched_until = database_.clock;
    return true;
  }

  void apply(Ruleset& ruleset) {
    for (RuleId id : ruleset.rules) {
      if (matches_[id.index() - 1].count == 0) continue;
      const Clock::time_point start = Clock::now();
      const ChangeCounts before = database_.counts;
      const std::optional<StopReason> reached = apply_matches(id);
      RuleReport& counters = report_.rules[id.index() - 1];
      counters.new_tuples += database_.counts.added - before.added;
      counters.updates += database_.counts.updated - before.updated;
      counters.removals += database_.counts.removed - before.removed;
      counters.unions += database_.counts.unions - before.unions;
      const double seconds = seconds_since(start);
      counters.seconds += seconds;
      report_.apply_seconds += seconds;
      if (!reached) continue;
      // Matches were dropped, so none of these rules may count on having seen all of them.
      for (RuleId other : ruleset.rules) engine_.rule(other).searched_until = 0;
      for (Ruleset& other : engine_.rulesets) other.searched_until = 0;
      stop(*reached, *reached == StopReason::NodeLimit ? most_productive_rule() : busiest_rule());
      break;
    }
    database_.cause = kInitial;
  }

  // Returns the limit that was reached, if any.
  std::optional<StopReason> apply_matches(RuleId id) {
    const Rule& rule = engine_.rule(id);
    const Matches& matches = matches_[id.index() - 1];
    database_.cause = id;
    registers_.resize(rule.actions.registers);
    const Value* inputs = matches.values.data();
    for (uint64_t i = 0; i < matches.count; ++i, inputs += rule.actions.inputs) {
      std::copy_n(inputs, rule.actions.inputs, registers_.begin());
      execute(database_, rule.actions, registers_);
      ++report_.rules[id.index() - 1].matches;
      if (database_.tuples() > limits_.nodes) return StopReason::NodeLimit;
      if ((i & 0xff) == 0xff && Clock::now() > deadline_) return StopReason::TimeLimit;
    }
    return std::nullopt;
  }

  bool stop(StopReason reason, std::string culprit) {
    report_.stop = reason;
    report_.culprit = std::move(culprit);
    return false;
  }

  template <typename Less>
  std::string greatest_rule(Less less) const {
    const auto rule = std::max_element(report_.rules.begin(), report_.rules.end(), less);
    return rule == report_.rules.end() ? "" : rule->name;
  }
  std::string most_productive_rule() const {
    return greatest_rule(
        [](const RuleReport& a, const RuleReport& b) { return a.new_tuples < b.new_tuples; });
  }
  std::string busiest_rule() const {
    return greatest_rule(
        [](const RuleReport& a, const RuleReport& b) { return a.seconds < b.seconds; });
  }

  Engine& engine_;
  Database& database_;
  const RunLimits& limits_;
  Clock::time_point deadline_ = Clock::time_point::max();
  RunReport report_;
  std::vector<Matches> matches_;  // of this iteration, by rule
  std::vector<Value> registers_;
};

}  // namespace

RunReport run(Engine& engine, const Schedule& schedule, const RunLimits& limits) {
  engine.refresh_combined_rulesets();
  return Runner(engine, limits).run(schedule);
}

}  // namespace luminal::egraph
