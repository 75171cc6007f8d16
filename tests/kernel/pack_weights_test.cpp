// Packed weights: what is in panels, which weights are packed and which must not be, and that
// kernels which read panels compute what they did before.
#include "luminal/kernel/plan/pack_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "luminal/backends/registry/registry.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/traverse.h"
#include "luminal/kernel/ir/interpret_kernel.h"
#include "luminal/kernel/lower/merge.h"
#include "luminal/luminal.h"
#include "luminal/search/cuts/plan_cost.h"
#include "luminal/shape/index/resolve_dims.h"
#include "luminal/shape/scalar.h"
#include "tests/search/planned.h"

namespace luminal::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Packing kPanels = {.lanes = 16, .bf16_depth = 2};
using Bytes = std::vector<std::byte>;

// A plan in which every kernel has as many outer loops as it can, so that what is a contraction
// doesn't depend on the model; with `merged`, they are all one.
PlannedGraph plan_of(const Graph& graph, PackRequest& request, bool merged) {
  search::Planned prepared = search::prepare(graph);
  prepared.options.sideways = false;
  const search::FoundPlan found =
      search::find_plan(prepared.extracted.graph, prepared.request, prepared.options);
  const search::PlanCost cost(prepared.extracted.graph, prepared.request, prepared.options);
  PlannedGraph planned{.terms = prepared.extracted.graph,
                       .plan = {},
                       .source_nodes = {},
                       .class_of = prepared.extracted.class_of};
  for (const auto& step : found.plan.steps) {
    const ClassId root = stored_by(std::get<KernelStep>(step).lowered).front();
    LoweredKernel lowered = cost.variants(root, found.choice).front();
    if (merged && !planned.plan.steps.empty()) {
      auto& first = std::get<KernelStep>(planned.plan.steps.front()).lowered;
      first = *merge(first, lowered);
    } else {
      planned.plan.steps.push_back(make_step(std::move(lowered)));
    }
  }
  for (const search::SourceTensor& source : prepared.lowered.sources) {
    planned.source_nodes.push_back(source.node);
    const Role role = graph.node(source.node).as<InputAttr>().role;
    request.is_weight.push_back(role == Role::Weight);
  }
  for (NodeId root : roots(graph)) request.results.push_back(planned.class_of[root.index()]);
  return planned;
}

// A plan, run by the reference of what kernels mean.
class InterpretedPlan {
 public:
  InterpretedPlan(const Graph& graph, std::optional<Packing> packing, const Bindings& bindings = {},
                  bool merged = false)
      : graph_(graph), bindings_(bindings) {
    PackRequest request;
    planned_ = plan_of(graph, request, merged);
    if (packing) {
      request.packing = *packing;
      notes_ = pack_weights(planned_, request);
    }
    for (SourceId s : planned_.terms.sources.ids()) sources_.push_back(leaf(s));
    for (auto& step : planned_.plan.steps) run(std::get<KernelStep>(step));
  }

  const std::vector<std::string>& notes() const { return notes_; }
  const PlannedGraph& planned() const { return planned_; }

  // What is packed, in order.
  std::vector<std::string> packed() const {
    std::vector<std::string> names;
    for (const auto& step : planned_.plan.steps) {
      const std::string& name = std::get<KernelStep>(step).packs;
      if (!name.empty()) names.push_back(name);
    }
    return names;
  }
  // The types of the panels, in order.
  std::vector<std::string> panels() const {
    std::vector<std::string> types;
    for (const auto& step : planned_.plan.steps) {
      const auto& kernel = std::get<KernelStep>(step);
      const Param& last = kernel.lowered.kernel.params.back();
      if (!kernel.packs.empty()) types.push_back(std::string(name(last.dtype)) + text(last.dims));
    }
    return types;
  }
  // The elements of the only panels there are.
  std::vector<double> panel_values() const {
    for (const auto& step : planned_.plan.steps) {
      const auto& kernel = std::get<KernelStep>(step);
      if (!kernel.packs.empty()) return values(kernel.lowered.origins.back().value);
    }
    return {};
  }
  std::vector<double> leaf_values(const std::string& leaf_name) const {
    for (SourceId s : sources_.ids()) {
      const Source& source = planned_.terms.sources[s];
      if (source.name == "'" + leaf_name + "'") return values(source.dtype, sources_[s]);
    }
    return {};
  }
  std::vector<std::vector<double>> outputs() const {
    std::vector<std::vector<double>> result;
    for (const Output& output : graph_.outputs()) {
      result.push_back(values(planned_.class_of[output.node.index()]));
    }
    return result;
  }
  // How many kernels of every run read a leaf.
  int readers(const std::string& leaf_name) const {
    int count = 0;
    for (const auto& step : planned_.plan.steps) {
      const auto& kernel = std::get<KernelStep>(step);
      if (!kernel.packs.empty()) continue;
      for (const ParamOrigin& origin : kernel.lowered.origins) {
        if (!origin.source.valid()) continue;
        const Source& source = planned_.terms.sources[origin.source];
        count += source.name == "'" + leaf_name + "'";
      }
    }
    return count;
  }

