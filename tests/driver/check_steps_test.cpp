// A checked run passes on what is right, and names the kernel that is wrong.
#include "luminal/driver/check/check_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "luminal/backends/registry/registry.h"
#include "luminal/base/errors.h"
#include "luminal/driver/check/compare_values.h"
#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"
#include "tests/search/planned.h"

namespace luminal {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(CheckedRun, PassesOnEveryKindOfKernel) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (FusionPolicy fusion : {FusionPolicy::Always, FusionPolicy::Never}) {
      Graph graph;
      const Expr s = Expr::var("s", 0, 50);
      Tensor x = graph.input("x", {s, 16}, dtype);
      Tensor w = graph.input("w", {16, 12}, dtype);
      Tensor rows = graph.input("rows", {5}, DType::I64);
      Tensor state = graph.state("state", {5, 12}, dtype);
      Tensor y = sigmoid(matmul(softmax(x, -1), w));
      Tensor gathered = index_select(y, 0, rows);
      graph.update(state, state + gathered);
      concat({y, x.slice(1, 2, 14)}, 0).output("joined");
      cumsum(y, 0).output("sums");
      Executable executable =
          compile(graph, {.plan = {.fusion = fusion}, .storage = {.cache_folder = "none"}});
      executable.set(w, std::vector<float>(16 * 12, 0.25f));
      executable.set(rows, std::vector<int64_t>{0, 3, 3, 1, 6});
      for (int64_t size : {7, 9}) {
        std::vector<float> values(static_cast<size_t>(size) * 16);
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) * 0.3f;
        executable.set(x, values);
        executable.run({{"s", size}}, {.check_kernels = true});
      }
    }
  }
}

// The last bits of exp2 are the kernel's own; what is decided by them is no fault of it.
TEST(CheckedRun, TakesNoDecisionOnLastBitsForAMistake) {
  Graph graph;
  Tensor x = graph.input("x", {64, 64});
  exp2(x).bitcast(DType::I32).output("bits");
  prim::less_than(log2(exp2(x)), x).output("less");
  Executable executable = compile(graph, {.storage = {.cache_folder = "none"}});
  std::vector<float> values(64 * 64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.001f - 2.0f;
  executable.set(x, values);
  EXPECT_NO_THROW(executable.run({}, {.check_kernels = true}));
}

// Runs a graph of one input "x" with the kernels checked.
void run_checked(const Graph& graph, const Tensor& x, const std::vector<float>& values,
                 CompileOptions options = {}) {
  options.storage.cache_folder = "none";
  Executable executable = compile(graph, options);
  executable.set(x, values);
  executable.run({}, {.check_kernels = true});
}

// More than a quarter of these bits depend on the order of summation.
TEST(CheckedRun, TakesNoOrderOfSummationForAMistake) {
  Graph graph;
  Tensor x = graph.input("x", {40, 170});
  sum(x, {1}).bitcast(DType::I32).output("bits");
  std::vector<float> values(40 * 170);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(i * i % 1013)) * static_cast<float>(i % 7 + 1);
  }
  EXPECT_NO_THROW(run_checked(graph, x, values));
}

// A last bit of the sum, which is 1 here, turns the sine around.
TEST(CheckedRun, TakesNoSineOfALargeSumForAMistake) {
  Graph graph;
  Tensor x = graph.input("x", {64, 33}, DType::F16);
  sin(prim::reduce(x * x, Reducer::Sum)).output("y");
  std::vector<float> values(64 * 33);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(i)) * 10.0f;
  }
  EXPECT_NO_THROW(run_checked(graph, x, values));
}

