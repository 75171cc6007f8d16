#include "luminal/driver/check_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/hash.h"
#include "luminal/driver/elements.h"
#include "luminal/graph/custom_op.h"
#include "luminal/kernel/interpret_kernel.h"
#include "luminal/shape/resolve_dims.h"
#include "luminal/shape/scalar.h"

namespace luminal {
namespace {

// Wider than any vector a kernel stores, so that a store past the end hits it.
constexpr size_t kCanaryBytes = 4096;
constexpr auto kCanary = std::byte{0xC5};
constexpr auto kPoison = std::byte{0xFF};  // NaN in every float
constexpr size_t kAlignment = 64;          // as kernels may want their outputs

// How far a value may be from what it should be, relative to its own size and to the largest one of
// its tensor: sums cancel. Each is a few hundred roundings, far from what a wrong term makes.
double step_tolerance(DType dtype) {
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
// Where all of a result is what is left of larger numbers, it is off by a few of their roundings.
constexpr double kCancels = 0.01;
// What a kernel reads may be off from the graph's values already; where larger numbers cancel, what
// it stores is off by a few times as much, however small it is.
constexpr double kInherits = 4;

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

DType less_precise(DType a, DType b) { return step_tolerance(a) < step_tolerance(b) ? b : a; }

// The least precise floats that a kernel computes with. An f32 that it makes of bf16 differs by
// their roundings, of which kernels may leave out some.
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

double element(const TensorData& data, int64_t at) {
  return is_float(data.dtype) ? load_float(data.dtype, data.bytes.data(), at)
                              : static_cast<double>(load_int(data.dtype, data.bytes.data(), at));
}

// Adds an element that is wrong.
void blame(WrongElements& wrong, size_t position, double found, double expected, double off) {
  if (wrong.count++ == 0) {
    wrong.first = position;
    wrong.found = found;
    wrong.expected = expected;
    wrong.lowest = wrong.dims;
  }
  wrong.largest = std::max(wrong.largest, off);
  auto rest = static_cast<int64_t>(position);
  for (size_t d = wrong.dims.size(); d-- > 0; rest /= wrong.dims[d]) {
    wrong.lowest[d] = std::min(wrong.lowest[d], rest % wrong.dims[d]);
  }
}

// How far numbers may be off: by the least precise dtype that they are computed in, by the largest
// magnitude inside of the kernel, and by so much in any case.
struct Allowance {
  DType least;
  double inside = 0;
  double inherited = 0;
};

// What is wrong, or nothing. `may_turn`: elements that aren't floats may depend on roundings. With
// `at`, these elements alone.
std::optional<WrongElements> compare(const TensorData& found, const TensorData& expected,
                                     bool may_turn, const Allowance& allowance,
                                     const std::vector<int64_t>* at = nullptr) {
  std::vector<double> ours, theirs;
  if (at == nullptr) {
    ours = found.to_doubles();
    theirs = expected.to_doubles();
  } else {
    for (int64_t position : *at) {
      ours.push_back(element(found, position));
      theirs.push_back(element(expected, position));
    }
  }
  double largest = 0;
  for (double value : theirs) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  const double relative =
      is_float(found.dtype) ? std::max(step_tolerance(found.dtype), step_tolerance(allowance.least))
                            : 0;
  WrongElements wrong{.dims = found.dims, .of = ours.size(), .lowest = {}};
  for (size_t i = 0; i < ours.size(); ++i) {
    const double off = difference(ours[i], theirs[i]);
    const double size = std::fabs(theirs[i]) + largest + kCancels * allowance.inside;
    if (off == 0 || off <= relative * size + allowance.inherited) continue;
    blame(wrong, at == nullptr ? i : static_cast<size_t>((*at)[i]), ours[i], theirs[i], off);
  }
  if (wrong.count == 0) return std::nullopt;
  const bool few = static_cast<double>(wrong.count) <= kMayTurn * static_cast<double>(wrong.of);
  if (may_turn && few && !is_float(found.dtype)) return std::nullopt;
  wrong.untouched = untouched(found, wrong.first);
  return wrong;
}

// Of numbers that are finite.
double largest_difference(const TensorData& found, const TensorData& expected) {
  const std::vector<double> ours = found.to_doubles(), theirs = expected.to_doubles();
  double largest = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double off = difference(ours[i], theirs[i]);
    if (std::isfinite(off)) largest = std::max(largest, off);
  }
  return largest;
}

// Where a large kernel is compared: a few points, the same ones each time. None: everywhere.
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
      floats_decide_(floats_decide(graph)) {
  if (checks_.against_graph) expect_nodes(leaf);
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

void StepChecker::accuse(StepFault fault, const std::string& what) const {
  const StepNote& note = notes_.steps[static_cast<size_t>(fault.step)];
  if (fault.wrong) fault.detail = text(*fault.wrong);
  std::string message = fmt::format("{} is wrong: {}\n  {}", note.name, what, fault.detail);
  if (checks_.fault != nullptr) *checks_.fault = std::move(fault);
  if (note.of_user) throw UserError(message);
  throw InternalError(
      fmt::format("{}\n  ops: {}\n  rules behind its terms: {}", message, fmt::join(note.ops, ", "),
                  note.rules.empty() ? "none" : fmt::format("{}", fmt::join(note.rules, ", "))));
}

const kernel::KernelStep* StepChecker::kernel_at(int step) const {
  if (step < 0) return nullptr;
  if (!checks_.of_steps.empty() && !checks_.of_steps[static_cast<size_t>(step)]) return nullptr;
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
  for (const Guarded& output : outputs_) check_canaries(view.step, output);
  const double inside = check_against_loops(view.step, step->lowered.kernel, view.params);
  check_against_graph(view.step, step->lowered, view.params, inside);
  give_back(view);
}

void StepChecker::check_own_kernel(const runtime::StepView& view, NodeId id) const {
  for (const Guarded& output : outputs_) check_canaries(view.step, output);
  const Node& node = graph_.node(id);
  std::vector<TensorData> operands;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const Node& input = graph_.node(node.inputs[k]);
    operands.push_back(value_at(input.dtype, input.dims, view.params[k]));
  }
  const TensorData found = value_at(node.dtype, node.dims, view.params.back());
  TensorData::Writable expected = TensorData::zeros(node.dtype, found.dims);
  node.as<CustomAttr>().op->compute(operands, expected);
  if (auto wrong = compare(found, expected.data, floats_decide_, {.least = node.dtype})) {
    accuse({.kind = StepFault::Kind::OwnKernel,
            .step = view.step,
            .node = id,
            .detail = {},
            .wrong = std::move(wrong)},
           "the kernel doesn't do what the op's compute does");
  }
  give_back(view);
}

void StepChecker::check_canaries(int step, const Guarded& output) const {
  const auto outside = [&](std::string where) {
    accuse({.kind = StepFault::Kind::WritesOutside,
            .step = step,
            .detail = fmt::format("{} of its {} bytes", where, output.size),
            .wrong = {}},
           "it writes outside of its output");
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

double StepChecker::check_against_loops(int step, const kernel::Kernel& kernel,
                                        std::span<const void* const> params) const {
  // The loops would read what a library has packed, and nobody kept.
  if (std::find(params.begin(), params.end(), nullptr) != params.end()) return 0;
  std::vector<std::byte*> reference;
  std::vector<std::vector<std::byte>> results(params.size());
  for (size_t p = 0; p < params.size(); ++p) {
    reference.push_back(static_cast<std::byte*>(const_cast<void*>(params[p])));
    if (!kernel.params[p].output) continue;
    results[p].resize(value_at(kernel.params[p], nullptr).bytes.size());
    reference.back() = results[p].data();
  }
  const std::vector<int64_t> points = sampled_points(kernel, bindings_, checks_.most_operations);
  std::vector<std::vector<int64_t>> written(params.size());
  double inside = 0;
  if (points.empty()) {
    inside = kernel::interpret_kernel(kernel, bindings_, reference);
  } else {
    const auto some = kernel::interpret_points(kernel, bindings_, reference, points);
    for (const auto& [param, at] : some.written) written[param].push_back(at);
    inside = some.largest;
  }
  for (size_t p = 0; p < params.size(); ++p) {
    if (!kernel.params[p].output) continue;
    auto wrong =
        compare(value_at(kernel.params[p], params[p]), value_at(kernel.params[p], reference[p]),
                floats_decide_, {.least = least_precise(kernel), .inside = inside},
                points.empty() ? nullptr : &written[p]);
    if (!wrong) continue;
    const std::string& library = notes_.steps[static_cast<size_t>(step)].library;
    accuse({.kind = StepFault::Kind::Code, .step = step, .detail = {}, .wrong = std::move(wrong)},
           fmt::format("{} doesn't do what its loops say",
                       library.empty() ? "the compiled code" : library));
  }
  return inside;
}

void StepChecker::check_against_graph(int step, const kernel::LoweredKernel& lowered,
                                      std::span<const void* const> params, double inside) {
  Allowance allowance{.least = least_precise(graph_), .inside = inside};
  for (size_t p = 0; p < params.size(); ++p) {
    const auto known = off_.find(lowered.origins[p].value);
    if (lowered.kernel.params[p].output || known == off_.end()) continue;
    allowance.inherited += kInherits * known->second;
  }
  for (size_t p = 0; p < params.size(); ++p) {
    const kernel::Param& param = lowered.kernel.params[p];
    const kernel::ClassId value = lowered.origins[p].value;
    const auto expected = expected_.find(value);
    if (!param.output || expected == expected_.end()) continue;
    const TensorData found = value_at(param, params[p]);
    auto wrong = compare(found, expected->second, floats_decide_, allowance);
    if (is_float(param.dtype)) off_[value] = largest_difference(found, expected->second);
    if (!wrong) continue;
    const NodeId node = node_of_.at(value);
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
