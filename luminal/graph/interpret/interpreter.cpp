#include "luminal/graph/interpret/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <ostream>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/thread.h"
#include "luminal/graph/call_custom.h"
#include "luminal/graph/interpret/blocks.h"
#include "luminal/graph/interpret/index_eval.h"
#include "luminal/graph/interpret/lanes.h"
#include "luminal/graph/interpret/storage_plan.h"
#include "luminal/graph/interpret/stray_row.h"
#include "luminal/graph/op_subsets.h"
#include "luminal/graph/traverse.h"
#include "luminal/shape/index/position.h"
#include "luminal/shape/scalar.h"

namespace luminal::interpret {
namespace {

// Enough for a value that depends on a chain of many thousand stored ones.
constexpr size_t kDeepStack = size_t{1} << 30;

struct Freed {
  void operator()(Lane* lanes) const { std::free(lanes); }
};

// A node with concrete dims.
struct Resolved {
  std::vector<int64_t> dims;
  int64_t count = 0;
  std::vector<Expr> exprs;  // View: its map; Iota: its expression
};

// The elements of a stored node; until `complete`, `done` marks those already computed.
struct Stored {
  std::unique_ptr<Lane[], Freed> lanes;
  std::vector<bool> done;
  bool complete = false;
};

}  // namespace

class Interpreter::Evaluator {
 public:
  Evaluator(const Graph& graph, Bindings bindings, LeafData leaf, Options options)
      : graph_(graph),
        bindings_(std::move(bindings)),
        leaf_(std::move(leaf)),
        options_(options),
        resolved_(graph.size()),
        stored_(graph.size()),
        leaves_(graph.size()) {}

  std::vector<TensorData> values(std::span<const NodeId> nodes) {
    prepare(nodes);
    for (size_t step = 0; step < plan_.steps.size(); ++step) {
      run_step(step);
      for (NodeId id : plan_.finished[step]) stored_[id.index()] = {};
    }
    std::vector<TensorData> results;
    for (NodeId id : nodes) results.push_back(collect(id));
    return results;
  }

  std::vector<double> elements(NodeId node, std::span<const int64_t> positions) {
    prepare({&node, 1});
    std::vector<double> results(positions.size());
    base::run_with_stack(kDeepStack, [&] { read_positions(node, positions, results); });
    return results;
  }

 private:
  void prepare(std::span<const NodeId> roots) {
    std::vector<int64_t> elements(graph_.size(), 0);
    for (NodeId id : topological_order(graph_, roots)) {
      resolve(id);
      elements[id.index()] = resolved_[id.index()].count;
    }
    plan_ = plan_storage(graph_, roots, elements);
    for (Stored& stored : stored_) stored = {};
  }

  int64_t resolve(Expr expr, NodeId id) const {
    Expr::Value value = expr.evaluate(bindings_);
    if (!value.value) {
      throw UserError(
          fmt::format("{} of {} has no value: {}", expr.text(), graph_.describe(id), value.why));
    }
    return *value.value;
  }

  void resolve(NodeId id) {
    const Node& node = graph_.node(id);
    Resolved& resolved = resolved_[id.index()];
    resolved = {};
    resolved.count = 1;
    for (Expr dim : node.dims) {
      resolved.dims.push_back(resolve(dim, id));
      const int64_t size = resolved.dims.back();
      if (size < 0 || __builtin_mul_overflow(resolved.count, size, &resolved.count)) {
        throw UserError(
            fmt::format("{} of dims {} would have dims [{}]; bind its variables to "
                        "values that fit",
                        graph_.describe(id), text(node.dims), fmt::join(resolved.dims, ", ")));
      }
    }
    if (node.op == Op::View) {
      for (Expr expr : node.as<IndexMap>().exprs()) resolved.exprs.push_back(expr.bind(bindings_));
    } else if (node.op == Op::Iota) {
      resolved.exprs.push_back(node.as<IotaAttr>().expr.bind(bindings_));
    } else if (node.op == Op::Input) {
      leaves_[id.index()] = leaf_(id);
      LUMINAL_CHECK(
          leaves_[id.index()].dims == resolved.dims && leaves_[id.index()].dtype == node.dtype,
          "the data of " + graph_.describe(id) + " doesn't fit it");
    }
  }

