#include "luminal/driver/check/check_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/hash.h"
#include "luminal/driver/check/compare_values.h"
#include "luminal/driver/check/elements.h"
#include "luminal/graph/call_custom.h"
#include "luminal/kernel/ir/interpret_kernel.h"
#include "luminal/shape/index/resolve_dims.h"
#include "luminal/shape/scalar.h"

namespace luminal {
namespace {

// Wider than any vector a kernel stores, so that a store past the end hits it.
constexpr size_t kCanaryBytes = 4096;
constexpr auto kCanary = std::byte{0xC5};
constexpr size_t kAlignment = 64;  // that kernels may require of outputs

// The inputs of a kernel may already differ from the graph's values; where large numbers cancel,
// its results differ by a few times as much, however small they are.
constexpr double kInherits = 4;

// Whether an integer or bool is computed from a float anywhere in the graph.
bool floats_decide(const Graph& graph) {
  for (size_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(NodeId::at(id));
    if (is_float(node.dtype)) continue;
    for (NodeId input : node.inputs) {
      if (is_float(graph.node(input).dtype)) return true;
    }
  }
  return false;
}

// Whether the bits of a float are read as an integer, and those of an integer as a float.
bool bits_decide(const Graph& graph) {
  bool taken = false, given = false;
  for (uint32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(NodeId{id});
    if (node.op != Op::Bitcast) continue;
    const bool from_float = is_float(graph.node(node.inputs[0]).dtype);
    taken |= from_float && !is_float(node.dtype);
    given |= !from_float && is_float(node.dtype);
  }
  return taken && given;
}

DType less_precise(DType a, DType b) { return step_tolerance(a) < step_tolerance(b) ? b : a; }

// The least precise float type that a kernel computes in. An f32 computed from bf16 has their
// rounding errors, and kernels may skip some of the roundings.
DType least_precise(const kernel::Kernel& kernel) {
  DType least = DType::F64;
  for (const kernel::Stage& stage : kernel.stages) {
    for (const kernel::Inst& inst : stage.body) {
      const bool computed = std::holds_alternative<kernel::OpInst>(inst.what);
      if (computed && is_float(inst.dtype)) least = less_precise(least, inst.dtype);
    }
  }
  return least;
}

DType least_precise(const Graph& graph) {
  DType least = DType::F64;
  for (uint32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(NodeId{id});
    const bool computed = !node.removed && node.op != Op::Input && node.op != Op::View;
    if (computed && is_float(node.dtype)) least = less_precise(least, node.dtype);
  }
  return least;
}

// Over finite differences.
double largest_difference(const TensorData& found, const TensorData& expected) {
  const std::vector<double> ours = found.to_doubles(), theirs = expected.to_doubles();
  double largest = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double off = difference(ours[i], theirs[i]);
    if (std::isfinite(off)) largest = std::max(largest, off);
  }
  return largest;
}

// Points at which a large kernel is compared: a few, the same ones each time. Empty: everywhere.
std::vector<int64_t> sampled_points(const kernel::Kernel& kernel, const Bindings& bindings,
                                    double most_operations) {
  const kernel::InterpretedWork work = kernel::interpreted_work(kernel, bindings);
  const bool updates = std::ranges::any_of(kernel.stages, [](const kernel::Stage& stage) {
    return std::holds_alternative<kernel::UpdateTarget>(stage.target);
  });
  if (work.operations <= most_operations || work.points <= 2 || updates) return {};
  constexpr int64_t kSamples = 64;
  const double per_point = work.operations / static_cast<double>(work.points);
  const auto afford = static_cast<int64_t>(most_operations / per_point);
  const int64_t count = std::clamp<int64_t>(afford, 2, kSamples);
  const int64_t last = work.points - 1;
  // Tiles have edges at multiples of 16 and of the rows that a block has.
  std::vector<int64_t> points = {0, last};
  for (int64_t edge : {15, 16, 17, 31, 32, 47, 48, 63, 64}) {
    points.push_back(std::min(edge, last));
    points.push_back(std::max<int64_t>(last - edge, 0));
  }
  uint64_t random = 0x9e3779b97f4a7c15u;
  while (static_cast<int64_t>(points.size()) < kSamples) {
    random = base::mix(random);
    points.push_back(static_cast<int64_t>(random % static_cast<uint64_t>(work.points)));
  }
  points.resize(static_cast<size_t>(count));
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace

StepChecker::StepChecker(const Graph& graph, const StepNotes& notes, const Bindings& bindings,
                         const interpret::LeafData& leaf, StepChecks checks)
    : graph_(graph),
      notes_(notes),
      bindings_(bindings),
      checks_(std::move(checks)),
      floats_decide_(floats_decide(graph)),
      bits_decide_(bits_decide(graph)) {
  if (!checks_.against_graph) return;
  keep_leaves(leaf);
  expect_nodes();
}

// States change during the run: references that are computed later need the old values.
void StepChecker::keep_leaves(const interpret::LeafData& leaf) {
  std::map<NodeId, TensorData> states;
  for (NodeId id : graph_.leaves()) {
    if (graph_.node(id).as<InputAttr>().role != Role::State) continue;
    const TensorData data = leaf(id);
    states.emplace(id, TensorData::copy_bytes(data.dtype, data.bytes, data.dims));
  }
  leaf_ = [&leaf, states = std::move(states)](NodeId id) {
    const auto state = states.find(id);
    return state == states.end() ? leaf(id) : state->second;
  };
}

// The graph's value of everything that a kernel stores, where a node has it. All are evaluated
// together, so that shared work is done once.
void StepChecker::expect_nodes() {
  const auto& class_of = notes_.planned->class_of;
  for (size_t id = class_of.size(); id-- > 0;) {
    if (class_of[id].valid()) node_of_[class_of[id]] = NodeId::at(id);
  }
  std::vector<kernel::ClassId> classes;
  std::vector<NodeId> nodes;
  for (const auto& step : notes_.planned->plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    for (kernel::ParamId p : kernel->lowered.origins.ids()) {
      if (!kernel->lowered.kernel.params[p].output) continue;
      const auto node = node_of_.find(kernel->lowered.origins[p].value);
      if (node == node_of_.end()) continue;
      classes.push_back(node->first);
      nodes.push_back(node->second);
    }
  }
  interpret::Interpreter interpreter(graph_, bindings_, leaf_);
  const std::vector<TensorData> values = interpreter.values(nodes);
  for (size_t i = 0; i < nodes.size(); ++i) expected_.emplace(classes[i], values[i]);
}

void StepChecker::accuse(StepFault fault, const std::string& what) const {
  const StepNote& note = notes_.steps[fault.step];
  if (fault.wrong) fault.detail = text(*fault.wrong);
  std::string message = fmt::format("{} is wrong: {}\n  {}", note.name, what, fault.detail);
  if (checks_.fault != nullptr) *checks_.fault = std::move(fault);
  if (note.of_user) throw UserError(message);
  throw InternalError(fmt::format(
      "{}\n{}  ops: {}\n  rules behind its terms: {}", message,
      note.title.empty() ? "" : fmt::format("  part: {}\n", note.title), fmt::join(note.ops, ", "),
      note.rules.empty() ? "none" : fmt::format("{}", fmt::join(note.rules, ", "))));
}

const kernel::KernelStep* StepChecker::kernel_at(kernel::StepId step) const {
  if (!step.valid()) return nullptr;
  if (!checks_.of_steps.empty() && !checks_.of_steps[step]) return nullptr;
  return std::get_if<kernel::KernelStep>(&notes_.planned->plan.at(step));
}

TensorData StepChecker::value_at(DType dtype, const Dims& dims, const void* data) const {
  const Result<ResolvedDims> sizes = resolve_dims(dims, bindings_);
  LUMINAL_CHECK(sizes, sizes.why());
  return {.dtype = dtype,
          .dims = sizes->sizes,
          .bytes = {static_cast<const std::byte*>(data), sizes->bytes(dtype)},
          .owner = nullptr};
}

void StepChecker::guard(const runtime::StepView& view, size_t param, DType dtype,
                        const Dims& dims) {
  Guarded output{.param = param,
                 .wanted = static_cast<std::byte*>(const_cast<void*>(view.params[param])),
                 .size = value_at(dtype, dims, nullptr).bytes.size(),
                 .memory = {},
                 .start = nullptr};
  output.memory.assign(output.size + 2 * kCanaryBytes + kAlignment, kCanary);
  const auto address = reinterpret_cast<uintptr_t>(output.memory.data() + kCanaryBytes);
  output.start =
      output.memory.data() + kCanaryBytes + (kAlignment - address % kAlignment) % kAlignment;
  std::fill_n(output.start, output.size, kPoison);
  view.params[param] = output.start;
  outputs_.push_back(std::move(output));
}

void StepChecker::give_back(const runtime::StepView& view) const {
  for (const Guarded& output : outputs_) {
    if (output.size > 0) std::memcpy(output.wanted, output.start, output.size);
    view.params[output.param] = output.wanted;
  }
}

void StepChecker::before(const runtime::StepView& view) {
  outputs_.clear();
  const kernel::StepId id = step_of(view);
  if (const auto own = own_kernel_at(graph_, *notes_.planned, id)) {
    return guard(view, view.params.size() - 1, graph_.node(*own).dtype, graph_.node(*own).dims);
  }
  const kernel::KernelStep* step = kernel_at(id);
  if (step == nullptr) return;
  for (kernel::ParamId p : step->lowered.kernel.params.ids()) {
    const kernel::Param& param = step->lowered.kernel.params[p];
    if (param.output) guard(view, p.index(), param.dtype, param.dims);
  }
}

void StepChecker::after(const runtime::StepView& view) {
  const kernel::StepId id = step_of(view);
  if (const auto own = own_kernel_at(graph_, *notes_.planned, id)) {
    return check_own_kernel(view, *own);
  }
  const kernel::KernelStep* step = kernel_at(id);
  if (step == nullptr) return;
  for (const Guarded& output : outputs_) check_canaries(id, output);
  const double inside = check_against_loops(id, step->lowered.kernel, view.params);
  check_against_graph(id, step->lowered, view.params, inside);
  give_back(view);
}

void StepChecker::check_own_kernel(const runtime::StepView& view, NodeId id) const {
  for (const Guarded& output : outputs_) check_canaries(step_of(view), output);
  const Node& node = graph_.node(id);
  std::vector<TensorData> operands;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const Node& input = graph_.node(node.inputs[k]);
    operands.push_back(value_at(input.dtype, input.dims, view.params[k]));
  }
  const TensorData found = value_at(node.dtype, node.dims, view.params.back());
  TensorData::Writable expected = TensorData::zeros(node.dtype, found.dims);
  const CustomOp& op = *node.as<CustomAttr>().op;
  call_custom(op, "compute", [&] { op.compute(operands, expected); });
  if (auto wrong = compare_values({.found = found,
                                   .expected = expected.data,
                                   .allowance = {.least = node.dtype},
                                   .may_turn = floats_decide_})) {
    accuse({.kind = StepFault::Kind::OwnKernel,
            .step = step_of(view),
            .node = id,
            .detail = {},
            .wrong = std::move(wrong)},
           "the kernel disagrees with the op's compute");
  }
  give_back(view);
}

void StepChecker::check_canaries(kernel::StepId step, const Guarded& output) const {
  const auto outside = [&](std::string where) {
    accuse({.kind = StepFault::Kind::WritesOutside,
            .step = step,
            .detail = fmt::format("{} of its {} bytes", where, output.size),
            .wrong = {}},
           "it writes outside its output");
  };
  const std::byte* begin = output.memory.data();
  const std::byte* end = begin + output.memory.size();
  for (const std::byte* at = begin; at < output.start; ++at) {
    if (*at != kCanary) outside(fmt::format("{} bytes before the start", output.start - at));
  }
  for (const std::byte* at = output.start + output.size; at < end; ++at) {
    if (*at == kCanary) continue;
    outside(fmt::format("{} bytes past the end", at - (output.start + output.size) + 1));
  }
}

namespace {

// A kernel's loops, interpreted over the inputs it read: all of its outputs.
class LoopReference {
 public:
  LoopReference(const kernel::Kernel& kernel, const Bindings& bindings,
                std::span<const void* const> params,
                const IdVector<kernel::ParamId, size_t>& output_bytes,
                const std::vector<int64_t>& points, const interpret::Arithmetic& arithmetic) {
    std::vector<std::byte*> memory;
    results_.resize(params.size());
    written_.resize(params.size());
    for (kernel::ParamId p : kernel.params.ids()) {
      memory.push_back(static_cast<std::byte*>(const_cast<void*>(params[p.index()])));
      if (!kernel.params[p].output) continue;
      results_[p].resize(output_bytes[p]);
      memory.back() = results_[p].data();
    }
    if (points.empty()) {
      inside_ = kernel::interpret_kernel(kernel, bindings, memory, arithmetic);
      return;
    }
    const auto some = kernel::interpret_points(kernel, bindings, memory, points, arithmetic);
    for (const auto& [param, at] : some.written) written_[param].push_back(at);
    inside_ = some.largest;
  }

