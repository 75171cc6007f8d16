#include "luminal/search/find_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>
#include <span>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/search/merge_kernels.h"
#include "luminal/search/plan_cost.h"

namespace luminal::search {
namespace {

using kernel::ClassId;

// Differences below this share are ties, broken by fewer kernels.
constexpr double kNoise = 1e-6;
// Above this many choices one order of moves per start is enough.
constexpr size_t kManyBits = 100;

struct State {
  std::vector<bool> cut;
  CostedPlan plan;
};

bool better(const CostedPlan& a, const CostedPlan& b) {
  if (a.seconds < b.seconds * (1 - kNoise)) return true;
  return a.seconds <= b.seconds * (1 + kNoise) && a.kernels.size() < b.kernels.size();
}

class PlanSearch {
 public:
  PlanSearch(const kernel::TermGraph& graph, const PlanRequest& request,
             const SearchOptions& options)
      : graph_(graph), request_(request), options_(options), cost_(graph, request, options) {}

  FoundPlan run() {
    State best = start_with([](ClassId) { return true; });
    switch (options_.fusion) {
      case Fusion::Never:
        break;
      case Fusion::Always:
        best = fuse_all();
        break;
      case Fusion::Modelled:
        best = search();
        break;
    }
    FoundPlan found = finish(best);
    if (options_.fusion != Fusion::Never && options_.sideways) {
      merge_kernels(found.plan, graph_, request_, options_,
                    [&](const kernel::LoweredKernel& lowered) {
                      return cost_.variants(kernel::stored_by(lowered)[0], best.cut);
                    });
    }
    return found;
  }

  FoundPlan by_force() {
    const auto& live = cost_.live();
    if (live.size() > 20) {
      throw UserError(fmt::format("{} live bits are too many to try all choices", live.size()));
    }
    State best = start_with([](ClassId) { return true; });
    for (uint64_t bits = 0; bits < uint64_t{1} << live.size(); ++bits) {
      State state{cost_.forced(), {}};
      for (size_t i = 0; i < live.size(); ++i) state.cut[live[i].index()] = (bits >> i) & 1;
      price(state);
      if (better(state.plan, best.plan)) best = std::move(state);
    }
    return finish(best);
  }

 private:
  void price(State& state, const CostedPlan* before = nullptr,
             std::span<const ClassId> changed = {}) {
    ++candidates_;
    const bool usable = before != nullptr && before->why.empty();
    state.plan = cost_.cost(state.cut, usable ? before : nullptr, changed);
  }

  template <typename Predicate>
  State start_with(Predicate stored) {
    State state{cost_.forced(), {}};
    for (ClassId id : cost_.live()) {
      if (stored(id)) state.cut[id.index()] = true;
    }
    price(state);
    return state;
  }

  bool is_reduction(ClassId id) const {
    const kernel::Term& term = graph_.at(id).terms.front();
    return std::holds_alternative<kernel::ReduceTerm>(term) ||
           std::holds_alternative<kernel::ScanTerm>(term);
  }

  // Everything in one kernel per result; where that can't be lowered, what helps most is stored.
  State fuse_all() {
    State state = start_with([](ClassId) { return false; });
    while (state.plan.seconds == std::numeric_limits<double>::infinity()) {
      notes_.push_back(fmt::format("not all fused: {}", state.plan.why));
      State next = start_with([&](ClassId id) { return is_reduction(id); });
      if (next.plan.seconds == std::numeric_limits<double>::infinity()) {
        next = start_with([](ClassId) { return true; });
      }
      state = improve(std::move(next), 0);
    }
    return state;
  }

  State search() {
    State best = start_with([](ClassId) { return true; });
    // Other orders of moves help small graphs; large ones have no time for them.
    const int starts = cost_.live().size() <= kManyBits ? options_.starts : 1;
    for (int first = 0; first < 3; ++first) {
      for (int round = 0; round < starts; ++round) {
        State state = first == 0   ? start_with([](ClassId) { return false; })
                      : first == 1 ? start_with([&](ClassId id) { return is_reduction(id); })
                                   : start_with([](ClassId) { return true; });
        state = improve(std::move(state), static_cast<uint64_t>(round));
        if (better(state.plan, best.plan)) best = std::move(state);
      }
    }
    return best;
  }