TEST(CheckedRun, TakesNoOverflowInAnotherOrderForAMistake) {
  const float huge = 3e38f;
  for (FusionPolicy fusion : {FusionPolicy::Always, FusionPolicy::Never}) {
    Graph graph;
    Tensor x = graph.input("x", {4, 64});
    sum(x, {1}).output("sum");
    prim::reduce(x * 1e-30f, Reducer::Prod).output("product");
    cumsum(x, 1).output("scan");
    std::vector<float> values(4 * 64, 1);
    for (size_t k = 0; k < 64; ++k) {
      values[k] = k % 2 == 0 ? huge : -huge;
      values[64 + k] = k < 32 ? huge : -huge;
      values[128 + k] = k % 16 == 3 ? huge : k % 16 == 4 ? -huge : 1;
    }
    EXPECT_NO_THROW(run_checked(graph, x, values, {.plan = {.fusion = fusion}}));
  }
}

// A last bit of a sum, multiplied as an integer, makes any number of it.
TEST(CheckedRun, TakesNoNumberMadeOfBitsForAMistake) {
  Graph graph;
  Tensor x = graph.input("x", {64, 100});
  Tensor bits = prim::bitcast(sum(sin(x), 1), DType::I32);
  Tensor mixed = bits * prim::full(graph, {64}, int64_t{0x1e3779b1}, DType::I32);
  prim::recip(prim::bitcast(mixed, DType::F32)).output("y");
  std::vector<float> values(64 * 100);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k % 977) * 0.37f;
  EXPECT_NO_THROW(run_checked(graph, x, values));
}

// 0 + -0 is 0; a sum of one term is that term.
TEST(CheckedRun, TakesNoSignOfAZeroForAMistake) {
  Graph graph;
  Tensor x = graph.input("x", {3, 1});
  const Tensor bits = prim::bitcast(prim::reduce(x, Reducer::Sum), DType::I32);
  prim::reduce(bits, Reducer::Sum).output("y");
  EXPECT_NO_THROW(run_checked(graph, x, {-0.0f, 1, 2}));
}

TEST(CheckedRun, TakesNoOverflowInAScatterForAMistake) {
  Graph graph;
  Tensor x = graph.input("x", {3});
  const Tensor row = prim::iota(graph, Expr(0), {3}, DType::I64);
  const Tensor dest = prim::full(graph, {1}, 1e30f, DType::F32);
  prim::scatter(dest, row, x, Reducer::Prod).output("y");
  EXPECT_NO_THROW(run_checked(graph, x, {1e30f, 1e30f, 0}));
}

// What a checker says of `found` as the value of `result`, whose leaves are `leaf`.
bool is_wrong(const Tensor& result, const TensorData& leaf, const TensorData& found) {
  const Graph& graph = result.graph();
  const NodeId node = result.id();
  const auto interpreted = [&](const interpret::Arithmetic& arithmetic) {
    interpret::Interpreter interpreter(
        graph, {}, [&](NodeId) { return leaf; },
        {.variation = arithmetic.variation, .seed = arithmetic.seed});
    return interpreter.values({&node, 1})[0];
  };
  const TensorData expected = interpreted({});
  return compare_values({.found = found,
                         .expected = expected,
                         .allowance = {.least = DType::F32},
                         .varied = interpreted})
      .has_value();
}

TensorData floats(std::vector<float> values) {
  const auto count = static_cast<int64_t>(values.size());
  return TensorData::copy_of(std::span<const float>(values), {count});
}

TEST(CompareValues, AllowsBitsOfASumToBeAFewOffButNotMore) {
  Graph graph;
  const Tensor bits =
      prim::bitcast(prim::reduce(graph.input("x", {5}), Reducer::Sum).unsqueeze(0), DType::I32);
  const TensorData x = floats({0.1f, 3.3f, -2.7f, 1e-3f, 0.77f});
  const float total = 0.1f + 3.3f - 2.7f + 1e-3f + 0.77f;
  for (int off : {0, 1, -1, 1000, -100000}) {
    const int32_t found = std::bit_cast<int32_t>(total) + off;
    const TensorData data = TensorData::copy_of(std::span(&found, 1), {1});
    EXPECT_EQ(is_wrong(bits, x, data), std::abs(off) >= 1000) << off;
  }
}