  void run_step(size_t step) {
    using Clock = std::chrono::steady_clock;
    const NodeId id = plan_.steps[step];
    const auto start = Clock::now();
    store_all(id);
    if (options_.debug == nullptr) return;
    const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
    const Node& node = graph_.node(id);
    *options_.debug << fmt::format("step {}/{}  {}  {}[{}]  {:.3f} ms\n", step + 1,
                                   plan_.steps.size(), graph_.describe(id), name(node.dtype),
                                   fmt::join(resolved_[id.index()].dims, ", "), taken.count());
  }

  // ---- Storing -------------------------------------------------------------------------------

  Stored& room_for(NodeId id) {
    Stored& stored = stored_[id.index()];
    if (stored.lanes == nullptr) {
      const auto count = static_cast<size_t>(std::max<int64_t>(resolved_[id.index()].count, 1));
      // calloc: pages of elements that are never read are never touched.
      stored.lanes.reset(static_cast<Lane*>(std::calloc(count, sizeof(Lane))));
      if (stored.lanes == nullptr) {
        throw DeviceError(
            fmt::format("out of memory: {} has {} elements", graph_.describe(id), count));
      }
    }
    return stored;
  }

  void store_all(NodeId id) {
    Stored& stored = room_for(id);
    const Resolved& resolved = resolved_[id.index()];
    const Op op = graph_.node(id).op;
    if (op == Op::Scatter) {
      store_scatter(id, stored.lanes.get());
    } else if (op == Op::Custom) {
      store_custom(id, stored.lanes.get());
    } else if (op == Op::Scan) {
      const int64_t row = resolved.dims.back();
      for (int64_t first = 0; first < resolved.count; first += row) {
        store_scan_row(id, first, stored.lanes.get());
      }
    } else {
      for (int64_t first = 0; first < resolved.count; first += kBlock) {
        Scratch::Mark mark(scratch_);
        IndexRoom room(scratch_, resolved.dims.size(), std::min(kBlock, resolved.count - first));
        count_up(resolved.dims, first, room);
        compute(id, room.indices, stored.lanes.get() + first);
      }
    }
    stored.complete = true;
  }

  // Computes those of `positions` that are still missing.
  void store_some(NodeId id, const int64_t* positions, int64_t count) {
    Stored& stored = room_for(id);
    const Op op = graph_.node(id).op;
    if (op == Op::Scatter || op == Op::Custom) return store_all(id);
    const Resolved& resolved = resolved_[id.index()];
    if (stored.done.empty()) stored.done.resize(static_cast<size_t>(resolved.count), false);
    std::vector<int64_t> missing;
    for (int64_t j = 0; j < count; ++j) {
      const auto at = static_cast<size_t>(positions[j]);
      if (stored.done[at]) continue;
      if (op == Op::Scan) {
        const int64_t row = resolved.dims.back();
        const int64_t first = positions[j] / row * row;
        store_scan_row(id, first, stored.lanes.get());
        std::fill_n(stored.done.begin() + first, row, true);
      } else {
        stored.done[at] = true;
        missing.push_back(positions[j]);
      }
    }
    if (missing.empty()) return;
    Scratch::Mark mark(scratch_);
    IndexRoom room(scratch_, resolved.dims.size(), static_cast<int64_t>(missing.size()));
    unravel(resolved.dims, missing, room);
    Lane* lanes = scratch_.lanes(room.indices.count);
    compute(id, room.indices, lanes);
    for (size_t j = 0; j < missing.size(); ++j) {
      stored_[id.index()].lanes[static_cast<size_t>(missing[j])] = lanes[j];
    }
  }

  void store_scan_row(NodeId id, int64_t first, Lane* lanes) {
    const Node& node = graph_.node(id);
    const Resolved& resolved = resolved_[id.index()];
    const int64_t row = resolved.dims.back();
    Accumulator row_so_far(arithmetic(), node.as<ReduceAttr>().reducer, node.dtype);
    for (int64_t from = 0; from < row; from += kBlock) {
      Scratch::Mark mark(scratch_);
      const int64_t count = std::min(kBlock, row - from);
      IndexRoom room(scratch_, resolved.dims.size(), count);
      count_up(resolved.dims, first + from, room);
      Lane* out = lanes + first + from;
      evaluate(node.inputs[0], room.indices, out);
      for (int64_t j = 0; j < count; ++j) {
        row_so_far.scan(out[j]);
        out[j] = row_so_far.so_far();
      }
    }
  }

