#include "luminal/search/cuts/find_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/search/cuts/fixed_cuts.h"
#include "luminal/search/cuts/merge_kernels.h"
#include "luminal/search/cuts/moves.h"
#include "luminal/search/cuts/term_moves.h"

namespace luminal::search {
namespace {

using kernel::ClassId;

// Searches that start from another term, in one compile.
constexpr int kMostOtherTerms = 48;
// Up to this many bits, cuts and terms together, the search finds the best of all plans.
constexpr int kFewBits = 16;

class PlanSearch {
 public:
  PlanSearch(const kernel::TermGraph& graph, const PlanRequest& request,
             const SearchOptions& options)
      : graph_(graph),
        request_(request),
        options_(options),
        cost_(graph, request, options),
        moves_(graph, cost_) {}

  FoundPlan run() {
    switch (options_.fusion) {
      case FusionPolicy::Never:
        return finish(start_with([](ClassId) { return true; }).choice());
      case FusionPolicy::Always:
        return merged(fuse_all().choice());
      case FusionPolicy::Modelled:
      case FusionPolicy::Measured:  // patterns are decided before the search
        return merged(search().choice());
      case FusionPolicy::Fixed:
        return finish(by_fixed_rules().choice());
    }
    return {};
  }

  FoundPlan random() {
    std::mt19937_64 numbers(options_.seed);
    // Storing much and storing little lead to different kernels. Everything stored, by the terms
    // with the fewest flops, is a plan in any case.
    for (uint64_t share = 1 + numbers() % 9;; ++share) {
      kernel::Choice choice = start_with([&](ClassId) { return numbers() % 10 < share; }).choice();
      for (ClassId id : share < 10 ? cost_.terms().open() : std::vector<ClassId>()) {
        const std::vector<int>& terms = cost_.terms().of(id);
        choice.term[id.index()] = terms[numbers() % terms.size()];
      }
      PlanState state(cost_, choice);
      if (!state.why().empty() && share < 10) continue;
      for (const kernel::Use& use : state.uses()) {
        if (numbers() % 2 == 0) state.take({.cuts = {}, .uses = {use}});
      }
      return numbers() % 2 == 0 ? merged(state.choice()) : finish(state.choice());
    }
  }

  FoundPlan by_force() {
    const auto& live = cost_.live();
    if (choices() > 1 << 20) {
      throw UserError(
          fmt::format("{} values that may be stored or not, and {} that several terms may compute, "
                      "are too many to try all choices",
                      live.size(), cost_.terms().open().size()));
    }
    PlanState best = start_with([](ClassId) { return true; });
    std::vector<int> term = best.choice().term;
    do {
      for (uint64_t bits = 0; bits < uint64_t{1} << live.size(); ++bits) {
        std::vector<bool> cut = cost_.forced();
        for (size_t i = 0; i < live.size(); ++i) cut[live[i].index()] = (bits >> i) & 1;
        PlanState state(cost_, cost_.choice_for(cut, term));
        ++candidates_;
        if (state.better_than(best)) best = std::move(state);
      }
    } while (next_terms(term));
    return finish(best.choice());
  }

 private:
  // How many plans there are.
  double choices() const {
    double count = std::exp2(cost_.live().size());
    for (ClassId id : cost_.terms().open()) {
      count *= static_cast<double>(cost_.terms().of(id).size());
    }
    return count;
  }

  // Counts through the terms of all classes that have a choice; false where it starts again.
  bool next_terms(std::vector<int>& term) const {
    for (ClassId id : cost_.terms().open()) {
      const std::vector<int>& terms = cost_.terms().of(id);
      const auto now = std::find(terms.begin(), terms.end(), term[id.index()]);
      const bool last = now + 1 == terms.end();
      term[id.index()] = last ? terms.front() : *(now + 1);
      if (!last) return true;
    }
    return false;
  }

  template <typename Predicate>
  PlanState start_with(Predicate stored) {
    std::vector<bool> cut = cost_.forced();
    for (ClassId id : cost_.live()) {
      if (stored(id)) cut[id.index()] = true;
    }
    ++candidates_;
    return PlanState(cost_, cut);
  }