 private:
  Bytes room(DType dtype, const Dims& dims) const {
    return Bytes(resolve_dims(dims, bindings_)->bytes(dtype));
  }

  // Values that differ from element to element and from leaf to leaf, exact in bf16.
  Bytes leaf(SourceId id) const {
    const Source& source = planned_.terms.sources[id];
    Bytes bytes = room(source.dtype, source.dims);
    const auto count = static_cast<int64_t>(bytes.size() * 8) / bits(source.dtype);
    auto state = static_cast<uint32_t>(id.index() * 7919 + 17);
    for (int64_t i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      const auto value = static_cast<int>(state >> 25) - 64;
      if (is_float(source.dtype)) {
        store_float(source.dtype, bytes.data(), i, value / 16.0);
      } else {
        store_int(source.dtype, bytes.data(), i, std::abs(value) % 8);
      }
    }
    return bytes;
  }

  void run(KernelStep& step) {
    std::vector<std::byte*> params;
    for (ParamId p : step.lowered.origins.ids()) {
      const ParamOrigin& origin = step.lowered.origins[p];
      const Param& param = step.lowered.kernel.params[p];
      const SourceId source =
          origin.source.valid() ? origin.source : planned_.source_of(origin.value);
      if (source.valid()) {
        params.push_back(sources_[source].data());
        continue;
      }
      if (param.output) stored_[origin.value] = room(param.dtype, param.dims);
      ASSERT_TRUE(stored_.contains(origin.value)) << "read before it is stored";
      params.push_back(stored_[origin.value].data());
    }
    interpret_kernel(step.lowered.kernel, bindings_, params);
  }

  std::vector<double> values(ClassId id) const {
    return values(planned_.terms.at(id).dtype, stored_.at(id));
  }
  static std::vector<double> values(DType dtype, const Bytes& bytes) {
    std::vector<double> result(bytes.size() * 8 / static_cast<size_t>(bits(dtype)));
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = load_float(dtype, bytes.data(), static_cast<int64_t>(i));
    }
    return result;
  }

  const Graph& graph_;
  std::vector<std::string> notes_;
  PlannedGraph planned_;
  Bindings bindings_;
  IdVector<SourceId, Bytes> sources_;
  std::map<ClassId, Bytes> stored_;
};

// How many contractions of the plan read their right factor in panels.
int in_panels(const PlannedGraph& planned, const Packing& packing) {
  int count = 0;
  for (const auto& step : planned.plan.steps) {
    const Kernel& kernel = std::get<KernelStep>(step).lowered.kernel;
    const std::optional<ContractionForm> form = contraction_form(kernel);
    if (!form) continue;
    for (const Contraction& contraction : form->contractions) {
      count += reads_panels(kernel, *form, contraction, packing);
    }
  }
  return count;
}

// Packs and returns the plan; its outputs are those of the plan without packing, bit by bit.
InterpretedPlan packed_like_before(const Graph& graph, const Bindings& bindings = {},
                                   const Packing& packing = kPanels) {
  InterpretedPlan packed(graph, packing, bindings);
  const InterpretedPlan before(graph, std::nullopt, bindings);
  EXPECT_EQ(packed.outputs(), before.outputs());
  EXPECT_EQ(in_panels(before.planned(), packing), 0);
  EXPECT_GE(in_panels(packed.planned(), packing), static_cast<int>(packed.packed().size()));
  return packed;
}

struct Layout {
  bool transposed;  // the weight is [N, K]
  int64_t n, k;
  DType dtype;
  int depth;

  friend void PrintTo(const Layout& layout, std::ostream* out) {
    *out << name(layout.dtype) << (layout.transposed ? " [n, k], n " : " [k, n], n ") << layout.n
         << ", k " << layout.k;
  }
};

class Layouts : public testing::TestWithParam<Layout> {};

