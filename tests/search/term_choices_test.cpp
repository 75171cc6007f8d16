// The search over cuts and terms together.
#include "luminal/search/terms/term_choices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "luminal/search/cuts/plan_state.h"
#include "luminal/search/measured/measured_search.h"
#include "tests/search/random_terms.h"

namespace luminal::search {
namespace {

using kernel::ClassId;

struct Size {
  int bits = 0;   // choices, as a power of two
  int terms = 0;  // classes with several terms
};

Size size_of(const RandomTerms& random) {
  const SearchOptions options;
  const PlanCost cost(random.graph, random.request, options);
  double bits = static_cast<double>(cost.live().size());
  for (ClassId id : cost.terms().open()) {
    bits += std::log2(static_cast<double>(cost.terms().of(id).size()));
  }
  return {static_cast<int>(std::ceil(bits)), static_cast<int>(cost.terms().open().size())};
}

// Compares the search with all choices on `wanted` graphs of `least` to `most` bits.
void expect_optimum(uint64_t seed, int n_values, int n_choices, int least, int most, int wanted) {
  int compared = 0, other_terms = 0, missed = 0;
  for (; compared < wanted; ++seed) {
    const RandomTerms random = RandomTermGraph(seed).make(n_values, n_choices);
    const Size size = size_of(random);
    if (size.bits < least || size.bits > most || size.terms == 0) continue;
    ++compared;
    const SearchOptions options;
    const FoundPlan found = find_plan(random.graph, random.request, options);
    const FoundPlan best = find_plan_by_force(random.graph, random.request, options);
    SearchOptions unmerged = options;
    unmerged.sideways = false;
    const double seconds = find_plan(random.graph, random.request, unmerged).plan.model_seconds;
    EXPECT_LE(seconds, best.plan.model_seconds * (1 + 1e-6))
        << "seed " << seed << ", " << size.bits << " bits, " << size.terms << " terms";
    missed += seconds > best.plan.model_seconds * (1 + 1e-6);
    other_terms += best.plan.term != choose_terms(random.graph, {}).term;
  }
  std::printf("%d graphs of %d to %d bits, %d with other terms in the best plan, %d missed\n",
              compared, least, most, other_terms, missed);
  EXPECT_GT(other_terms, wanted / 20);
}

TEST(TermChoices, TheSearchFindsTheOptimumOfSmallGraphs) { expect_optimum(1, 5, 3, 3, 10, 1500); }

TEST(TermChoices, TheSearchFindsTheOptimumOfGraphsOf13To16Bits) {
  expect_optimum(100'000, 9, 4, 13, 16, 30);
}

TEST(TermChoices, ThePlanIsTheSameEveryTime) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const RandomTerms random = RandomTermGraph(seed).make(12, 6);
    const FoundPlan first = find_plan(random.graph, random.request, {});
    const FoundPlan again = find_plan(random.graph, random.request, {});
    EXPECT_EQ(plan_digest(first.plan), plan_digest(again.plan)) << seed;
    EXPECT_EQ(first.plan.term, again.plan.term) << seed;
  }
}

// The kernels that moves keep up to date are those of the choice, whatever changes.
TEST(TermChoices, AStateStaysThePlanOfItsChoice) {
  int moved = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomTerms random = RandomTermGraph(seed).make(10, 6);
    const SearchOptions options;
    PlanCost cost(random.graph, random.request, options);
    PlanState state(cost, cost.forced());
    if (!state.why().empty() || cost.terms().open().empty()) continue;
    std::mt19937_64 numbers(seed);
    for (int step = 0; step < 60; ++step) {
      Move move;
      const ClassId open = cost.terms().open()[numbers() % cost.terms().open().size()];
      const std::vector<int>& terms = cost.terms().of(open);
      move.terms = {{open, terms[numbers() % terms.size()]}};
      if (!cost.live().empty()) move.cuts = {cost.live()[numbers() % cost.live().size()]};
      const kernel::Choice before = state.choice();
      const double seconds = state.seconds();
      const PlanState::Rival rival = state.rival(move);
      EXPECT_EQ(state.choice().cut, before.cut);
      EXPECT_EQ(state.choice().term, before.term);
      EXPECT_EQ(state.seconds(), seconds);
      EXPECT_EQ(state.take(move), rival.why.empty()) << rival.why;
      moved += rival.why.empty();
      const CostedPlan fresh = cost.cost(state.choice());
      ASSERT_EQ(fresh.why, "") << "seed " << seed << ", step " << step;
      EXPECT_NEAR(state.seconds(), fresh.seconds, fresh.seconds * 1e-9);
      std::vector<ClassId> stored;
      for (const auto& [id, kernel] : fresh.kernels) stored.push_back(id);
      EXPECT_EQ(state.stored(), stored);
    }
  }
  EXPECT_GT(moved, 500);
}