  void store_scatter(NodeId id, Lane* lanes) {
    const Node& node = graph_.node(id);
    const Resolved& resolved = resolved_[id.index()];
    const std::vector<Lane> dest = all_lanes(node.inputs[0]);
    const std::vector<Lane> index = all_lanes(node.inputs[1]);
    const std::vector<Lane> values = all_lanes(node.inputs[2]);
    std::copy(dest.begin(), dest.end(), lanes);
    const int64_t rows = resolved.dims[0];
    const int64_t width = index.empty() ? 0 : static_cast<int64_t>(values.size() / index.size());
    const std::optional<Reducer> reducer = node.as<ScatterAttr>().combine;
    for (size_t i = 0; i < index.size(); ++i) {
      check_row(id, index[i].integer, rows, [&] {
        return position_of(static_cast<int64_t>(i), resolved_[node.inputs[1].index()].dims);
      });
      for (int64_t j = 0; j < width; ++j) {
        Lane& target = lanes[index[i].integer * width + j];
        const Lane value = values[i * static_cast<size_t>(width) + static_cast<size_t>(j)];
        target = reducer ? combine(arithmetic(), *reducer, node.dtype, node.dtype, target, value)
                         : value;
      }
    }
    settle(node.dtype, arithmetic(), lanes, resolved.count);
  }

  void store_custom(NodeId id, Lane* lanes) {
    const Node& node = graph_.node(id);
    const Resolved& resolved = resolved_[id.index()];
    std::vector<TensorData> inputs;
    for (NodeId input : node.inputs) inputs.push_back(to_data(input, graph_.node(input).dtype));
    TensorData::Writable result = TensorData::zeros(node.dtype, resolved.dims);
    const CustomOp& op = *node.as<CustomAttr>().op;
    call_custom(op, "compute", [&] { op.compute(inputs, result); });
    std::vector<int64_t> at(static_cast<size_t>(resolved.count));
    std::iota(at.begin(), at.end(), int64_t{0});
    load(result.data, at.data(), resolved.count, lanes);
  }

  // ---- Reading -------------------------------------------------------------------------------

  // out[j] = the element of `id` at index j, from memory or computed.
  void evaluate(NodeId id, const Indices& indices, Lane* out) {
    const bool leaf = graph_.node(id).op == Op::Input;
    if (resolved_[id.index()].count == 0) {  // only padding reads it, and discards the value
      std::fill_n(out, indices.count, Lane{.integer = 0});
      return;
    }
    if (!leaf && !plan_.stored[id.index()]) return compute(id, indices, out);
    Scratch::Mark mark(scratch_);
    int64_t* at = scratch_.integers(indices.count);
    flatten(id, indices, at);
    if (leaf) return load(leaves_[id.index()], at, indices.count, out);
    if (!stored_[id.index()].complete) store_some(id, at, indices.count);
    const Lane* lanes = stored_[id.index()].lanes.get();
    for (int64_t j = 0; j < indices.count; ++j) out[j] = lanes[at[j]];
  }

  // The flat positions of `indices`; checks each against the node's dims.
  void flatten(NodeId id, const Indices& indices, int64_t* at) const {
    const std::vector<int64_t>& dims = resolved_[id.index()].dims;
    std::fill_n(at, indices.count, int64_t{0});
    bool inside = true;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const int64_t* index = indices.axes[axis];
      const int64_t size = dims[axis];
      for (int64_t j = 0; j < indices.count; ++j) {
        inside &= static_cast<uint64_t>(index[j]) < static_cast<uint64_t>(size);
        at[j] = at[j] * size + index[j];
      }
    }
    LUMINAL_CHECK(inside, "a view reads outside " + graph_.describe(id));
  }

  Arithmetic arithmetic() const { return {options_.precision, options_.variation, options_.seed}; }

  // ---- Computing -----------------------------------------------------------------------------

  void compute(NodeId id, const Indices& indices, Lane* out) {
    const Node& node = graph_.node(id);
    const std::optional<StructuralOp> op = structural_op(node.op);
    if (!op) return compute_elementwise(id, indices, out);
    switch (*op) {
      case StructuralOp::Constant:
        return compute_constant(node, indices, out);
      case StructuralOp::Iota:
        return compute_iota(id, indices, out);
      case StructuralOp::View:
        return compute_view(id, indices, out);
      case StructuralOp::Gather:
        return compute_gather(id, indices, out);
      case StructuralOp::Reduce:
        return compute_reduce(id, indices, out);
      case StructuralOp::Input:
      case StructuralOp::Scan:
      case StructuralOp::Scatter:
      case StructuralOp::Custom:
        break;
    }
    LUMINAL_CHECK(false, std::string(name(node.op)) + " is computed as a whole, not by element");
  }

