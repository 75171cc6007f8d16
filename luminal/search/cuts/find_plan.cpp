#include "luminal/search/cuts/find_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/search/cuts/merge_kernels.h"
#include "luminal/search/cuts/plan_state.h"

namespace luminal::search {
namespace {

using kernel::ClassId;

class PlanSearch {
 public:
  PlanSearch(const kernel::TermGraph& graph, const PlanRequest& request,
             const SearchOptions& options)
      : graph_(graph), request_(request), options_(options), cost_(graph, request, options) {}

  FoundPlan run() {
    switch (options_.fusion) {
      case FusionPolicy::Never:
        return finish(start_with([](ClassId) { return true; }).cut());
      case FusionPolicy::Always:
        return merged(fuse_all().cut());
      case FusionPolicy::Modelled:
      case FusionPolicy::Measured:  // patterns are decided before the search
        return merged(search().cut());
    }
    return {};
  }

  FoundPlan random() {
    std::mt19937_64 numbers(options_.seed);
    // Storing much and storing little lead to different kernels.
    for (uint64_t share = 1 + numbers() % 9;; ++share) {
      PlanState state = start_with([&](ClassId) { return numbers() % 10 < share; });
      if (!state.why().empty() && share < 10) continue;
      return numbers() % 2 == 0 ? merged(state.cut()) : finish(state.cut());
    }
  }

  FoundPlan by_force() {
    const auto& live = cost_.live();
    if (live.size() > 20) {
      throw UserError(fmt::format(
          "{} values that may be stored or not are too many to try all choices", live.size()));
    }
    PlanState best = start_with([](ClassId) { return true; });
    for (uint64_t bits = 0; bits < uint64_t{1} << live.size(); ++bits) {
      std::vector<bool> cut = cost_.forced();
      for (size_t i = 0; i < live.size(); ++i) cut[live[i].index()] = (bits >> i) & 1;
      PlanState state(cost_, cut);
      ++candidates_;
      if (state.better_than(best)) best = std::move(state);
    }
    return finish(best.cut());
  }

 private:
  template <typename Predicate>
  PlanState start_with(Predicate stored) {
    std::vector<bool> cut = cost_.forced();
    for (ClassId id : cost_.live()) {
      if (stored(id)) cut[id.index()] = true;
    }
    ++candidates_;
    return PlanState(cost_, cut);
  }

  bool is_reduction(ClassId id) const {
    const kernel::Term& term = cost_.term_of(id);
    return std::holds_alternative<kernel::ReduceTerm>(term) ||
           std::holds_alternative<kernel::ScanTerm>(term);
  }

  PlanState start_at_reductions() {
    return start_with([&](ClassId id) { return is_reduction(id); });
  }

  bool is_large() const { return cost_.live().size() > options_.thorough_up_to; }

  // One kernel per result; if that can't be lowered, a local search from cuts that can.
  PlanState fuse_all() {
    PlanState state = start_with([](ClassId) { return false; });
    if (state.why().empty()) return state;
    notes_.push_back(fmt::format("not all fused: {}", state.why()));
    if (!is_large()) state = start_at_reductions();
    if (!state.why().empty()) state = start_with([](ClassId) { return true; });
    return improved(std::move(state), options_.order);
  }

  // With everything stored at first, moves fuse kernels bottom-up, in time linear in the graph. The
  // other starts have kernels that span layers: these are expensive to lower and lead to the same
  // plans, so only small graphs try them, as insurance.
  PlanState search() {
    const PlanState all_stored = start_with([](ClassId) { return true; });
    if (is_large() && all_stored.why().empty()) return improved(all_stored, options_.order);
    const PlanState starts[] = {all_stored, start_with([](ClassId) { return false; }),
                                start_at_reductions()};
    PlanState best = all_stored;
    for (const PlanState& start : starts) {
      if (!start.why().empty()) continue;
      for (int round = 0; round < options_.starts; ++round) {
        PlanState state = improved(start, options_.order + static_cast<uint64_t>(round));
        if (state.better_than(best)) best = std::move(state);
      }
    }
    return best;
  }

  // Local search: takes the first move that improves, in an order given by seed and round, until
  // none does.
  PlanState improved(PlanState state, uint64_t round) {
    std::mt19937_64 random(options_.seed * 1000 + round);
    uint64_t tried_since = 0;  // moves untouched since the last full pass are skipped
    bool better = true;
    while (better) {
      better = false;
      const uint64_t start = state.now();
      std::vector<std::vector<ClassId>> moves = moves_from(state);
      if (round > 0) std::shuffle(moves.begin(), moves.end(), random);
      for (const std::vector<ClassId>& move : moves) {
        const bool fresh = std::any_of(move.begin(), move.end(), [&](ClassId id) {
          return state.changed_at(id) > tried_since;
        });
        if (!fresh) continue;
        ++candidates_;
        if (options_.progress) options_.progress(candidates_);
        better |= state.improve(move);
      }
      tried_since = start;
    }
    return state;
  }

  // Moves: toggle a cut; fuse all that a kernel reads into it; fuse a kernel and a reduction that
  // it reads, such as attention's weights and scores, where either alone may only cost; slide a cut
  // to an operand. A move lists the bits it flips.
  std::vector<std::vector<ClassId>> moves_from(const PlanState& state) const {
    std::vector<std::vector<ClassId>> moves;
    for (ClassId id : cost_.live()) moves.push_back({id});
    for (ClassId root : state.stored()) {
      std::vector<ClassId> absorbed = state.reads(root);
      std::erase_if(absorbed, [&](ClassId id) { return !cost_.is_live(id); });
      if (absorbed.size() > 1) moves.push_back(absorbed);
      if (!cost_.is_live(root)) continue;
      for (ClassId read : absorbed) {
        if (is_reduction(read)) moves.push_back({root, read});
      }
    }
    for (ClassId id : cost_.live()) {
      if (!state.is_cut(id)) continue;
      for (ClassId operand : kernel::operands(cost_.term_of(id))) {
        if (cost_.is_live(operand) && !state.is_cut(operand)) moves.push_back({id, operand});
      }
    }
    return moves;
  }

