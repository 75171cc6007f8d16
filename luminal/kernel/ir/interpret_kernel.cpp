#include "luminal/kernel/ir/interpret_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "luminal/base/check.h"
#include "luminal/graph/interpret/blocks.h"
#include "luminal/graph/interpret/index_eval.h"
#include "luminal/graph/interpret/scalar_ops.h"
#include "luminal/shape/scalar.h"

namespace luminal::kernel {
namespace {

using interpret::Accumulator;
using interpret::IndexRoom;
using interpret::kBlock;
using interpret::Lane;
using interpret::Scratch;

int64_t product(const std::vector<int64_t>& sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) result *= size;
  return result;
}

// A stage's iteration space is flat: the current outer points, its own loops and its reduction,
// outermost first. It is evaluated in blocks of lanes.
class KernelInterpreter {
 public:
  KernelInterpreter(const Kernel& kernel, const Bindings& bindings,
                    std::span<std::byte* const> params, const interpret::Arithmetic& arithmetic)
      : kernel_(kernel), bindings_(bindings), params_(params), arithmetic_(arithmetic) {
    for (const Loop& loop : kernel.loops) extents_.push_back(value(loop.extent));
    for (const Param& param : kernel.params) {
      dims_.push_back({});
      for (Expr dim : param.dims) dims_.back().push_back(value(dim));
    }
    locals_.resize(kernel.stages.size());
  }

  int64_t n_outer_points() const {
    return product({extents_.begin(), extents_.begin() + kernel_.n_outer});
  }

  double operations() const {
    double per_point = 0;
    for (const Stage& stage : kernel_.stages) {
      per_point +=
          static_cast<double>(points_inside(stage)) * static_cast<double>(stage.body.size() + 1);
    }
    return per_point * static_cast<double>(n_outer_points());
  }

  void run() {
    const int64_t points = n_outer_points();
    int64_t widest = 1;
    for (const Stage& stage : kernel_.stages) widest = std::max(widest, points_inside(stage));
    const int64_t at_once = std::max<int64_t>(1, kBlock / widest);
    for (int64_t first = 0; first < points; first += at_once) {
      run_points(first, std::min(at_once, points - first));
    }
  }

  std::vector<WrittenElement> run_some(std::span<const int64_t> points) {
    std::vector<WrittenElement> written;
    written_ = &written;
    for (int64_t point : points) run_points(point, 1);
    return written;
  }

  double largest() const { return largest_; }

 private:
  void run_points(int64_t first, int64_t count) {
    first_point_ = first;
    n_points_ = count;
    for (StageId stage : kernel_.stages.ids()) run_stage(stage);
  }

  int64_t value(Expr expr) const {
    const Expr::Value found = expr.evaluate(bindings_);
    LUMINAL_CHECK(found.value.has_value(), expr.text() + " has no value: " + found.why);
    return *found.value;
  }
  int64_t extent(LoopId loop) const { return extents_[loop]; }

  int64_t inner_points(const Stage& stage) const {
    int64_t points = 1;
    for (LoopId loop : stage.loops) points *= extent(loop);
    return points;
  }
  int64_t points_inside(const Stage& stage) const {
    return inner_points(stage) * (stage.reduction ? extent(stage.reduction->loop) : 1);
  }

  // The index along every loop at flat positions from `first` on; 0 for loops that the stage
  // doesn't run.
  void fill(const Stage& stage, int64_t first, IndexRoom& room) const {
    const IdRange<LoopId> outer = outer_loops(kernel_);
    std::vector<LoopId> order(outer.begin(), outer.end());
    order.insert(order.end(), stage.loops.begin(), stage.loops.end());
    if (stage.reduction) order.push_back(stage.reduction->loop);
    const int64_t start = first_point_ * points_inside(stage) + first;
    for (LoopId loop : extents_.ids()) std::fill_n(room.axes[loop.index()], room.indices.count, 0);
    for (int64_t j = 0; j < room.indices.count; ++j) {
      int64_t rest = start + j;
      for (size_t k = order.size(); k-- > 0;) {
        room.axes[order[k].index()][j] = rest % extent(order[k]);
        rest /= extent(order[k]);
      }
    }
  }