  // First improvement over all moves, in an order that the seed and the round choose, to the end.
  State improve(State state, uint64_t round) {
    std::mt19937_64 random(options_.seed * 1000 + round);
    bool improved = true;
    while (improved) {
      improved = false;
      std::vector<std::vector<ClassId>> moves = moves_from(state);
      if (round > 0) std::shuffle(moves.begin(), moves.end(), random);
      for (const std::vector<ClassId>& move : moves) {
        State next{state.cut, {}};
        for (ClassId id : move) next.cut[id.index()] = !next.cut[id.index()];
        price(next, &state.plan, move);
        if (!better(next.plan, state.plan)) continue;
        state = std::move(next);
        clear_dead(state);
        improved = true;
      }
    }
    return state;
  }

  // Toggle a cut; absorb all that a kernel reads; slide a cut to a neighbour. A move lists the bits
  // it flips.
  std::vector<std::vector<ClassId>> moves_from(const State& state) const {
    std::vector<std::vector<ClassId>> moves;
    for (ClassId id : cost_.live()) moves.push_back({id});
    for (const auto& [root, kernel] : state.plan.kernels) {
      std::vector<ClassId> absorbed;
      for (const kernel::ParamOrigin& origin : kernel->lowered->origins) {
        const bool stored = origin.source < 0 && origin.value != root;
        if (stored && !cost_.forced()[origin.value.index()]) absorbed.push_back(origin.value);
      }
      if (absorbed.size() > 1) moves.push_back(absorbed);
    }
    for (ClassId id : cost_.live()) {
      if (!state.cut[id.index()]) continue;
      for (ClassId operand : kernel::operands(graph_.at(id).terms.front())) {
        const bool live = std::binary_search(cost_.live().begin(), cost_.live().end(), operand);
        if (live && !state.cut[operand.index()]) moves.push_back({id, operand});
      }
    }
    return moves;
  }

  // A cut that no kernel of the plan stores any more would only confuse later moves.
  void clear_dead(State& state) const {
    for (ClassId id : cost_.live()) {
      if (!state.plan.kernels.contains(id)) state.cut[id.index()] = false;
    }
  }

  FoundPlan finish(const State& best) {
    LUMINAL_CHECK(best.plan.why.empty(), "no plan: " + best.plan.why);
    FoundPlan found{.plan = ordered(best.plan), .cut = best.cut, .report = {}};
    found.plan.model_seconds = best.plan.seconds;
    found.report = {.candidates = candidates_,
                    .distinct_kernels = cost_.distinct_kernels(),
                    .live_bits = static_cast<int>(cost_.live().size()),
                    .notes = notes_};
    return found;
  }

  // Every step after what it reads. Also the check that each load has a producer and none waits for
  // itself.
  kernel::Plan ordered(const CostedPlan& plan) const {
    kernel::Plan result;
    std::vector<bool> stored(graph_.classes.size(), false);
    std::vector<bool> made(graph_.sources.size(), true);
    for (const HostNeed& step : request_.host_steps) made[static_cast<size_t>(step.source)] = false;
    auto in_memory = [&](ClassId id) {
      if (stored[id.index()]) return true;
      for (const kernel::Term& term : graph_.at(id).terms) {
        const auto* load = std::get_if<kernel::LoadTerm>(&term);
        if (load != nullptr) return static_cast<bool>(made[static_cast<size_t>(load->source)]);
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
          if (origin.value == id && origin.source < 0) continue;
          const bool ready = origin.source >= 0 ? made[static_cast<size_t>(origin.source)]
                                                : in_memory(origin.value);
          if (!ready) return false;
        }
        result.steps.push_back(kernel::KernelStep{*kernel.lowered, kernel.seconds});
        stored[id.index()] = true;
        return true;
      });
      std::erase_if(host, [&](const HostNeed& step) {
        if (!std::all_of(step.operands.begin(), step.operands.end(), in_memory)) return false;
        result.steps.push_back(kernel::HostStep{step.source});
        made[static_cast<size_t>(step.source)] = true;
        return true;
      });
      LUMINAL_CHECK(waiting.size() + host.size() < before,
                    "a plan whose steps wait for each other");
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

}  // namespace

FoundPlan find_plan(const kernel::TermGraph& graph, const PlanRequest& request,
                    const SearchOptions& options) {
  return PlanSearch(graph, request, options).run();
}

FoundPlan find_plan_by_force(const kernel::TermGraph& graph, const PlanRequest& request,
                             const SearchOptions& options) {
  return PlanSearch(graph, request, options).by_force();
}

}  // namespace luminal::search
