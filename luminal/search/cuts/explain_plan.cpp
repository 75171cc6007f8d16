#include "luminal/search/cuts/explain_plan.h"

#include <algorithm>

#include "luminal/search/cuts/term_moves.h"

namespace luminal::search {
namespace {

using kernel::ClassId;

bool contains(const std::vector<ClassId>& list, ClassId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

bool is_gathered(const kernel::TermGraph& graph, ClassId id) {
  for (const kernel::TermClass& value : graph.classes) {
    for (const kernel::Term& term : value.terms) {
      const auto* gather = std::get_if<kernel::GatherTerm>(&term);
      if (gather != nullptr && gather->data == id) return true;
    }
  }
  return false;
}

StoredBecause why_forced(const kernel::TermGraph& graph, const PlanRequest& request,
                         const PlanCost& cost, ClassId id) {
  if (std::ranges::binary_search(cost.chain_ends(), id)) return StoredBecause::LongChain;
  if (contains(request.boundaries, id)) return StoredBecause::Required;  // among `stored` too
  if (contains(request.stored, id)) return StoredBecause::Result;
  if (contains(request.apart, id)) return StoredBecause::Decided;
  for (const HostNeed& step : request.host_steps) {
    if (contains(step.operands, id)) return StoredBecause::HostStep;
  }
  return is_gathered(graph, id) ? StoredBecause::GatheredData : StoredBecause::Scattered;
}

// A value in a loop counts several times (PlanLoops::times) in the time of a plan.
double extra_seconds(const PlanState::Rival& rival, const PlanState& state, int times) {
  return rival.why.empty() ? (rival.seconds - state.seconds()) / times : 0;
}

// The cheapest of the moves to another term: with what it needs stored, or not.
PlanState::Rival by_other_term(const kernel::TermGraph& graph, const PlanCost& cost,
                               PlanState& state, const TermFlip& flip) {
  std::optional<PlanState::Rival> best;
  for (const Move& move : TermMoves(graph, cost, state, flip).each()) {
    const PlanState::Rival rival = state.rival(move);
    const bool better = !best || (!best->why.empty() && rival.why.empty()) ||
                        (rival.why.empty() && rival.seconds < best->seconds);
    if (better) best = rival;
  }
  return *best;
}

}  // namespace

std::map<ClassId, std::vector<ClassId>> readers_of(const kernel::Plan& plan) {
  std::map<ClassId, std::vector<ClassId>> readers;
  for (const auto& step : plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    const auto& lowered = kernel->lowered;
    for (kernel::ParamId p : lowered.origins.ids()) {
      if (lowered.kernel.params[p].output || lowered.origins[p].source.valid()) continue;
      readers[lowered.origins[p].value].push_back(kernel::stored_by(lowered).front());
    }
  }
  return readers;
}

const char* text(StoredBecause reason) {
  switch (reason) {
    case StoredBecause::Result:
      return "it is a result";
    case StoredBecause::HostStep:
      return "a host step reads it";
    case StoredBecause::GatheredData:
      return "a gather reads it at an index that another value computes";
    case StoredBecause::Scattered:
      return "a scatter writes it row by row";
    case StoredBecause::Required:
      return "materialize() was called on it";
    case StoredBecause::LoopBoundary:
      return "an iteration of a rolled loop passes it to the next";
    case StoredBecause::Policy:
      return "the policy is to fuse nothing";
    case StoredBecause::Decided:
      return "it was decided not to fuse the pattern that it is part of";
    case StoredBecause::LongChain:
      return "a long run of element-wise ops is split here, so that kernels stay small";
    case StoredBecause::NoKernelHolds:
      return "no kernel can hold it";
    case StoredBecause::CostsMoreInside:
      return "the cost model says that fusing it into its readers is more expensive";
    case StoredBecause::CostsLessInside:
      return "the search stored it, although the cost model says that fusing it into its readers "
             "is cheaper";
  }
  return "";
}

std::vector<StoredValue> explain_plan(const kernel::TermGraph& graph, const PlanRequest& request,
                                      const SearchOptions& options, const FoundPlan& found) {
  const kernel::Plan& plan = found.plan;
  const auto readers = readers_of(plan);
  PlanCost cost(graph, request, options);
  PlanState state(cost, found.choice);
  const auto explain = [&](ClassId id, const std::vector<ClassId>& read_by) {
    StoredValue stored{.value = id, .readers = read_by, .why = {}};
    if (cost.forced()[id.index()]) {
      stored.because = why_forced(graph, request, cost, id);
    } else if (options.fusion == FusionPolicy::Never) {
      stored.because = StoredBecause::Policy;
    } else {
      const PlanState::Rival fused = state.rival({{id}});
      stored.why = fused.why;
      stored.extra_seconds = extra_seconds(fused, state, cost.times(id));
      stored.because = !fused.why.empty()         ? StoredBecause::NoKernelHolds
                       : stored.extra_seconds < 0 ? StoredBecause::CostsLessInside
                                                  : StoredBecause::CostsMoreInside;
    }
    return stored;
  };
  std::vector<StoredValue> values;
  for (const auto& step : plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    for (ClassId id : kernel::stored_by(kernel->lowered)) {
      const auto read = readers.find(id);
      if (read != readers.end()) values.push_back(explain(id, read->second));
    }
  }
  return values;
}

std::vector<AbsorbedValue> explain_absorbed(const kernel::TermGraph& graph,
                                            const PlanRequest& request,
                                            const SearchOptions& options, const FoundPlan& found) {
  const kernel::Plan& plan = found.plan;
  PlanCost cost(graph, request, options);
  PlanState state(cost, found.choice);
  std::vector<AbsorbedValue> values;
  std::map<ClassId, size_t> known;
  std::map<std::pair<ClassId, int>, size_t> known_terms;
  for (const auto& step : plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    const ClassId name = kernel::stored_by(kernel->lowered).front();
    for (ClassId id : kernel->lowered.classes) {
      for (int term : cost.terms().of(id)) {
        if (term == state.term(id)) continue;
        const auto [at, is_new] = known_terms.emplace(std::pair(id, term), values.size());
        if (is_new) {
          const PlanState::Rival rival = by_other_term(graph, cost, state, {id, term});
          values.push_back({.value = id,
                            .kernels = {},
                            .term = term,
                            .taken = state.term(id),
                            .extra_seconds = extra_seconds(rival, state, cost.times(id)),
                            .why = rival.why});
        }
        values[at->second].kernels.push_back(name);
      }
      const kernel::Use again{name, id};
      const bool computed_again = found.choice.again.contains(again);
      if (!computed_again && (!cost.is_live(id) || state.is_cut(id))) continue;
      const auto [at, is_new] = known.emplace(id, values.size());
      if (is_new) {
        const PlanState::Rival rival =
            state.rival(computed_again ? Move{.cuts = {}, .uses = {again}} : Move{{id}});
        values.push_back({.value = id,
                          .kernels = {},
                          .extra_seconds = extra_seconds(rival, state, cost.times(id)),
                          .why = rival.why});
      }
      values[at->second].kernels.push_back(name);
    }
  }
  return values;
}

}  // namespace luminal::search
