#include "luminal/egraph/saturate/runner.h"

#include "luminal/base/seconds_since.h"
#include "luminal/egraph/database/actions.h"
#include "luminal/egraph/database/rebuild.h"
#include "luminal/egraph/saturate/recorder.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

namespace luminal::egraph {
namespace {

using base::seconds_since;

class Runner {
 public:
  Runner(Engine& engine, const RunLimits& limits)
      : engine_(engine),
        database_(engine.database),
        limits_(limits),
        limited_(database_.constants, constant_limit(limits)),
        recorder_(engine, limits) {
    constexpr double kForever = 1e9;
    if (limits.seconds < kForever) {
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(std::max(0.0, limits.seconds)));
    }
  }

  RunReport run(const Schedule& schedule) {
    rebuild(database_);
    recorder_.begin_run();
    run_part(schedule);
    return recorder_.finish();
  }

 private:
  bool stopped() const { return recorder_.stopped(); }

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

  // A stopped run reports no further changes, which ends all enclosing loops.
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
    if (recorder_.report().iterations.size() >= limits_.iterations) {
      return stop(StopReason::IterationLimit, recorder_.most_productive_rule());
    }
    const Clock::time_point start = Clock::now();
    const ChangeCounts before = database_.counts;
    recorder_.begin_iteration(id);
    const bool searched = search(ruleset);
    recorder_.report().search_seconds += seconds_since(start);
    if (!searched) {
      recorder_.drop_iteration();
      return false;
    }
    apply(ruleset);
    const Clock::time_point rebuild_start = Clock::now();
    rebuild(database_);
    recorder_.report().rebuild_seconds += seconds_since(rebuild_start);
    recorder_.end_iteration();
    return database_.counts.total() != before.total();
  }

  // Fills `matches_`. If it returns false, nothing was changed yet.
  bool search(Ruleset& ruleset) {
    matches_.resize(engine_.rules.size());
    if (database_.proofs) database_.proofs->begin_search();
    for (RuleId id : ruleset.rules) {
      Rule& rule = engine_.rule(id);
      Matches& matches = matches_[id.index() - 1];
      matches.clear();
      const uint32_t since = rule.naive ? 0 : rule.searched_until;
      if (!rule.matcher.has_news(database_, since)) continue;
      const Clock::time_point start = Clock::now();
      recorder_.tell_progress(id);
      RuleCounts& counters = recorder_.step(id);
      const SearchLimits limits{.matches = limits_.matches_per_rule, .deadline = deadline_};
      SearchEnd end = SearchEnd::Done;
      try {
        end = rule.matcher.find(database_, since, limits, matches);
      } catch (const ByteLimitReached&) {
        return stop(StopReason::ByteLimit, id);
      }
      counters.candidates = matches.candidates;
      counters.seconds += seconds_since(start);
      if (end == SearchEnd::MatchLimit) return stop(StopReason::MatchLimit, id);
      if (matches.count > 0 && over_bytes()) return stop(StopReason::ByteLimit, id);
      if (end == SearchEnd::TimeLimit || Clock::now() > deadline_) {
        return stop(StopReason::TimeLimit, recorder_.busiest_rule());
      }
    }
    ++database_.clock;
    for (RuleId id : ruleset.rules) engine_.rule(id).searched_until = database_.clock;
    ruleset.searched_until = database_.clock;
    return true;
  }

  void apply(Ruleset& ruleset) {
    for (RuleId id : ruleset.rules) {
      if (matches_[id.index() - 1].count == 0) continue;
      recorder_.tell_progress(id);
      const Clock::time_point start = Clock::now();
      const ChangeCounts before = database_.counts;
      const std::optional<StopReason> reached = apply_matches(id);
      matches_[id.index() - 1].release();
      RuleCounts& counters = recorder_.step(id);
      counters.new_tuples += database_.counts.added - before.added;
      counters.updates += database_.counts.updated - before.updated;
      counters.removals += database_.counts.removed - before.removed;
      counters.unions += database_.counts.unions - before.unions;
      const double seconds = seconds_since(start);
      counters.seconds += seconds;
      recorder_.report().apply_seconds += seconds;
      if (!reached) continue;
      // Matches were dropped, so these rules must be searched from scratch next time.
      for (RuleId other : ruleset.rules) engine_.rule(other).searched_until = 0;
      for (Ruleset& other : engine_.rulesets) other.searched_until = 0;
      stop(*reached, *reached == StopReason::TimeLimit ? recorder_.busiest_rule()
                                                       : recorder_.most_productive_rule());
      break;
    }
    database_.cause = kInitial;
  }

  // Returns the limit that was reached, if any.
  std::optional<StopReason> apply_matches(RuleId id) {
    const Rule& rule = engine_.rule(id);
    const Matches& matches = matches_[id.index() - 1];
    database_.cause = id;
    const size_t stride = rule.actions.registers, inputs = rule.actions.inputs;
    registers_.resize(stride * RegisterBatch::kMost);
    const size_t atoms = rule.matcher.query().atoms.size();
    if (database_.proofs) database_.proofs->begin_rule(rule.matcher.query(), rule.matcher.kept());
    for (uint64_t done = 0; done < matches.count;) {
      const size_t count = std::min({RegisterBatch::kMost, matches.count - done, room(rule)});
      for (size_t i = 0; i < count; ++i) {
        std::copy_n(matches.values.data() + (done + i) * inputs, inputs,
                    registers_.data() + i * stride);
      }
      if (database_.proofs) {
        database_.proofs->begin_batch(id, matches.rows.data() + done * atoms, count);
      }
      try {
        execute_batch(database_, rule.actions, {registers_.data(), stride, count});
      } catch (const ByteLimitReached&) {
        if (database_.proofs) throw;  // half a batch has no proofs
        return StopReason::ByteLimit;
      }
      done += count;
      recorder_.step(id).matches += count;
      if (database_.tuples() > limits_.nodes) return StopReason::NodeLimit;
      if (++batches_ % kBatchesPerByteCount == 0 && over_bytes()) return StopReason::ByteLimit;
      if (Clock::now() > deadline_) return StopReason::TimeLimit;
    }
    return std::nullopt;
  }

  // Counting the bytes of all tables is expensive.
  static constexpr uint64_t kBatchesPerByteCount = 32;
  bool over_bytes() const {
    if (limits_.bytes == std::numeric_limits<uint64_t>::max()) return false;
    uint64_t bytes = database_.bytes() + database_.constants.bytes();
    for (const Matches& matches : matches_) bytes += matches.values.bytes() + matches.rows.bytes();
    return bytes > limits_.bytes;
  }

  // How many matches may be applied before the node limit must be checked again.
  size_t room(const Rule& rule) const {
    const uint64_t nodes = limits_.nodes - std::min<uint64_t>(limits_.nodes, database_.tuples());
    return nodes / std::max<size_t>(1, rule.actions.code.size()) + 1;
  }

  bool stop(StopReason reason, RuleId culprit) {
    recorder_.stop(reason, culprit);
    return false;
  }

  Engine& engine_;
  Database& database_;
  const RunLimits& limits_;
  Constants::Limited limited_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Recorder recorder_;
  std::vector<Matches> matches_;  // of this iteration, by rule
  std::vector<Value> registers_;
  uint64_t batches_ = 0;
};

}  // namespace

RunReport run(Engine& engine, const Schedule& schedule, const RunLimits& limits) {
  engine.refresh_combined_rulesets();
  return Runner(engine, limits).run(schedule);
}

}  // namespace luminal::egraph