  void run_stage(StageId number) {
    const Stage& stage = kernel_.stages[number];
    const int64_t taken = stage.reduction ? extent(stage.reduction->loop) : 1;
    const int64_t results = n_points_ * inner_points(stage) * (is_running(stage) ? taken : 1);
    const int64_t per_result = is_running(stage) ? 1 : taken;
    const int64_t positions = results * per_result;
    std::vector<Lane>& out = locals_[number];
    std::optional<Accumulator> total;
    if (stage.reduction) total.emplace(arithmetic_, stage.reduction->reducer, stage.dtype);
    out.assign(static_cast<size_t>(results), total ? total->total() : Lane{.integer = 0});
    for (int64_t first = 0; first < positions; first += kBlock) {
      Scratch::Mark mark(scratch_);
      const int64_t count = std::min(kBlock, positions - first);
      IndexRoom room(scratch_, extents_.size(), count);
      fill(stage, first, room);
      const std::vector<Lane*> lanes = evaluate(stage, room);
      const Lane* values = lanes[stage.result.index()];
      if (const auto* target = std::get_if<UpdateTarget>(&stage.target)) {
        update(stage.dtype, *target, lanes[target->row.index()], values, room);
        continue;
      }
      for (int64_t j = 0; j < count; ++j) {
        Lane& result = out[static_cast<size_t>((first + j) / per_result)];
        if (!total) {
          result = values[j];
          continue;
        }
        const int64_t k = (first + j) % taken;
        if (k == 0) total->restart();
        if (is_running(stage)) {
          total->scan(values[j]);
          result = total->so_far();
        } else {
          total->take(k, values[j]);
          if (k == taken - 1) result = total->total();
        }
      }
    }
    if (const auto* target = std::get_if<OutputTarget>(&stage.target)) store(stage, *target, out);
  }

  static bool is_running(const Stage& stage) { return stage.reduction && stage.reduction->running; }

  // Updates rows of an output, in order; rows out of bounds are skipped.
  void update(DType dtype, const UpdateTarget& target, const Lane* rows, const Lane* values,
              const IndexRoom& room) {
    const ParamId param = target.param;
    std::vector<const int64_t*> rest;
    for (Expr expr : target.rest) rest.push_back(indices(expr, room));
    for (int64_t j = 0; j < room.indices.count; ++j) {
      int64_t at = rows[j].integer;
      if (at < 0 || at >= dims_[param].front()) continue;
      for (size_t d = 0; d < rest.size(); ++d) at = at * dims_[param][d + 1] + rest[d][j];
      Lane value = values[j];
      if (target.combine) {
        value =
            interpret::combine(arithmetic_, *target.combine, dtype, dtype, read(param, at), value);
        interpret::settle(dtype, arithmetic_, &value, 1);
      }
      write(param, at, value);
    }
  }

  Lane read(ParamId param, int64_t at) const {
    const DType dtype = kernel_.params[param].dtype;
    if (is_float(dtype)) return {.real = load_float(dtype, params_[param.index()], at)};
    return {.integer = load_int(dtype, params_[param.index()], at)};
  }
  void write(ParamId param, int64_t at, Lane value) {
    if (written_ != nullptr) written_->push_back({param, at});
    const DType dtype = kernel_.params[param].dtype;
    std::byte* out = params_[param.index()];
    if (is_float(dtype)) {
      const bool wide = arithmetic_.variation == interpret::Variation::Wide;
      store_float(dtype, out, at, wide ? round_to(dtype, value.real) : value.real);
    } else {
      store_int(dtype, out, at, value.integer);
    }
  }

  // Evaluates every instruction at each position of the block.
  std::vector<Lane*> evaluate(const Stage& stage, const IndexRoom& room) {
    std::vector<Lane*> lanes;
    for (const Inst& inst : stage.body) {
      Lane* out = scratch_.lanes(room.indices.count);
      evaluate(stage, inst, lanes, room, out);
      lanes.push_back(out);
      if (!is_float(inst.dtype)) continue;
      for (int64_t j = 0; j < room.indices.count; ++j) {
        const double size = std::fabs(out[j].real);
        if (size > largest_ && size <= std::numeric_limits<double>::max()) largest_ = size;
      }
    }
    return lanes;
  }

  void evaluate(const Stage& stage, const Inst& inst, const std::vector<Lane*>& lanes,
                const IndexRoom& room, Lane* out) {
    const int64_t count = room.indices.count;
    if (const auto* constant = std::get_if<ConstInst>(&inst.what)) {
      const Lane lane =
          is_float(inst.dtype) ? Lane{.real = constant->real} : Lane{.integer = constant->integer};
      std::fill_n(out, count, lane);
    } else if (const auto* iota = std::get_if<IotaInst>(&inst.what)) {
      const int64_t* index = indices(iota->expr, room);
      for (int64_t j = 0; j < count; ++j) {
        if (is_float(inst.dtype)) {
          out[j].real = static_cast<double>(index[j]);
        } else {
          out[j].integer = index[j];
        }
      }
      interpret::settle(inst.dtype, arithmetic_, out, count);
    } else if (const auto* load = std::get_if<LoadInst>(&inst.what)) {
      evaluate_load(*load, lanes, room, out);
    } else if (const auto* local = std::get_if<LocalInst>(&inst.what)) {
      evaluate_local(*local, room, out);
    } else {
      const auto& op = std::get<OpInst>(inst.what);
      std::vector<Lane*> operands;
      for (InstId operand : op.operands) operands.push_back(lanes[operand.index()]);
      const DType from = stage.body[op.operands.back().index()].dtype;
      interpret::apply(op.op, from, inst.dtype, arithmetic_, operands, out, count);
    }
  }

  const int64_t* indices(Expr expr, const IndexRoom& room) {
    int64_t* out = scratch_.integers(room.indices.count);
    interpret::evaluate_index(expr.bind(bindings_), room.indices, out, scratch_);
    return out;
  }