  void compute_constant(const Node& node, const Indices& indices, Lane* out) {
    const auto& constant = node.as<ConstantAttr>();
    const Lane value =
        is_float(node.dtype) ? Lane{.real = constant.real} : Lane{.integer = constant.integer};
    std::fill_n(out, indices.count, value);
  }

  void compute_iota(NodeId id, const Indices& indices, Lane* out) {
    const Node& node = graph_.node(id);
    Scratch::Mark mark(scratch_);
    int64_t* values = scratch_.integers(indices.count);
    evaluate_index(resolved_[id.index()].exprs[0], indices, values, scratch_);
    for (int64_t j = 0; j < indices.count; ++j) {
      if (is_float(node.dtype)) {
        out[j].real = static_cast<double>(values[j]);
      } else {
        out[j].integer = values[j];
      }
    }
    settle(node.dtype, arithmetic(), out, indices.count);
  }

  void compute_elementwise(NodeId id, const Indices& indices, Lane* out) {
    const Node& node = graph_.node(id);
    Scratch::Mark mark(scratch_);
    Lane* operands[3] = {};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      operands[i] = scratch_.lanes(indices.count);
      evaluate(node.inputs[i], indices, operands[i]);
    }
    const DType from = graph_.node(node.inputs.back()).dtype;
    apply(node.op, from, node.dtype, arithmetic(), {operands, node.inputs.size()}, out,
          indices.count);
  }

  void compute_view(NodeId id, const Indices& indices, Lane* out) {
    Scratch::Mark mark(scratch_);
    Indices source;
    source.count = indices.count;
    for (Expr expr : resolved_[id.index()].exprs) {
      if (expr.kind() == ExprKind::Index) {
        source.axes.push_back(indices.axes[static_cast<size_t>(expr.axis())]);
        continue;
      }
      int64_t* values = scratch_.integers(indices.count);
      evaluate_index(expr, indices, values, scratch_);
      source.axes.push_back(values);
    }
    evaluate(graph_.node(id).inputs[0], source, out);
  }

  void compute_gather(NodeId id, const Indices& indices, Lane* out) {
    const Node& node = graph_.node(id);
    const size_t index_rank = resolved_[node.inputs[1].index()].dims.size();
    Scratch::Mark mark(scratch_);
    Indices index;
    index.count = indices.count;
    index.axes.assign(indices.axes.begin(), indices.axes.begin() + static_cast<int>(index_rank));
    Lane* rows = scratch_.lanes(indices.count);
    evaluate(node.inputs[1], index, rows);
    int64_t* row = scratch_.integers(indices.count);
    for (int64_t j = 0; j < indices.count; ++j) {
      row[j] = rows[j].integer;
      check_row(id, row[j], resolved_[node.inputs[0].index()].dims[0], [&] {
        std::vector<int64_t> position;
        for (const int64_t* axis : index.axes) position.push_back(axis[j]);
        return position;
      });
    }
    Indices data;
    data.count = indices.count;
    data.axes.push_back(row);
    data.axes.insert(data.axes.end(), indices.axes.begin() + static_cast<int>(index_rank),
                     indices.axes.end());
    evaluate(node.inputs[0], data, out);
  }

  // Reduces the rows of all elements of a block as one sequence of (element, k) pairs, so that
  // short rows cost no more than long ones.
  void compute_reduce(NodeId id, const Indices& indices, Lane* out) {
    const Node& node = graph_.node(id);
    const size_t rank = resolved_[id.index()].dims.size();
    const int64_t row = resolved_[node.inputs[0].index()].dims.back();
    Accumulator total(arithmetic(), node.as<ReduceAttr>().reducer, node.dtype);
    std::fill_n(out, indices.count, total.total());
    const int64_t pairs = indices.count * row;
    for (int64_t first = 0; first < pairs; first += kBlock) {
      Scratch::Mark mark(scratch_);
      const int64_t count = std::min(kBlock, pairs - first);
      IndexRoom room(scratch_, rank + 1, count);
      for (int64_t j = 0; j < count;) {
        const int64_t element = (first + j) / row;
        const int64_t k = (first + j) % row;
        const int64_t run = std::min(count - j, row - k);
        for (size_t axis = 0; axis < rank; ++axis) {
          std::fill_n(room.axes[axis] + j, run, indices.axes[axis][element]);
        }
        std::iota(room.axes[rank] + j, room.axes[rank] + j + run, k);
        j += run;
      }
      Lane* lanes = scratch_.lanes(count);
      evaluate(node.inputs[0], room.indices, lanes);
      Lane* result = out + first / row;
      int64_t k = first % row;
      for (int64_t j = 0; j < count; ++j) {
        if (k == 0) total.restart();
        total.take(k, lanes[j]);
        if (++k < row) continue;
        *result++ = total.total();
        k = 0;
      }
    }
  }

  template <typename Position>
  void check_row(NodeId id, int64_t row, int64_t rows, Position position) const {
    if (row >= 0 && row < rows) return;
    throw UserError(stray_row_text(graph_, id, row, rows, position()));
  }

  // ---- Results -------------------------------------------------------------------------------

  std::vector<Lane> all_lanes(NodeId id) {
    const Resolved& resolved = resolved_[id.index()];
    std::vector<Lane> lanes(static_cast<size_t>(resolved.count));
    for (int64_t first = 0; first < resolved.count; first += kBlock) {
      Scratch::Mark mark(scratch_);
      IndexRoom room(scratch_, resolved.dims.size(), std::min(kBlock, resolved.count - first));
      count_up(resolved.dims, first, room);
      evaluate(id, room.indices, lanes.data() + first);
    }
    return lanes;
  }

  TensorData to_data(NodeId id, DType as) {
    const std::vector<Lane> lanes = all_lanes(id);
    const bool wide = options_.variation == Variation::Wide;
    TensorData::Writable result = TensorData::zeros(as, resolved_[id.index()].dims);
    for (size_t j = 0; j < lanes.size(); ++j) {
      if (is_float(as)) {
        const double value = wide ? round_to(as, lanes[j].real) : lanes[j].real;
        store_float(as, result.bytes.data(), static_cast<int64_t>(j), value);
      } else {
        store_int(as, result.bytes.data(), static_cast<int64_t>(j), lanes[j].integer);
      }
    }
    return result.data;
  }

  TensorData collect(NodeId id) {
    const DType dtype = graph_.node(id).dtype;
    const bool widened = options_.precision == Precision::Float64 && is_float(dtype);
    return to_data(id, widened ? DType::F64 : dtype);
  }

  void read_positions(NodeId id, std::span<const int64_t> positions, std::vector<double>& results) {
    const Resolved& resolved = resolved_[id.index()];
    const bool real = is_float(graph_.node(id).dtype);
    for (size_t first = 0; first < positions.size(); first += kBlock) {
      const size_t count = std::min<size_t>(kBlock, positions.size() - first);
      for (int64_t at : positions.subspan(first, count)) {
        if (at < 0 || at >= resolved.count) {
          throw UserError(fmt::format("element {} of {} was asked for; it has {}", at,
                                      graph_.describe(id), resolved.count));
        }
      }
      Scratch::Mark mark(scratch_);
      IndexRoom room(scratch_, resolved.dims.size(), static_cast<int64_t>(count));
      unravel(resolved.dims, positions.subspan(first, count), room);
      Lane* lanes = scratch_.lanes(static_cast<int64_t>(count));
      evaluate(id, room.indices, lanes);
      for (size_t j = 0; j < count; ++j) {
        results[first + j] = real ? lanes[j].real : static_cast<double>(lanes[j].integer);
      }
    }
  }

  const Graph& graph_;
  const Bindings bindings_;
  const LeafData leaf_;
  const Options options_;
  std::vector<Resolved> resolved_;
  std::vector<Stored> stored_;
  std::vector<TensorData> leaves_;
  StoragePlan plan_;
  Scratch scratch_;
};

Interpreter::Interpreter(const Graph& graph, Bindings bindings, LeafData leaf, Options options)
    : evaluator_(
          std::make_unique<Evaluator>(graph, std::move(bindings), std::move(leaf), options)) {}

Interpreter::~Interpreter() = default;

std::vector<TensorData> Interpreter::values(std::span<const NodeId> nodes) {
  return evaluator_->values(nodes);
}

std::vector<double> Interpreter::elements(NodeId node, std::span<const int64_t> positions) {
  return evaluator_->elements(node, positions);
}

}  // namespace luminal::interpret
