#include "tests/support/bounded_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "luminal/graph/interpret/blocks.h"
#include "luminal/graph/interpret/index_eval.h"
#include "luminal/graph/traverse.h"
#include "luminal/shape/scalar.h"
#include "tests/support/float_bounds.h"

namespace luminal::tests {
namespace {

class BoundPass {
 public:
  BoundPass(const Graph& graph, const Bindings& bindings, const interpret::LeafData& leaf,
            std::span<const NodeId> roots)
      : graph_(graph), bindings_(bindings), values_(graph.size()) {
    const std::vector<NodeId> order = topological_order(graph, roots);
    interpret::Interpreter interpreter(graph, bindings, leaf,
                                       {.precision = interpret::Precision::Float64});
    const std::vector<TensorData> data = interpreter.values(order);
    for (size_t i = 0; i < order.size(); ++i) take_values(order[i], data[i]);
    for (NodeId id : order) bound(id);
  }

  BoundedTensor& at(NodeId id) { return values_[id.index()]; }

 private:
  const BoundedTensor& input(const Node& node, size_t i) const {
    return values_[node.inputs[i].index()];
  }

  void take_values(NodeId id, const TensorData& data) {
    BoundedTensor& tensor = at(id);
    tensor.dtype = graph_.node(id).dtype;
    tensor.dims = data.dims;
    if (is_float(tensor.dtype)) {
      tensor.reals = data.to_doubles();
    } else {
      tensor.integers = data.to_ints();
    }
    tensor.errors.assign(static_cast<size_t>(data.n_elements()), 0.0);
  }

  void bound(NodeId id) {
    const Node& node = graph_.node(id);
    switch (op_class(node.op)) {
      case OpClass::Leaf:
        return bound_leaf(node, at(id));
      case OpClass::Unary:
      case OpClass::Convert:
      case OpClass::Binary:
      case OpClass::Comparison:
        return bound_elementwise(node, at(id));
      case OpClass::Ternary:
        return bound_select(node, at(id));
      case OpClass::Movement:
        return bound_view(node, at(id));
      case OpClass::Reduction:
        return node.op == Op::Reduce ? bound_reduce(node, at(id)) : bound_scan(node, at(id));
      case OpClass::Indexing:
        return node.op == Op::Gather ? bound_gather(node, at(id)) : bound_scatter(node, at(id));
      case OpClass::Custom:
        return bound_custom(node, at(id));
    }
  }

  // Inputs and constants are values of their dtype; what an iota counts may need rounding.
  void bound_leaf(const Node& node, BoundedTensor& out) {
    if (node.op != Op::Iota || !is_float(out.dtype)) return;
    for (size_t j = 0; j < out.size(); ++j) out.errors[j] = rounded(out.dtype, out.reals[j], 0);
  }

  static Bounded element(const BoundedTensor& tensor, size_t j) {
    return {tensor.reals[j], tensor.errors[j]};
  }

  void bound_elementwise(const Node& node, BoundedTensor& out) {
    const BoundedTensor& a = input(node, 0);
    const BoundedTensor& b = input(node, node.inputs.size() - 1);
    for (size_t j = 0; j < out.size(); ++j) {
      if (is_float(a.dtype)) {
        const Bounded operands[] = {element(a, j), element(b, j)};
        out.errors[j] = bound_of(node.op, a.dtype, out.dtype, {operands, node.inputs.size()},
                                 is_float(out.dtype) ? out.reals[j] : 0);
      } else if (a.errors[j] != 0 || b.errors[j] != 0) {
        out.errors[j] = kUnknown;
      } else if (node.op == Op::Cast && is_float(out.dtype)) {
        out.errors[j] = rounded(out.dtype, out.reals[j], 0);
      }
    }
  }

  void bound_select(const Node& node, BoundedTensor& out) {
    const BoundedTensor& p = input(node, 0);
    for (size_t j = 0; j < out.size(); ++j) {
      out.errors[j] = p.errors[j] != 0     ? kUnknown
                      : p.integers[j] != 0 ? input(node, 1).errors[j]
                                           : input(node, 2).errors[j];
    }
  }