const Dims kDims = {4096};

kernel::Term op(Op op, std::vector<uint32_t> operands) {
  kernel::OpTerm term{op, {}};
  for (uint32_t operand : operands) term.operands.push_back(ClassId{operand});
  return term;
}

kernel::TermClass value(std::vector<kernel::Term> terms) { return {kDims, DType::F32, terms}; }

// 1 = 1/2 and 2 = 1/1: either may be computed from the other, but not both.
TEST(TermChoices, NothingIsComputedFromItself) {
  kernel::TermGraph graph;
  graph.sources = {{kDims, DType::F32, "x"}};
  graph.classes = {value({kernel::LoadTerm{kernel::SourceId{0}}}),
                   value({op(Op::Exp2, {0}), op(Op::Recip, {2})}),
                   value({op(Op::Sin, {0}), op(Op::Recip, {1})})};
  const PlanRequest request{.stored = {ClassId{1}, ClassId{2}}, .host_steps = {}, .boundaries = {}};
  const SearchOptions options;
  PlanCost cost(graph, request, options);
  EXPECT_EQ(cost.terms().open().size(), 2u);
  kernel::Choice choice = cost.choice_for(cost.forced());
  choice.term = {0, 1, 1};
  EXPECT_TRUE(cost.terms().has_cycle(choice.term));
  EXPECT_EQ(cost.cost(choice).why, kTermsInACycle);
  EXPECT_EQ(PlanState(cost, choice).why(), kTermsInACycle);
  choice.term = {0, 1, 0};
  EXPECT_EQ(PlanState(cost, choice).why(), "");
}

// What a host step computes is only there if the plan has the step.
TEST(TermChoices, NoTermReadsAHostStepThatIsLeftOut) {
  kernel::TermGraph graph;
  graph.sources = {{kDims, DType::F32, "x"}, {kDims, DType::F32, "of the host"}};
  graph.classes = {value({kernel::LoadTerm{kernel::SourceId{0}}}),
                   value({kernel::LoadTerm{kernel::SourceId{1}}}),
                   value({op(Op::Sin, {0}), op(Op::Recip, {3})}), value({op(Op::Sqrt, {1})})};
  PlanRequest request{.stored = {ClassId{2}}, .host_steps = {}, .boundaries = {}};
  const SearchOptions options;
  EXPECT_EQ(PlanCost(graph, request, options).terms().open().size(), 1u);
  request.absent = {kernel::SourceId{1}};
  EXPECT_EQ(PlanCost(graph, request, options).terms().open().size(), 0u);
}

// A kernel that reads what another stores is no kernel that reads a source, though their loops are
// equal: nothing stores a source that is a result as well.
TEST(TermChoices, ASourceThatIsAResultIsReadAsASource) {
  kernel::TermGraph graph;
  graph.sources = {{kDims, DType::F32, "x"}};
  graph.classes = {value({kernel::LoadTerm{kernel::SourceId{0}}}), value({op(Op::Sin, {0})}),
                   value({op(Op::Recip, {1})}), value({op(Op::Recip, {0})})};
  const PlanRequest request{.stored = {ClassId{0}, ClassId{1}, ClassId{2}, ClassId{3}},
                            .host_steps = {},
                            .boundaries = {}};
  SearchOptions options;
  options.sideways = false;
  const FoundPlan found = find_plan(graph, request, options);
  EXPECT_EQ(found.plan.n_kernels(), 3);
}

}  // namespace
}  // namespace luminal::search