  PlanState start_at_reductions() {
    return start_with([&](ClassId id) { return moves_.is_reduction(id); });
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

  // The cuts that fixed rules make; if no kernel can hold what they fuse, a local search from cuts
  // that can.
  PlanState by_fixed_rules() {
    ++candidates_;
    PlanState state(cost_, fixed_cuts(graph_, cost_, options_.sizes));
    if (state.why().empty()) return state;
    notes_.push_back(fmt::format("fused by the model, not by fixed rules: {}", state.why()));
    return search();
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
    if (cost_.terms().open().empty()) return best;
    best = with_other_terms(std::move(best));
    return choices() <= 1 << kFewBits ? polished(std::move(best)) : best;
  }

  // A term may only pay once other cuts have followed it. So each other term is taken, for better
  // or worse, and the search goes on from there.
  PlanState with_other_terms(PlanState best) {
    int left = kMostOtherTerms;
    for (bool better = true; better;) {
      better = false;
      for (ClassId id : cost_.terms().open()) {
        for (int term : cost_.terms().of(id)) {
          if (!best.is_computed(id) || best.term(id) == term) continue;
          if (left-- == 0) return best;
          PlanState state = best;
          const TermMoves moves(graph_, cost_, best, {id, term});
          if (!state.take(moves.all_stored()) && !state.take(moves.alone())) continue;
          state = improved(std::move(state), options_.order);
          if (!state.better_than(best)) continue;
          best = std::move(state);
          better = true;
        }
      }
    }
    return best;
  }

  // What few choices leave time for: changes two or three of them at once.
  PlanState polished(PlanState best) {
    std::vector<Move> singles;
    for (ClassId id : cost_.live()) singles.push_back({{id}});
    for (ClassId id : cost_.terms().open()) {
      for (int term : cost_.terms().of(id)) singles.push_back({{}, {{id, term}}});
    }
    const auto add = [](Move& move, const Move& other) {
      move.cuts.insert(move.cuts.end(), other.cuts.begin(), other.cuts.end());
      move.terms.insert(move.terms.end(), other.terms.begin(), other.terms.end());
    };
    const auto improve = [&] {
      for (size_t a = 0; a < singles.size(); ++a) {
        for (size_t b = a; b < singles.size(); ++b) {
          for (size_t c = b; c < singles.size(); ++c) {
            Move move = singles[a];
            if (b > a) add(move, singles[b]);
            if (c > b) add(move, singles[c]);
            ++candidates_;
            if (best.improve(move)) return true;
          }
        }
      }
      return false;
    };
    while (improve()) best = improved(std::move(best), options_.order);
    return best;
  }

  PlanState improved(PlanState state, uint64_t round) {
    do {
      state = climbed(std::move(state), round);
    } while (slide_products(state));
    return state;
  }

  // Local search: takes the first move that improves, in an order given by seed and round, until
  // none does.
  PlanState climbed(PlanState state, uint64_t round) {
    std::mt19937_64 random(options_.seed * 1000 + round);
    uint64_t tried_since = 0;  // moves untouched since the last full pass are skipped
    bool better = true;
    while (better) {
      better = false;
      const uint64_t start = state.now();
      std::vector<Move> moves = moves_.from(state, options_.again);
      if (round > 0) std::shuffle(moves.begin(), moves.end(), random);
      for (const Move& move : moves) {
        const auto changed = [&](ClassId id) { return state.changed_at(id) > tried_since; };
        const bool fresh =
            std::ranges::any_of(move.cuts, changed) ||
            std::ranges::any_of(
                move.uses,
                [&](const kernel::Use& use) { return changed(use.root) || changed(use.value); }) ||
            std::ranges::any_of(move.terms, [&](const TermFlip& flip) {
              return changed(flip.id) || std::ranges::any_of(moves_.reads(flip), changed);
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

  bool slide_products(PlanState& state) {
    bool better = false;
    for (ClassId id : cost_.live()) {
      for (const Move& move : moves_.slides(state, id)) {
        ++candidates_;
        if (!state.improve(move)) continue;
        better = true;
        break;
      }
    }
    return better;
  }

  // The plan of a choice, with kernels merged sideways.
  FoundPlan merged(const kernel::Choice& choice) {
    FoundPlan found = finish(choice);
    if (options_.sideways) {
      PlanRequest request = request_;
      request.apart.insert(request.apart.end(), cost_.chain_ends().begin(),
                           cost_.chain_ends().end());
      SearchOptions options = options_;
      options.limits = cost_.limits();
      merge_kernels(found.plan, graph_, request, options,
                    [&](const kernel::LoweredKernel& lowered) {
                      return cost_.variants(kernel::stored_by(lowered)[0], choice);
                    });
    }
    return found;
  }

  FoundPlan finish(const kernel::Choice& choice) {
    const CostedPlan plan = cost_.cost(choice);
    LUMINAL_CHECK(plan.why.empty(), "no plan: " + plan.why);
    FoundPlan found{.plan = ordered(plan), .choice = choice, .report = {}};
    found.plan.model_seconds = plan.seconds;
    found.plan.term = choice.term;
    if (cost_.terms().n_capped() > 0) {
      notes_.push_back(
          fmt::format("{} values are computed by more than {} equal terms: the search looked at {}",
                      cost_.terms().n_capped(), TermChoices::kMostTerms, TermChoices::kMostTerms));
    }
    found.report = {.candidates = candidates_,
                    .distinct_kernels = cost_.distinct_kernels(),
                    .live_bits = static_cast<int>(cost_.live().size()),
                    .open_terms = static_cast<int>(cost_.terms().open().size()),
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
        const NamedKernel& kernel = *plan.kernels.at(id);
        for (const kernel::ParamOrigin& origin : kernel.lowered->origins) {
          if (origin.value == id && !origin.source.valid()) continue;
          const bool ready = origin.source.valid() ? made[origin.source] : in_memory(origin.value);
          if (!ready) return false;
        }
        result.steps.push_back(kernel::make_step(*kernel.lowered, kernel.charged));
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
  Moves moves_;
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