  void evaluate_load(const LoadInst& load, const std::vector<Lane*>& lanes, const IndexRoom& room,
                     Lane* out) {
    const ParamId param = load.param;
    const int64_t count = room.indices.count;
    // Loads from an empty tensor are never used.
    if (product(dims_[param]) == 0) return void(std::fill_n(out, count, Lane{.integer = 0}));
    std::vector<int64_t> at(static_cast<size_t>(count), 0);
    for (size_t d = 0; d < load.index.size(); ++d) {
      const int64_t size = dims_[param][d];
      const Index& index = load.index[d];
      const int64_t* along = index.value ? nullptr : indices(index.expr, room);
      for (int64_t j = 0; j < count; ++j) {
        const int64_t position =
            along != nullptr ? along[j] : lanes[index.value->index()][j].integer;
        int64_t& flat = at[static_cast<size_t>(j)];
        flat = flat * size + std::clamp<int64_t>(position, 0, size - 1);
      }
    }
    for (int64_t j = 0; j < count; ++j) out[j] = read(param, at[static_cast<size_t>(j)]);
  }

  void evaluate_local(const LocalInst& local, const IndexRoom& room, Lane* out) {
    const std::vector<LoopId> loops = buffer_loops(kernel_.stages[local.stage]);
    const int64_t count = room.indices.count;
    std::vector<int64_t> at(static_cast<size_t>(count), 0);
    for (int64_t j = 0; j < count; ++j) {
      for (LoopId loop : outer_loops(kernel_)) {
        int64_t& point = at[static_cast<size_t>(j)];
        point = point * extent(loop) + room.axes[loop.index()][j];
      }
      at[static_cast<size_t>(j)] -= first_point_;
    }
    for (size_t d = 0; d < local.index.size(); ++d) {
      const int64_t* along = indices(local.index[d], room);
      for (int64_t j = 0; j < count; ++j) {
        at[static_cast<size_t>(j)] = at[static_cast<size_t>(j)] * extent(loops[d]) + along[j];
      }
    }
    const std::vector<Lane>& values = locals_[local.stage];
    for (int64_t j = 0; j < count; ++j) {
      out[j] = values[static_cast<size_t>(at[static_cast<size_t>(j)])];
    }
  }

  // The space of a stage's results is its own without the reduction, which only a scan keeps.
  void store(const Stage& stage, const OutputTarget& target, const std::vector<Lane>& values) {
    Stage points = stage;
    if (!is_running(stage)) points.reduction.reset();
    const ParamId param = target.param;
    const auto all = static_cast<int64_t>(values.size());
    for (int64_t first = 0; first < all; first += kBlock) {
      Scratch::Mark mark(scratch_);
      IndexRoom room(scratch_, extents_.size(), std::min(kBlock, all - first));
      fill(points, first, room);
      std::vector<const int64_t*> index;
      for (Expr expr : target.index) index.push_back(indices(expr, room));
      for (int64_t j = 0; j < room.indices.count; ++j) {
        int64_t at = 0;
        for (size_t d = 0; d < index.size(); ++d) at = at * dims_[param][d] + index[d][j];
        write(param, at, values[static_cast<size_t>(first + j)]);
      }
    }
  }

  const Kernel& kernel_;
  const Bindings& bindings_;
  std::span<std::byte* const> params_;
  const interpret::Arithmetic arithmetic_;
  IdVector<LoopId, int64_t> extents_;
  IdVector<ParamId, std::vector<int64_t>> dims_;
  IdVector<StageId, std::vector<Lane>> locals_;  // its results at the current outer points
  int64_t first_point_ = 0;
  int64_t n_points_ = 0;
  double largest_ = 0;
  std::vector<WrittenElement>* written_ = nullptr;
  Scratch scratch_;
};

}  // namespace

double interpret_kernel(const Kernel& kernel, const Bindings& bindings,
                        std::span<std::byte* const> params,
                        const interpret::Arithmetic& arithmetic) {
  LUMINAL_CHECK(params.size() == kernel.params.size(),
                "a kernel got the wrong number of parameters");
  KernelInterpreter interpreter(kernel, bindings, params, arithmetic);
  interpreter.run();
  return interpreter.largest();
}

InterpretedPoints interpret_points(const Kernel& kernel, const Bindings& bindings,
                                   std::span<std::byte* const> params,
                                   std::span<const int64_t> points,
                                   const interpret::Arithmetic& arithmetic) {
  LUMINAL_CHECK(params.size() == kernel.params.size(),
                "a kernel got the wrong number of parameters");
  KernelInterpreter interpreter(kernel, bindings, params, arithmetic);
  InterpretedPoints result{.written = interpreter.run_some(points)};
  result.largest = interpreter.largest();
  return result;
}

InterpretedWork interpreted_work(const Kernel& kernel, const Bindings& bindings) {
  const KernelInterpreter interpreter(kernel, bindings, {}, {});
  return {.points = interpreter.n_outer_points(), .operations = interpreter.operations()};
}

}  // namespace luminal::kernel