TEST(CompareValues, FindsAWrongDecisionThatNoRoundingExplains) {
  Graph graph;
  Tensor x = graph.input("x", {4});
  const Tensor less = prim::less_than(x * 3.0f, sin(x));
  const TensorData data = floats({1, 2, -3, -4});
  const auto flags = [](std::vector<uint8_t> values) {
    return TensorData::copy_of(std::span<const uint8_t>(values), {4}).cast(DType::Bool);
  };
  EXPECT_FALSE(is_wrong(less, data, flags({0, 0, 1, 1})));
  EXPECT_TRUE(is_wrong(less, data, flags({0, 1, 1, 1})));
}

// x - x is 0 however x is rounded: the same value is perturbed in the same way.
TEST(CompareValues, KeepsEqualValuesEqual) {
  Graph graph;
  Tensor x = graph.input("x", {3});
  const Tensor zero = (exp2(x) - exp2(x)) * 1e30f;
  const TensorData data = floats({0.3f, 1.7f, -2.2f});
  EXPECT_FALSE(is_wrong(zero, data, floats({0, 0, 0})));
  EXPECT_TRUE(is_wrong(zero, data, floats({0, 0, 1e23f})));
}

TEST(CompareValues, AllowsOverflowNearTheEndOfTheRangeAlone) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  const Tensor twice = x * 2.0f;
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(is_wrong(twice, floats({1e38f, 1}), floats({infinity, 2})));
  EXPECT_TRUE(is_wrong(twice, floats({1e20f, 1}), floats({infinity, 2})));
  EXPECT_TRUE(is_wrong(twice, floats({1e20f, 1}), floats({2e20f, std::nanf("")})));
}

// A graph with a plan, loaded by hand, so that rules and kernels can be wrong.
class Planted : public testing::Test {
 protected:
  Planted() {
    Tensor x = graph_->input("x", {6, 10});
    Tensor root = sqrt(x + x);
    sum(root * root, 1).output("y");
  }

  // With `rules` beside the compiler's own.
  void plan(const std::string& rules) {
    search::Planned prepared;
    prepared.terms = std::make_unique<search::Terms>();
    const std::vector<NodeId> needed = roots(*graph_);
    prepared.lowered = search::lower_graph(*graph_, needed, *prepared.terms);
    if (!rules.empty()) prepared.terms->egraph.run_program(rules, "planted");
    prepared.terms->egraph.run_program("(run-schedule (saturate (run)))", "planted");
    prepared.extracted = search::extract_terms(*graph_, prepared.lowered, *prepared.terms);
    for (NodeId id : needed) {
      prepared.request.stored.push_back(prepared.extracted.class_of[id.index()]);
    }
    prepared.options.fusion = FusionPolicy::Never;
    search::FoundPlan found =
        search::find_plan(prepared.extracted.graph, prepared.request, prepared.options);
    planned_ = std::make_shared<kernel::PlannedGraph>();
    planned_->terms = prepared.extracted.graph;
    planned_->plan = found.plan;
    planned_->class_of = prepared.extracted.class_of;
    for (const auto& source : prepared.lowered.sources) {
      planned_->source_nodes.push_back(source.node);
    }
    std::vector<KernelReport> kernels;
    for (const auto& step : planned_->plan.steps) {
      KernelReport entry;
      entry.name = "kernel " + std::to_string(kernels.size());
      for (kernel::ClassId id : std::get<kernel::KernelStep>(step).lowered.classes) {
        entry.ops.push_back(kernel::describe(planned_->terms.at(id).terms.front()));
        for (const std::string& rule : prepared.extracted.rules[id.index()]) {
          entry.rules.push_back(rule);
        }
      }
      kernels.push_back(std::move(entry));
    }
    notes_ = step_notes(*graph_, planned_, kernels);
  }

