#include "luminal/driver/check_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/driver/elements.h"
#include "luminal/graph/custom_op.h"
#include "luminal/kernel/interpret_kernel.h"
#include "luminal/shape/resolve_dims.h"

namespace luminal {
namespace {

// Wider than any vector a kernel stores, so that a store past the end hits it.
constexpr size_t kCanaryBytes = 4096;
constexpr auto kCanary = std::byte{0xC5};
constexpr auto kPoison = std::byte{0xFF};  // NaN in every float
constexpr size_t kAlignment = 64;          // as kernels may want their outputs

// How far a value may be from what it should be, relative to its own size and to the largest one of
// its tensor: sums cancel. Each is a few hundred roundings, far from what a wrong term makes.
double tolerance(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return 1e-11;
    case DType::F32:
      return 1e-4;
    case DType::F16:
      return 2e-2;
    case DType::BF16:
      return 1e-1;
    default:
      return 0;
  }
}

// Integers and bool that comparisons and casts of floats decide differ where the last bits of those
// do. A kernel that is wrong is wrong in more of its elements than this share.
constexpr double kMayTurn = 0.25;

// Whether an integer or bool is made of a float anywhere in the graph.
bool floats_decide(const Graph& graph) {
  for (size_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(NodeId{static_cast<uint32_t>(id)});
    if (is_float(node.dtype)) continue;
    for (NodeId input : node.inputs) {
      if (is_float(graph.node(input).dtype)) return true;
    }
  }
  return false;
}

bool untouched(const TensorData& data, size_t element) {
  const size_t width = static_cast<size_t>(std::max(bits(data.dtype), 8)) / 8;
  const auto bytes = data.bytes.subspan(element * width, width);
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == kPoison; });
}

// What is wrong, or nothing. `may_turn`: elements that aren't floats may depend on roundings.
std::string compare(const TensorData& found, const TensorData& expected, bool may_turn) {
  const std::vector<double> ours = found.to_doubles();
  const std::vector<double> theirs = expected.to_doubles();
  double largest = 0;
  for (double value : theirs) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  const double relative = tolerance(found.dtype);
  size_t first = ours.size();
  size_t wrong = 0;
  double worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double off = difference(ours[i], theirs[i]);
    if (off == 0 || off <= relative * (std::fabs(theirs[i]) + largest)) continue;
    first = std::min(first, i);
    ++wrong;
    worst = std::max(worst, off);
  }
  if (wrong == 0) return {};
  const bool few = static_cast<double>(wrong) <= kMayTurn * static_cast<double>(ours.size());
  if (may_turn && few && !is_float(found.dtype)) return {};
  return fmt::format(
      "first wrong element {}: {:.9g}{}, expected {:.9g}; {} of {} are wrong, the "
      "largest error is {:.3g}",
      position_text(first, found.dims), ours[first],
      untouched(found, first) ? " (never written)" : "", theirs[first], wrong, ours.size(), worst);
}

[[noreturn]] void accuse(const StepNote& note, const std::string& what, const std::string& detail) {
  if (note.of_user) throw UserError(fmt::format("{} is wrong: {}\n  {}", note.name, what, detail));
  throw InternalError(
      fmt::format("{} is wrong: {}\n  {}\n  ops: {}\n  rules behind its terms: {}", note.name, what,
                  detail, fmt::join(note.ops, ", "),
                  note.rules.empty() ? "none" : fmt::format("{}", fmt::join(note.rules, ", "))));
}

}  // namespace

StepChecker::StepChecker(const Graph& graph, const StepNotes& notes, const Bindings& bindings,
                         const interpret::LeafData& leaf)
    : graph_(graph), notes_(notes), bindings_(bindings), floats_decide_(floats_decide(graph)) {
  expect_nodes(leaf);
}

// The graph's value of everything that a kernel stores, where a node has it. All are evaluated
// together, so that shared work is done once.
void StepChecker::expect_nodes(const interpret::LeafData& leaf) {
  const auto& class_of = notes_.planned->class_of;
  for (size_t id = class_of.size(); id-- > 0;) {
    if (class_of[id].valid()) node_of_[class_of[id]] = NodeId{static_cast<uint32_t>(id)};
  }
  std::vector<kernel::ClassId> classes;
  std::vector<NodeId> nodes;
  for (const auto& step : notes_.planned->plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    for (size_t p = 0; p < kernel->lowered.origins.size(); ++p) {
      if (!kernel->lowered.kernel.params[p].output) continue;
      const auto node = node_of_.find(kernel->lowered.origins[p].value);
      if (node == node_of_.end()) continue;
      classes.push_back(node->first);
      nodes.push_back(node->second);
    }
  }
  interpret::Interpreter interpreter(graph_, bindings_, leaf);
  const std::vector<TensorData> values = interpreter.values(nodes);
  for (size_t i = 0; i < nodes.size(); ++i) expected_.emplace(classes[i], values[i]);
}