  void bound_view(const Node& node, BoundedTensor& out) {
    const BoundedTensor& source = input(node, 0);
    std::vector<Expr> exprs;
    for (Expr expr : node.as<IndexMap>().exprs()) exprs.push_back(expr.bind(bindings_));
    for (size_t first = 0; first < out.size(); first += interpret::kBlock) {
      interpret::Scratch::Mark mark(scratch_);
      const auto count =
          static_cast<int64_t>(std::min<size_t>(interpret::kBlock, out.size() - first));
      interpret::IndexRoom room(scratch_, out.dims.size(), count);
      interpret::count_up(out.dims, static_cast<int64_t>(first), room);
      std::vector<int64_t> flat(static_cast<size_t>(count), 0), along(flat.size());
      for (size_t k = 0; k < exprs.size(); ++k) {
        interpret::evaluate_index(exprs[k], room.indices, along.data(), scratch_);
        for (size_t j = 0; j < flat.size(); ++j) flat[j] = flat[j] * source.dims[k] + along[j];
      }
      for (size_t j = 0; j < flat.size(); ++j) {
        // Only padding shows an empty tensor, and drops what it reads.
        out.errors[first + j] =
            source.size() == 0 ? kUnknown : source.errors[static_cast<size_t>(flat[j])];
      }
    }
  }

  void bound_reduce(const Node& node, BoundedTensor& out) {
    const BoundedTensor& x = input(node, 0);
    const auto row = static_cast<size_t>(x.dims.back());
    for (size_t r = 0; r < out.size(); ++r) {
      if (is_float(x.dtype)) {
        ReductionBound reduction(node.as<ReduceAttr>().reducer, x.dtype);
        for (size_t k = 0; k < row; ++k) reduction.add(element(x, r * row + k));
        out.errors[r] = reduction.bound(out.reals[r]);
      } else {
        for (size_t k = 0; k < row; ++k) {
          out.errors[r] = std::max(out.errors[r], x.errors[r * row + k]);
        }
      }
    }
  }

  void bound_scan(const Node& node, BoundedTensor& out) {
    const BoundedTensor& x = input(node, 0);
    const auto row = static_cast<size_t>(x.dims.back());
    for (size_t first = 0; first < out.size(); first += row) {
      ReductionBound reduction(node.as<ReduceAttr>().reducer, x.dtype);
      double so_far = 0;
      for (size_t j = first; j < first + row; ++j) {
        so_far = std::max(so_far, x.errors[j]);
        if (is_float(x.dtype)) reduction.add(element(x, j));
        out.errors[j] = is_float(x.dtype) ? reduction.bound(out.reals[j]) : so_far;
      }
    }
  }

  void bound_gather(const Node& node, BoundedTensor& out) {
    const BoundedTensor& data = input(node, 0);
    const BoundedTensor& index = input(node, 1);
    const size_t width = index.size() == 0 ? 0 : out.size() / index.size();
    for (size_t i = 0; i < index.size(); ++i) {
      for (size_t k = 0; k < width; ++k) {
        const size_t from = static_cast<size_t>(index.integers[i]) * width + k;
        out.errors[i * width + k] = index.errors[i] != 0 ? kUnknown : data.errors[from];
      }
    }
  }