  // Runs `loaded`, checked against the plan; what the checker says.
  std::string run(std::shared_ptr<const kernel::PlannedGraph> loaded) {
    backends::LoadRequest request;
    request.graph = graph_;
    request.ports = {.leaves = graph_->leaves(), .results = {graph_->outputs()[0].node}};
    request.planned = std::move(loaded);
    const auto program = std::move(backends::find_backend("cpu").load({&request, 1}, nullptr)[0]);
    std::vector<runtime::Buffer> buffers = {runtime::Buffer::allocate(60 * 4),
                                            runtime::Buffer::allocate(6 * 4)};
    for (int i = 0; i < 60; ++i) {
      const auto value = static_cast<float>(i + 2);
      std::memcpy(buffers[0].writable().data() + i * 4, &value, 4);
    }
    const interpret::LeafData leaf = [&](NodeId) {
      return TensorData{.dtype = DType::F32,
                        .dims = {6, 10},
                        .bytes = buffers[0].bytes(),
                        .owner = buffers[0].owner()};
    };
    const Bindings none;
    StepChecker checker(*graph_, *notes_, none, leaf);
    try {
      program->run(none, buffers, {.observer = &checker});
    } catch (const InternalError& error) {
      return error.what();
    }
    return "right";
  }

  // The plan with one kernel changed, as a compiler's mistake would.
  std::shared_ptr<kernel::PlannedGraph> altered(
      size_t step, const std::function<void(kernel::Kernel&)>& change) {
    auto copy = std::make_shared<kernel::PlannedGraph>(*planned_);
    change(std::get<kernel::KernelStep>(copy->plan.steps[step]).lowered.kernel);
    return copy;
  }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::shared_ptr<kernel::PlannedGraph> planned_;
  std::shared_ptr<const StepNotes> notes_;
};

TEST_F(Planted, WhatIsRightPasses) {
  plan("");
  EXPECT_EQ(run(planned_), "right");
}

TEST_F(Planted, AWrongRuleIsNamedWithItsKernel) {
  plan("(rewrite (Sqrt x) (Recip x) :name \"a-root-is-a-reciprocal\")");
  EXPECT_THAT(run(planned_),
              AllOf(HasSubstr("kernel 1 is wrong: its loops don't compute %2 (sqrt): a rule or the "
                              "lowering is wrong"),
                    HasSubstr("first wrong element [0, 0]: 0.25, expected 2"),
                    HasSubstr("60 of 60 are wrong"), HasSubstr("a-root-is-a-reciprocal"),
                    HasSubstr("ops: recip")));
}

TEST_F(Planted, AMiscompiledKernelIsNamedNotWhatReadsIt) {
  plan("");
  const auto wrong = altered(0, [](kernel::Kernel& kernel) {
    for (kernel::Inst& inst : kernel.stages.front().body) {
      if (auto* op = std::get_if<kernel::OpInst>(&inst.what)) op->op = Op::Mul;
    }
  });
  EXPECT_THAT(run(wrong),
              AllOf(HasSubstr("kernel 0 is wrong: the compiled code disagrees with its loops"),
                    HasSubstr("first wrong element [0, 1]: 9, expected 6"), HasSubstr("59 of 60"),
                    HasSubstr("ops: add"), HasSubstr("rules behind its terms: none")));
}

TEST_F(Planted, AnElementThatIsNeverWrittenIsSaid) {
  plan("");
  const auto wrong = altered(1, [](kernel::Kernel& kernel) { kernel.loops.front().extent = 5; });
  EXPECT_THAT(run(wrong), AllOf(HasSubstr("kernel 1 is wrong"), HasSubstr("[5, 0]"),
                                HasSubstr("(never written)")));
}

TEST_F(Planted, AStorePastTheEndHitsACanary) {
  plan("");
  const auto wrong = altered(1, [](kernel::Kernel& kernel) { kernel.loops.front().extent = 7; });
  EXPECT_THAT(run(wrong), AllOf(HasSubstr("kernel 1 is wrong: it writes outside its output"),
                                HasSubstr("past the end of its 240 bytes")));
}

TEST(CheckedRun, NeedsKernels) {
  Graph graph;
  Tensor x = graph.input("x", {4});
  (x + x).output("y");
  Executable executable = compile(graph, {.backend = {.name = "interp"}});
  executable.set(x, {1, 2, 3, 4});
  EXPECT_THROW(executable.run({.check_kernels = true}), UserError);
}

}  // namespace
}  // namespace luminal