  // The plan of `cut`, with kernels merged sideways.
  FoundPlan merged(const std::vector<bool>& cut) {
    FoundPlan found = finish(cut);
    if (options_.sideways) {
      PlanRequest request = request_;
      request.apart.insert(request.apart.end(), cost_.chain_ends().begin(),
                           cost_.chain_ends().end());
      SearchOptions options = options_;
      options.limits = cost_.limits();
      merge_kernels(found.plan, graph_, request, options,
                    [&](const kernel::LoweredKernel& lowered) {
                      return cost_.variants(kernel::stored_by(lowered)[0], cut);
                    });
    }
    return found;
  }

  FoundPlan finish(const std::vector<bool>& cut) {
    const CostedPlan plan = cost_.cost(cut);
    LUMINAL_CHECK(plan.why.empty(), "no plan: " + plan.why);
    FoundPlan found{.plan = ordered(plan), .cut = cut, .report = {}};
    found.plan.model_seconds = plan.seconds;
    found.report = {.candidates = candidates_,
                    .distinct_kernels = cost_.distinct_kernels(),
                    .live_bits = static_cast<int>(cost_.live().size()),
                    .notes = notes_,
                    .not_held = {}};
    return found;
  }

  // The steps in topological order. Also checks that each load has a producer and that there is no
  // cycle.
  kernel::Plan ordered(const CostedPlan& plan) const {
    kernel::Plan result;
    std::vector<bool> stored(graph_.classes.size(), false);
    IdVector<kernel::SourceId, bool> made(graph_.sources.size(), true);
    for (const HostNeed& step : request_.host_steps) made[step.source] = false;
    auto in_memory = [&](ClassId id) {
      if (stored[id.index()]) return true;
      for (const kernel::Term& term : graph_.at(id).terms) {
        const auto* load = std::get_if<kernel::LoadTerm>(&term);
        if (load != nullptr) return static_cast<bool>(made[load->source]);
      }
      return false;
    };
    std::vector<ClassId> waiting;
    for (const auto& [id, kernel] : plan.kernels) waiting.push_back(id);
    std::vector<HostNeed> host = request_.host_steps;
    while (!waiting.empty() || !host.empty()) {
      const size_t before = waiting.size() + host.size();
      std::erase_if(waiting, [&](ClassId id) {
        const CostedKernel& kernel = *plan.kernels.at(id);
        for (const kernel::ParamOrigin& origin : kernel.lowered->origins) {
          if (origin.value == id && !origin.source.valid()) continue;
          const bool ready = origin.source.valid() ? made[origin.source] : in_memory(origin.value);
          if (!ready) return false;
        }
        result.steps.push_back(kernel::make_step(*kernel.lowered, kernel.seconds));
        stored[id.index()] = true;
        return true;
      });
      std::erase_if(host, [&](const HostNeed& step) {
        if (!std::all_of(step.operands.begin(), step.operands.end(), in_memory)) return false;
        result.steps.push_back(kernel::HostStep{step.source});
        made[step.source] = true;
        return true;
      });
      LUMINAL_CHECK(waiting.size() + host.size() < before,
                    "the steps of a plan depend on each other in a cycle");
    }
    return result;
  }

  const kernel::TermGraph& graph_;
  const PlanRequest& request_;
  const SearchOptions& options_;
  PlanCost cost_;
  int candidates_ = 0;
  std::vector<std::string> notes_;
};

// The request with those of its `inside` values that kernels can hold while all others are stored,
// so that there is a plan to start from.
PlanRequest held(const kernel::TermGraph& graph, const PlanRequest& request,
                 const SearchOptions& options, std::vector<NotHeld>& not_held) {
  PlanRequest result = request;
  result.inside.clear();
  PlanCost cost(graph, result, options);
  std::vector<bool> cut = cost.forced();
  for (ClassId id : cost.live()) cut[id.index()] = true;
  for (ClassId id : request.inside) {
    if (!cost.is_live(id)) continue;
    cut[id.index()] = false;
    if (std::string why = cost.cost(cut).why; why.empty()) {
      result.inside.push_back(id);
    } else {
      cut[id.index()] = true;
      not_held.push_back({id, std::move(why)});
    }
  }
  return result;
}

}  // namespace

FoundPlan find_plan(const kernel::TermGraph& graph, const PlanRequest& request,
                    const SearchOptions& options) {
  if (request.inside.empty()) return PlanSearch(graph, request, options).run();
  std::vector<NotHeld> not_held;
  FoundPlan found = PlanSearch(graph, held(graph, request, options, not_held), options).run();
  found.report.not_held = std::move(not_held);
  return found;
}

FoundPlan random_plan(const kernel::TermGraph& graph, const PlanRequest& request,
                      const SearchOptions& options) {
  return PlanSearch(graph, request, options).random();
}

FoundPlan find_plan_by_force(const kernel::TermGraph& graph, const PlanRequest& request,
                             const SearchOptions& options) {
  return PlanSearch(graph, request, options).by_force();
}

}  // namespace luminal::search