  void bound_scatter(const Node& node, BoundedTensor& out) {
    const BoundedTensor& dest = input(node, 0);
    const BoundedTensor& index = input(node, 1);
    const BoundedTensor& values = input(node, 2);
    if (index.unknown() > 0) {
      std::fill(out.errors.begin(), out.errors.end(), kUnknown);
      return;
    }
    const size_t width = index.size() == 0 ? 0 : values.size() / index.size();
    out.errors = dest.errors;
    const std::optional<Reducer> combine = node.as<ScatterAttr>().combine;
    std::vector<std::optional<ReductionBound>> reductions(out.size());
    for (size_t i = 0; i < index.size(); ++i) {
      for (size_t k = 0; k < width; ++k) {
        const size_t to = static_cast<size_t>(index.integers[i]) * width + k;
        const size_t from = i * width + k;
        if (!combine) {
          out.errors[to] = values.errors[from];
        } else if (!is_float(out.dtype)) {
          out.errors[to] = std::max(out.errors[to], values.errors[from]);
        } else {
          if (!reductions[to]) {
            reductions[to].emplace(*combine, out.dtype);
            reductions[to]->add(element(dest, to));
          }
          reductions[to]->add(element(values, from));
        }
      }
    }
    for (size_t j = 0; j < out.size(); ++j) {
      if (reductions[j]) out.errors[j] = reductions[j]->bound(out.reals[j]);
    }
  }

  // The custom op of random graphs negates; its inputs are rounded to their dtype before it.
  void bound_custom(const Node& node, BoundedTensor& out) {
    const BoundedTensor& x = input(node, 0);
    for (size_t j = 0; j < out.size(); ++j) {
      out.errors[j] = is_float(out.dtype) && std::isfinite(x.errors[j])
                          ? rounded(out.dtype, out.reals[j], 2 * x.errors[j])
                          : x.errors[j];
    }
  }

  const Graph& graph_;
  const Bindings& bindings_;
  std::vector<BoundedTensor> values_;
  interpret::Scratch scratch_;
};

bool agrees(double wanted, double error, double got) {
  if (error == kUnknown) return true;
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got);
  if (error == 0 || std::isinf(wanted)) return wanted == got;
  return std::fabs(got - wanted) <= error * (1 + 0x1p-40);
}

std::vector<int64_t> index_of(size_t position, const std::vector<int64_t>& dims) {
  std::vector<int64_t> index(dims.size());
  auto rest = static_cast<int64_t>(position);
  for (size_t axis = dims.size(); axis-- > 0;) {
    index[axis] = rest % dims[axis];
    rest /= dims[axis];
  }
  return index;
}

}  // namespace

size_t BoundedTensor::unknown() const {
  return static_cast<size_t>(std::count(errors.begin(), errors.end(), kUnknown));
}

std::vector<BoundedTensor> bounded_values(const Graph& graph, const Bindings& bindings,
                                          const interpret::LeafData& leaf,
                                          std::span<const NodeId> nodes) {
  BoundPass pass(graph, bindings, leaf, nodes);
  std::vector<BoundedTensor> results;
  for (NodeId id : nodes) results.push_back(pass.at(id));
  return results;
}

std::optional<std::string> outside(const BoundedTensor& wanted, const TensorData& got) {
  if (wanted.dtype != got.dtype || wanted.dims != got.dims) {
    return fmt::format("wanted {}[{}], got {}[{}]", name(wanted.dtype),
                       fmt::join(wanted.dims, ", "), name(got.dtype), fmt::join(got.dims, ", "));
  }
  const bool real = is_float(got.dtype);
  size_t bad = 0;
  std::string first;
  for (size_t j = 0; j < wanted.size(); ++j) {
    const auto at = static_cast<int64_t>(j);
    if (real) {
      const double value = load_float(got.dtype, got.bytes.data(), at);
      if (agrees(wanted.reals[j], wanted.errors[j], value)) continue;
      if (bad++ == 0) {
        first = fmt::format("wanted {} ± {}, got {}", wanted.reals[j], wanted.errors[j], value);
      }
    } else {
      const int64_t value = load_int(got.dtype, got.bytes.data(), at);
      if (wanted.errors[j] != 0 || value == wanted.integers[j]) continue;
      if (bad++ == 0) first = fmt::format("wanted {}, got {}", wanted.integers[j], value);
    }
    if (bad == 1) first = fmt::format("[{}]: {}", fmt::join(index_of(j, wanted.dims), ", "), first);
  }
  if (bad == 0) return std::nullopt;
  return fmt::format("{} of {} elements differ, first at {}", bad, wanted.size(), first);
}

}  // namespace luminal::tests