TEST_P(Layouts, PanelsHoldColumnsSideBySide) {
  const auto [transposed, n, k, dtype, depth] = GetParam();
  Graph graph;
  Tensor x = graph.input("x", {5, k}, dtype);
  Tensor w = graph.weight("w", transposed ? Dims{n, k} : Dims{k, n}, dtype);
  matmul(x, transposed ? w.transpose(0, 1) : w).output("y");
  const InterpretedPlan plan = packed_like_before(graph);
  ASSERT_THAT(plan.packed(), ElementsAre("'w'"));
  const std::vector<double> weight = plan.leaf_values("w");
  const std::vector<double> panels = plan.panel_values();
  const int64_t n_panels = (n + 15) / 16;
  ASSERT_EQ(panels.size(), static_cast<size_t>(n_panels * 16 * k));
  for (int64_t column = 0; column < n; ++column) {
    for (int64_t along = 0; along < k; ++along) {
      const int64_t at =
          ((column / 16 * (k / depth) + along / depth) * 16 + column % 16) * depth + along % depth;
      const int64_t from = transposed ? column * k + along : along * n + column;
      ASSERT_EQ(panels[static_cast<size_t>(at)], weight[static_cast<size_t>(from)])
          << column << ", " << along;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Layouts,
    testing::Values(Layout{false, 32, 24, DType::F32, 1}, Layout{true, 32, 24, DType::F32, 1},
                    Layout{false, 40, 7, DType::F32, 1}, Layout{true, 33, 10, DType::F32, 1},
                    Layout{false, 32, 24, DType::BF16, 2}, Layout{true, 41, 6, DType::BF16, 2},
                    Layout{true, 48, 9, DType::F16, 1}));

TEST(PackWeights, BatchesComeFirst) {
  Graph graph;
  Tensor x = graph.input("x", {3, 5, 8});
  matmul(x, graph.weight("w", {3, 8, 20})).output("y");
  EXPECT_THAT(packed_like_before(graph).panels(), ElementsAre("f32[3, 2, 8, 16, 1]"));
}

TEST(PackWeights, AWeightThatAllBatchesShareHasNoBatch) {
  Graph graph;
  Tensor x = graph.input("x", {3, 5, 8}, DType::BF16);
  Tensor y = matmul(x, graph.weight("w", {8, 20}, DType::BF16));
  y.output("y");
  EXPECT_THAT(packed_like_before(graph).panels(), ElementsAre("i16[2, 4, 16, 2]"));
}

TEST(PackWeights, SeveralColumnLoopsAreOneRowOfColumns) {
  Graph graph;
  Tensor x = graph.input("x", {5, 8});
  Tensor y = matmul(x, graph.weight("w", {8, 3 * 10})).reshape({5, 3, 10});
  y.permute({1, 0, 2}).output("heads");
  EXPECT_THAT(packed_like_before(graph).panels(), ElementsAre("f32[2, 8, 16, 1]"));
}

TEST(PackWeights, RowsMayBeDynamic) {
  Graph graph;
  Tensor x = graph.input("x", {Expr::var("s", 1, 100), 8});
  (matmul(x, graph.weight("w", {8, 32})) + graph.weight("b", {32})).output("y");
  EXPECT_THAT(packed_like_before(graph, {{"s", 7}}).panels(), ElementsAre("f32[2, 8, 16, 1]"));
}

TEST(PackWeights, ADynamicWeightStaysAsItIs) {
  Graph graph;
  const Expr s = Expr::var("s", 1, 100);
  matmul(graph.input("x", {4, s}), graph.weight("w", {s, 32})).output("y");
  EXPECT_THAT(packed_like_before(graph, {{"s", 8}}).packed(), IsEmpty());
}

TEST(PackWeights, GateAndUpAreBothPacked) {
  Graph graph;
  Tensor x = graph.input("x", {5, 16}, DType::BF16);
  Tensor gate = matmul(x, graph.weight("gate", {32, 16}, DType::BF16).transpose(0, 1));
  Tensor up = matmul(x, graph.weight("up", {32, 16}, DType::BF16).transpose(0, 1));
  (silu(gate) * up).output("y");
  EXPECT_THAT(packed_like_before(graph).packed(), testing::UnorderedElementsAre("'gate'", "'up'"));
}

TEST(PackWeights, SlicesOfOneWeightArePackedEach) {
  Graph graph;
  Tensor x = graph.input("x", {5, 8});
  Tensor w = graph.weight("w", {8, 64});
  matmul(x, w.slice(1, 0, 32)).output("low");
  exp(matmul(x, w.slice(1, 32, 64))).output("high");
  const InterpretedPlan plan = packed_like_before(graph);
  EXPECT_THAT(plan.packed(), ElementsAre("'w'", "'w'"));
  EXPECT_EQ(plan.readers("w"), 0);
}

TEST(PackWeights, AWeightOfTwoKernelsIsPackedOnce) {
  Graph graph;
  Tensor w = graph.weight("w", {32, 8});
  matmul(graph.input("x", {5, 8}), w.transpose(0, 1)).output("y");
  matmul(graph.input("z", {2, 7, 8}), w.transpose(0, 1)).output("v");
  const InterpretedPlan plan = packed_like_before(graph);
  EXPECT_EQ(plan.planned().plan.n_kernels(), 3);
  EXPECT_THAT(plan.packed(), ElementsAre("'w'"));
  EXPECT_EQ(in_panels(plan.planned(), kPanels), 2);
  EXPECT_THAT(plan.notes(), IsEmpty());
}

TEST(PackWeights, AKernelOfSeveralOutputsKeepsThemLast) {
  Graph graph;
  Tensor x = graph.input("x", {5, 8});
  matmul(x, graph.weight("q", {8, 32})).output("queries");
  matmul(x, graph.weight("k", {8, 32})).output("keys");
  const InterpretedPlan plan(graph, kPanels, {}, true);
  EXPECT_EQ(plan.outputs(), InterpretedPlan(graph, std::nullopt).outputs());
  EXPECT_EQ(plan.packed().size(), 2u);
  EXPECT_EQ(in_panels(plan.planned(), kPanels), 2);
  const auto& params = std::get<KernelStep>(plan.planned().plan.steps.back()).lowered.kernel.params;
  ASSERT_EQ(params.size(), 5u);
  for (ParamId p : params.ids()) EXPECT_EQ(params[p].output, p >= ParamId{3}) << p.value;
}

TEST(PackWeights, ATiedWeightIsHeldTwiceAndTheReportSaysWhy) {
  Graph graph;
  Tensor w = graph.weight("w", {64, 16});
  Tensor x = index_select(w, 0, graph.input("tokens", {5}, DType::I64));
  matmul(x.materialize(), w.transpose(0, 1)).output("logits");
  const InterpretedPlan plan = packed_like_before(graph);
  EXPECT_THAT(plan.packed(), ElementsAre("'w'"));
  EXPECT_EQ(plan.readers("w"), 1);
  EXPECT_THAT(plan.notes(), ElementsAre("'w' is stored more than once, 4096 bytes of it as packed "
                                        "panels: kernel 0 reads it unpacked"));
}

TEST(PackWeights, InputsAndStatesStayAsTheyAre) {
  Graph graph;
  Tensor x = graph.input("x", {5, 8});
  Tensor state = graph.state("state", {8, 32});
  matmul(x, graph.input("w", {8, 32})).output("y");
  matmul(x, state).output("z");
  graph.update(state, state * 0.5);
  EXPECT_THAT(packed_like_before(graph).packed(), IsEmpty());
}

TEST(PackWeights, WhatDependsOnAnInputTooStaysAsItIs) {
  Graph graph;
  Tensor w = (graph.weight("w", {8, 32}) * graph.input("scale", {1, 32}).expand({8, 32}));
  matmul(graph.input("x", {5, 8}), w.materialize()).output("y");
  EXPECT_THAT(packed_like_before(graph).packed(), IsEmpty());
}

TEST(PackWeights, AGatheredWeightStaysAsItIs) {
  Graph graph;
  Tensor chosen = index_select(graph.weight("w", {8, 4, 32}), 0, graph.input("e", {3}, DType::I64));
  matmul(graph.input("x", {3, 5, 4}), chosen).output("y");
  EXPECT_THAT(packed_like_before(graph).packed(), IsEmpty());
}

TEST(PackWeights, PaddingIsNeverMoreThanTheWeight) {
  for (int64_t n : {1, 7, 8, 17}) {
    Graph graph;
    matmul(graph.input("x", {5, 8}), graph.weight("w", {8, n})).output("y");
    EXPECT_EQ(packed_like_before(graph).packed().size(), n >= 8 ? 1u : 0u) << n;
  }
}

TEST(PackWeights, PairsComeWhole) {
  Graph graph;
  Tensor x = graph.input("x", {5, 9}, DType::BF16);
  matmul(x, graph.weight("w", {9, 32}, DType::BF16)).output("y");
  EXPECT_THAT(packed_like_before(graph).packed(), IsEmpty());
  EXPECT_THAT(packed_like_before(graph, {}, {.lanes = 8, .bf16_depth = 1}).panels(),
              ElementsAre("i16[4, 9, 8, 1]"));
}

// Pairs that lie side by side in the weight too are moved as words.
TEST(PackWeights, PairsThatStayTogetherAreWords) {
  Graph graph;
  Tensor x = graph.input("x", {5, 8}, DType::BF16);
  matmul(x, graph.weight("w", {32, 8}, DType::BF16).t()).output("y");
  EXPECT_THAT(packed_like_before(graph).panels(), ElementsAre("i32[2, 4, 16]"));
}

TEST(PackWeights, WhatIsComputedOfWeightsAloneIsPackedTogether) {
  Graph graph;
  Tensor w = (graph.weight("w", {8, 32}) * graph.weight("scale", {8, 32})).materialize();
  matmul(graph.input("x", {5, 8}), w).output("y");
  EXPECT_THAT(packed_like_before(graph).packed(), ElementsAre("the result of kernel 0"));
}

// Each run writes it anew, so that panels of it would be made in each run too.
TEST(PackWeights, AResultOfWeightsStaysAsItIs) {
  Graph graph;
  Tensor w = (graph.weight("w", {8, 32}) * graph.weight("scale", {8, 32})).materialize();
  w.output("scaled");
  matmul(graph.input("x", {5, 8}), w).output("y");
  EXPECT_THAT(packed_like_before(graph).packed(), IsEmpty());
}

// One row of few columns: by any model each column is a point of its own.
constexpr int64_t kRow = 4096;
constexpr int64_t kFewColumns = 20;

std::shared_ptr<Graph> row_times_matrix() {
  auto graph = std::make_shared<Graph>();
  Tensor x = graph->input("x", {1, kRow});
  matmul(x, graph->weight("w", {kRow, kFewColumns})).output("y");
  return graph;
}

TEST(PackWeights, ReportsTellPanelsFromKernels) {
  const auto graph = row_times_matrix();
  CompileReport report;
  plan_graph(*graph, roots(*graph), {.report = &report}, report, kPanels);
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[0].name, "panels of 'w'");
  EXPECT_TRUE(report.kernels[0].packs);
  EXPECT_EQ(report.kernels[1].name, "kernel 0");
  EXPECT_EQ(report.n_packing(), 1u);
  EXPECT_THAT(report.text(), HasSubstr("plan: 1 kernels"));
  EXPECT_THAT(report.text(), HasSubstr("weights packed into panels: 1"));
}

TEST(PackWeights, PanelsAreMadeOnceAndTheWeightIsNotReadAgain) {
  const auto graph = row_times_matrix();
  CompileReport report;
  backends::LoadRequest request;
  request.graph = graph;
  request.ports = {.leaves = graph->leaves(), .results = {graph->outputs()[0].node}};
  request.planned = plan_graph(*graph, roots(*graph), {}, report, kPanels);
  const auto program = std::move(backends::find_backend("cpu").load({&request, 1}, nullptr)[0]);
  std::vector<runtime::Buffer> buffers;
  for (int64_t count : {kRow, kRow * kFewColumns, kFewColumns}) {
    buffers.push_back(runtime::Buffer::allocate(static_cast<size_t>(count) * 4));
  }
  auto floats = [&](size_t port) {
    return reinterpret_cast<float*>(buffers[port].writable().data());
  };
  for (int64_t i = 0; i < kRow; ++i) floats(0)[i] = static_cast<float>(i % 7 - 3);
  for (int64_t i = 0; i < kRow * kFewColumns; ++i) floats(1)[i] = static_cast<float>(i % 11 - 5);
  EXPECT_TRUE(program->reads()[1]);
  program->run({}, buffers, {});
  EXPECT_FALSE(program->reads()[1]);
  for (int64_t column = 0; column < kFewColumns; ++column) {
    float sum = 0;
    for (int64_t k = 0; k < kRow; ++k) sum += floats(0)[k] * floats(1)[k * kFewColumns + column];
    EXPECT_EQ(floats(2)[column], sum);
  }
  const runtime::MemoryUse use = program->plan_memory({}, true);
  ASSERT_EQ(use.kept.size(), 1u);
  EXPECT_EQ(use.kept[0].name, "f32[2, 4096, 16, 1] panels of 'w'");
}

}  // namespace
}  // namespace luminal::kernel