  const std::vector<std::byte>& result(kernel::ParamId param) const { return results_[param]; }
  // With points: the elements that were written there.
  const std::vector<int64_t>& written(kernel::ParamId param) const { return written_[param]; }
  // The largest magnitude inside of the kernel.
  double inside() const { return inside_; }

 private:
  IdVector<kernel::ParamId, std::vector<std::byte>> results_;
  IdVector<kernel::ParamId, std::vector<int64_t>> written_;
  double inside_ = 0;
};

}  // namespace

double StepChecker::check_against_loops(kernel::StepId step, const kernel::Kernel& kernel,
                                        std::span<const void* const> params) const {
  // The loops would read weights that a library has packed and that weren't kept.
  if (std::find(params.begin(), params.end(), nullptr) != params.end()) return 0;
  IdVector<kernel::ParamId, size_t> output_bytes(params.size(), 0);
  for (kernel::ParamId p : kernel.params.ids()) {
    if (!kernel.params[p].output) continue;
    output_bytes[p] = value_at(kernel.params[p], nullptr).bytes.size();
  }
  const std::vector<int64_t> points = sampled_points(kernel, bindings_, checks_.most_operations);
  const auto interpreted = [&](const interpret::Arithmetic& arithmetic) {
    return LoopReference(kernel, bindings_, params, output_bytes, points, arithmetic);
  };
  const LoopReference reference = interpreted({});
  for (kernel::ParamId p : kernel.params.ids()) {
    const kernel::Param& param = kernel.params[p];
    if (!param.output) continue;
    const TensorData found = value_at(param, params[p.index()]);
    auto wrong =
        compare_values({.found = found,
                        .expected = value_at(param, reference.result(p).data()),
                        .allowance = {.least = least_precise(kernel), .inside = reference.inside()},
                        .may_turn = floats_decide_,
                        .bits_decide = bits_decide_,
                        .at = points.empty() ? nullptr : &reference.written(p),
                        .varied = [&](const interpret::Arithmetic& arithmetic) {
                          const LoopReference varied = interpreted(arithmetic);
                          return TensorData::copy_bytes(param.dtype, varied.result(p), found.dims);
                        }});
    if (!wrong) continue;
    const std::string& library = notes_.steps[step].library;
    accuse({.kind = StepFault::Kind::Code, .step = step, .detail = {}, .wrong = std::move(wrong)},
           fmt::format("{} disagrees with its loops",
                       library.empty() ? "the compiled code" : library));
  }
  return reference.inside();
}

void StepChecker::check_against_graph(kernel::StepId step, const kernel::LoweredKernel& lowered,
                                      std::span<const void* const> params, double inside) {
  Allowance allowance{.least = least_precise(graph_), .inside = inside};
  for (kernel::ParamId p : lowered.origins.ids()) {
    const auto known = off_.find(lowered.origins[p].value);
    if (lowered.kernel.params[p].output || known == off_.end()) continue;
    allowance.inherited += kInherits * known->second;
  }
  for (kernel::ParamId p : lowered.origins.ids()) {
    const kernel::Param& param = lowered.kernel.params[p];
    const kernel::ClassId value = lowered.origins[p].value;
    const auto expected = expected_.find(value);
    if (!param.output || expected == expected_.end()) continue;
    const TensorData found = value_at(param, params[p.index()]);
    const NodeId node = node_of_.at(value);
    auto wrong =
        compare_values({.found = found,
                        .expected = expected->second,
                        .allowance = allowance,
                        .may_turn = floats_decide_,
                        .bits_decide = bits_decide_,
                        .varied = [&](const interpret::Arithmetic& arithmetic) {
                          interpret::Interpreter interpreter(
                              graph_, bindings_, leaf_,
                              {.variation = arithmetic.variation, .seed = arithmetic.seed});
                          return std::move(interpreter.values({&node, 1})[0]);
                        }});
    if (is_float(param.dtype)) off_[value] = largest_difference(found, expected->second);
    if (!wrong) continue;
    accuse({.kind = StepFault::Kind::Terms,
            .step = step,
            .node = node,
            .detail = {},
            .wrong = std::move(wrong)},
           fmt::format("its loops don't compute {}: a rule or the lowering is wrong",
                       graph_.describe(node)));
  }
}

}  // namespace luminal