const kernel::KernelStep* StepChecker::kernel_at(int step) const {
  if (step < 0) return nullptr;
  return std::get_if<kernel::KernelStep>(&notes_.planned->plan.steps[static_cast<size_t>(step)]);
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
  if (const auto own = own_kernel_at(graph_, *notes_.planned, view.step)) {
    return guard(view, view.params.size() - 1, graph_.node(*own).dtype, graph_.node(*own).dims);
  }
  const kernel::KernelStep* step = kernel_at(view.step);
  if (step == nullptr) return;
  for (size_t p = 0; p < view.params.size(); ++p) {
    const kernel::Param& param = step->lowered.kernel.params[p];
    if (param.output) guard(view, p, param.dtype, param.dims);
  }
}

void StepChecker::after(const runtime::StepView& view) {
  if (const auto own = own_kernel_at(graph_, *notes_.planned, view.step)) {
    return check_own_kernel(view, *own);
  }
  const kernel::KernelStep* step = kernel_at(view.step);
  if (step == nullptr) return;
  const StepNote& note = notes_.steps[static_cast<size_t>(view.step)];
  for (const Guarded& output : outputs_) check_canaries(note, output);
  check_against_loops(note, step->lowered.kernel, view.params);
  check_against_graph(note, step->lowered, view.params);
  give_back(view);
}

void StepChecker::check_own_kernel(const runtime::StepView& view, NodeId id) const {
  const StepNote& note = notes_.steps[static_cast<size_t>(view.step)];
  for (const Guarded& output : outputs_) check_canaries(note, output);
  const Node& node = graph_.node(id);
  std::vector<TensorData> operands;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const Node& input = graph_.node(node.inputs[k]);
    operands.push_back(value_at(input.dtype, input.dims, view.params[k]));
  }
  const TensorData found = value_at(node.dtype, node.dims, view.params.back());
  TensorData::Writable expected = TensorData::zeros(node.dtype, found.dims);
  node.as<CustomAttr>().op->compute(operands, expected);
  const std::string wrong = compare(found, expected.data, floats_decide_);
  if (!wrong.empty()) accuse(note, "the kernel doesn't do what the op's compute does", wrong);
  give_back(view);
}

void StepChecker::check_canaries(const StepNote& note, const Guarded& output) const {
  const std::byte* begin = output.memory.data();
  const std::byte* end = begin + output.memory.size();
  for (const std::byte* at = begin; at < output.start; ++at) {
    if (*at == kCanary) continue;
    accuse(
        note, "it writes outside of its output",
        fmt::format("{} bytes before the start of its {} bytes", output.start - at, output.size));
  }
  for (const std::byte* at = output.start + output.size; at < end; ++at) {
    if (*at == kCanary) continue;
    accuse(note, "it writes outside of its output",
           fmt::format("{} bytes past the end of its {} bytes",
                       at - (output.start + output.size) + 1, output.size));
  }
}

void StepChecker::check_against_loops(const StepNote& note, const kernel::Kernel& kernel,
                                      std::span<const void* const> params) const {
  // The loops would read what a library has packed, and nobody kept.
  if (std::find(params.begin(), params.end(), nullptr) != params.end()) return;
  std::vector<std::byte*> reference;
  std::vector<std::vector<std::byte>> results(params.size());
  for (size_t p = 0; p < params.size(); ++p) {
    reference.push_back(static_cast<std::byte*>(const_cast<void*>(params[p])));
    if (!kernel.params[p].output) continue;
    results[p].resize(value_at(kernel.params[p], nullptr).bytes.size());
    reference.back() = results[p].data();
  }
  kernel::interpret_kernel(kernel, bindings_, reference);
  for (size_t p = 0; p < params.size(); ++p) {
    if (!kernel.params[p].output) continue;
    const std::string wrong = compare(value_at(kernel.params[p], params[p]),
                                      value_at(kernel.params[p], reference[p]), floats_decide_);
    if (wrong.empty()) continue;
    accuse(note,
           fmt::format("{} doesn't do what its loops say",
                       note.library.empty() ? "the compiled code" : note.library),
           wrong);
  }
}

void StepChecker::check_against_graph(const StepNote& note, const kernel::LoweredKernel& lowered,
                                      std::span<const void* const> params) const {
  for (size_t p = 0; p < params.size(); ++p) {
    const kernel::Param& param = lowered.kernel.params[p];
    const kernel::ClassId value = lowered.origins[p].value;
    const auto expected = expected_.find(value);
    if (!param.output || expected == expected_.end()) continue;
    const std::string wrong = compare(value_at(param, params[p]), expected->second, floats_decide_);
    if (wrong.empty()) continue;
    accuse(note,
           fmt::format("its loops don't compute {}: a rule or the lowering is wrong",
                       graph_.describe(node_of_.at(value))),
           wrong);
  }
}

}  // namespace luminal
