#include "luminal/search/terms/choose_terms.h"

#include <gtest/gtest.h>

namespace luminal::search {
namespace {

using kernel::ClassId;
using kernel::TermGraph;

kernel::Term op(Op op, std::vector<uint32_t> operands) {
  kernel::OpTerm term{op, {}};
  for (uint32_t operand : operands) term.operands.push_back(ClassId{operand});
  return term;
}

kernel::Term view(const Dims& dims, uint32_t operand) {
  return kernel::ReindexTerm{IndexMap::flip(dims, 0), ClassId{operand}};
}

const Dims kDims = {8};

kernel::TermClass value(std::vector<kernel::Term> terms) { return {kDims, DType::F32, terms}; }

TEST(ChooseTerms, TakesTheCheapest) {
  TermGraph graph;
  graph.classes = {
      value({kernel::LoadTerm{kernel::SourceId{0}}}),
      value({op(Op::Exp2, {0}), op(Op::Add, {0, 0})}),
      value({op(Op::Sin, {1}), op(Op::Mul, {0, 1}), kernel::LoadTerm{kernel::SourceId{1}}})};
  EXPECT_EQ(choose_terms(graph, {}).term, (std::vector<int>{0, 1, 2}));
}

// 0 = 1 + 1 and 1 = 0 · 2: only the way from the load is a way.
TEST(ChooseTerms, NeverGoesInACircle) {
  TermGraph graph;
  graph.classes = {value({op(Op::Add, {1, 1}), op(Op::Sin, {2})}), value({op(Op::Mul, {0, 2})}),
                   value({kernel::LoadTerm{kernel::SourceId{0}}}), value({op(Op::Add, {3, 2})})};
  const ChosenTerms chosen = choose_terms(graph, {});
  EXPECT_EQ(chosen.term, (std::vector<int>{1, 0, 0, -1}));
  EXPECT_EQ(chosen.position[3], ChosenTerms::kNever);
  EXPECT_LT(chosen.position[0], chosen.position[1]);
  EXPECT_FALSE(chosen.is_safe(ClassId{0}, graph.classes[0].terms[0]));
}

// Costs of shared values double at each level, far past what a double holds.
TEST(ChooseTerms, SettlesDeepGraphs) {
  TermGraph graph;
  graph.classes.push_back(value({kernel::LoadTerm{kernel::SourceId{0}}}));
  for (uint32_t i = 0; i < 3000; ++i) {
    graph.classes.push_back(
        value({op(Op::Mul, {i, i > 0 ? i - 1 : 0}), op(Op::Add, {i, i > 0 ? i - 1 : 0})}));
  }
  const ChosenTerms chosen = choose_terms(graph, {});
  for (uint32_t i = 0; i < graph.classes.size(); ++i) {
    ASSERT_GE(chosen.term[i], 0);
    EXPECT_TRUE(
        chosen.is_safe(ClassId{i}, graph.classes[i].terms[static_cast<size_t>(chosen.term[i])]));
  }
}

// Two views of each other: whatever is stored, at most one may read the other.
TEST(ChooseTerms, ViewsOfEachOtherAreNotBothSafe) {
  TermGraph graph;
  graph.classes = {value({op(Op::Sin, {3})}), value({view(kDims, 0), view(kDims, 2)}),
                   value({view(kDims, 1), view(kDims, 0)}),
                   value({kernel::LoadTerm{kernel::SourceId{0}}})};
  const ChosenTerms chosen = choose_terms(graph, {});
  EXPECT_NE(chosen.is_safe(ClassId{1}, graph.classes[1].terms[1]),
            chosen.is_safe(ClassId{2}, graph.classes[2].terms[0]));
  const std::vector<ClassId> roots = {ClassId{2}};
  EXPECT_EQ(reachable(graph, chosen, roots), (std::vector<bool>{true, true, true, true}));
}

TEST(ChooseTerms, ReachesNothingDead) {
  TermGraph graph;
  graph.classes = {value({kernel::LoadTerm{kernel::SourceId{0}}}), value({op(Op::Sin, {0})}),
                   value({op(Op::Mul, {1, 0}), kernel::LoadTerm{kernel::SourceId{1}}})};
  const std::vector<ClassId> roots = {ClassId{2}};
  EXPECT_EQ(reachable(graph, choose_terms(graph, {}), roots),
            (std::vector<bool>{false, false, true}));
}

}  // namespace
}  // namespace luminal::search
