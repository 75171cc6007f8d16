#include "luminal/backends/cpu/schedule/schedule.h"

#include <algorithm>

#include "luminal/backends/cpu/schedule/lane_pattern.h"
#include "luminal/backends/cpu/schedule/prefetch.h"
#include "luminal/base/check.h"
#include "luminal/kernel/recognise/forms.h"
#include "luminal/kernel/recognise/guarded_loads.h"

namespace luminal::backends::cpu {
namespace {

using kernel::Inst;
using kernel::InstId;
using kernel::Kernel;
using kernel::LoopId;
using kernel::Stage;

// ---- Flat addresses

Access flat_access(const std::vector<kernel::Index>& index, const Dims& dims) {
  LUMINAL_CHECK(index.size() == dims.size(), "an access has another rank than its tensor");
  std::vector<Expr> strides = contiguous_strides(dims);
  Access access;
  for (size_t k = 0; k < index.size(); ++k) {
    if (index[k].value) {
      access.gathered.push_back({*index[k].value, dims[k], strides[k]});
    } else {
      access.address = access.address + index[k].expr * strides[k];
    }
  }
  return access;
}

Access flat_access(const std::vector<Expr>& index, const Dims& dims) {
  std::vector<kernel::Index> plain;
  for (Expr e : index) plain.push_back({.expr = e, .value = {}});
  return flat_access(plain, dims);
}

// The dims of a stage's local buffer.
Dims local_dims(const Kernel& kernel, const Stage& stage) {
  Dims dims;
  for (LoopId loop : kernel::buffer_loops(stage)) dims.push_back(extent_of(kernel, loop));
  return dims;
}

// ---- Merging outer loops: [4096, 3] in memory order is one loop of 12288.

// Whether e is a polynomial in the index of `loop`: no division, comparison or the like of it.
bool is_plain_in(Expr e, LoopId loop) {
  if (!uses_loop(e, loop)) return true;
  if (e.kind() == ExprKind::Index) return true;
  if (e.kind() != ExprKind::Sum && e.kind() != ExprKind::Product) return false;
  return std::ranges::all_of(e.operands(), [&](Expr x) { return is_plain_in(x, loop); });
}

// Collapses the last two outer loops into one if that makes no expression more complex.
bool merge_last_outer(Schedule& schedule) {
  if (schedule.n_outer < 2) return false;
  const auto a = LoopId::at(schedule.n_outer - 2), b = LoopId::at(schedule.n_outer - 1);
  const Expr merged_extent = schedule.extents[a] * schedule.extents[b];
  const Expr merged = index_of(a, merged_extent);
  IdVector<LoopId, Expr> replacement;
  for (LoopId loop : schedule.extents.ids()) {
    replacement.push_back(index_of(loop, schedule.extents[loop]));
  }
  replacement[a] = merged / schedule.extents[b];
  replacement[b] = merged % schedule.extents[b];
  bool plain = true;
  for_each_expr(schedule, [&](Expr& e) {
    plain = plain && is_plain_in(e.substitute_indices(replacement.items()), a);
  });
  if (!plain) return false;
  for_each_expr(schedule, [&](Expr& e) { e = e.substitute_indices(replacement.items()); });
  schedule.extents[a] = merged_extent;
  schedule.extents[b] = 1;
  --schedule.n_outer;
  return true;
}

// ---- Choosing the vector loop

// The register types decide the number of lanes. If 8-byte values are mixed with smaller ones, the
// smaller ones fill one vector and the 8-byte ones take several.
int lanes_for(const std::vector<const Stage*>& stages, const Target& target) {
  int widest = 1;
  bool has_small = false;
  auto count = [&](DType dtype) {
    if (dtype == DType::Bool) return;
    widest = std::max(widest, register_bytes(dtype));
    has_small |= register_bytes(dtype) <= 4;
  };
  for (const Stage* stage : stages) {
    count(stage->dtype);
    for (const Inst& inst : stage->body) count(inst.dtype);
  }
  if (widest == 8 && has_small) widest = 4;
  return target.vector_bytes / widest;
}

// Cost of one access across lanes, in units of a contiguous vector access.
double access_cost(const Access& access, const std::vector<bool>& varies, LoopId loop, int lanes,
                   bool loads) {
  for (const Access::Gathered& gathered : access.gathered) {
    if (varies[gathered.value.index()]) return 0.5 * lanes;
  }
  LanePattern pattern = lane_pattern(access.simplest(), loop, lanes);
  if (pattern.kind == LaneKind::Uniform) return 0.5;
  if (pattern.kind == LaneKind::General) return 0.5 * lanes;
  if (pattern.stride.is(2) && loads) return std::min(3.0, 0.5 * lanes);  // two and a shuffle
  return pattern.stride.is(1) || pattern.stride.is(-1) ? 1 : 0.5 * lanes;
}

double stage_cost(const ScheduledStage& stage, LoopId loop, int lanes) {
  std::vector<bool> varies = varying(stage, loop, false);
  double cost = access_cost(stage.target, varies, loop, lanes, false);
  for (size_t k = 0; k < stage.access.size(); ++k) {
    const auto& what = stage.source->body[k].what;
    if (std::holds_alternative<kernel::LoadInst>(what) ||
        std::holds_alternative<kernel::LocalInst>(what)) {
      cost += access_cost(stage.access[k], varies, loop, lanes, true);
    }
  }
  return cost;
}

// Slowdown of a loop of this extent due to the masked lanes of its last vector.
double waste(Expr extent, int lanes) {
  std::optional<int64_t> n = extent.to_int();
  if (!n || *n <= 0) return 1;
  return static_cast<double>((*n + lanes - 1) / lanes * lanes) / static_cast<double>(*n);
}

// A scan across lanes takes a few shuffles more than a reduction.
constexpr double kPrefixCost = 2;

// Lanes of an update must be different elements of one row: two gathered rows may be the same.
bool may_be_lanes(const ScheduledStage& stage, LoopId loop) {
  return !std::holds_alternative<kernel::UpdateTarget>(stage.source->target) ||
         uses_loop(stage.target.address, loop);
}

// Vectorises the reduction loop itself, or the innermost loop around it: for out[d] = Σ_k p[k] ·
// v[k, d] the better choice is d.
LoopId best_inner_loop(const Schedule& schedule, const ScheduledStage& stage, double& cost) {
  const size_t n = stage.loops.size();
  LoopId best;
  for (size_t k = n; k-- > 0 && k + 2 >= n;) {
    if (k + 1 < n && !stage.source->reduction) break;  // only the last inner loop
    const LoopId loop = stage.loops[k];
    if (!may_be_lanes(stage, loop)) continue;
    const auto& reduction = stage.source->reduction;
    const bool prefix = reduction && reduction->running && reduction->loop == loop;
    const double c = (stage_cost(stage, loop, stage.lanes) + (prefix ? kPrefixCost : 0)) *
                     waste(schedule.extents[loop], stage.lanes);
    if (!best.valid() || c < cost) {
      best = loop;
      cost = c;
    }
  }
  return best;
}

// ---- Unrolling

// The unroll factor. A reduction needs four accumulators to hide their latency; other loops gain
// little beyond two (softmax 2.4, 2.65, 2.8 Gelem/s with 1, 2, 4; exp2 4.9, 5.0, 5.2), and more
// code takes longer to compile. Limited by the extent.
int unroll_for(int weight, bool reduces, Expr extent, int lanes, const EmitOptions& options) {
  int unroll = weight > 80 ? 1 : weight > 40 || !reduces ? 2 : 4;
  // Partial sums of a reduction are one per copy, so there the factor would change results.
  if (!reduces) unroll = static_cast<int>(options.choices.get(kernel::Knob::Unroll, unroll));
  if (std::optional<int64_t> n = extent.to_int()) {
    const int64_t chunks = std::max<int64_t>(1, *n / lanes);
    while (unroll > 1 && unroll > chunks) --unroll;
    // A loop without a remainder needs no masked copy.
    for (int u = unroll; u > 1; --u) {
      if (*n % (int64_t{u} * lanes) == 0) return u;
    }
  }
  return unroll;
}

// Limits the lanes to the extent of the loop: the others would only be masked.
int lanes_within(Expr extent, int lanes) {
  const std::optional<int64_t> n = extent.to_int();
  while (n && *n > 1 && lanes / 2 >= *n) lanes /= 2;
  return lanes;
}

void choose_vector_loops(Schedule& schedule, const Target& target, const EmitOptions& options) {
  // A loop with one iteration can't be vectorised; its index is 0.
  while (schedule.n_outer > 1 && schedule.extents[last_outer(schedule)].is(1)) --schedule.n_outer;
  std::vector<const Stage*> all;
  double inner_cost = 0, outer_cost = 0;
  bool has_loops = false;
  for (ScheduledStage& stage : schedule.stages) {
    all.push_back(stage.source);
    stage.lanes = lanes_for({stage.source}, target);
    double cost = static_cast<double>(stage.access.size() + 1) * stage.lanes;  // one lane at a time
    stage.vector_loop = best_inner_loop(schedule, stage, cost);
    // The cost of a stage with one iteration is negligible.
    const bool iterates = std::ranges::any_of(
        stage.loops, [&](LoopId loop) { return !schedule.extents[loop].is(1); });
    if (!iterates) continue;
    has_loops = true;
    inner_cost += cost;
  }
  const LoopId last = last_outer(schedule);
  const int lanes = lanes_for(all, target);
  if (last.valid() && !schedule.extents[last].is(1)) {
    for (const ScheduledStage& stage : schedule.stages) {
      outer_cost += stage_cost(stage, last, lanes) * waste(schedule.extents[last], lanes);
    }
    schedule.vector_outer = !has_loops || outer_cost < inner_cost;
  }
  if (schedule.vector_outer) {
    while (merge_last_outer(schedule)) {
    }
    int weight = 0;
    bool reduces = false;
    for (const Stage* stage : all) {
      weight += body_weight(*stage);
      reduces |= stage->reduction.has_value();
    }
    Expr extent = schedule.extents[last_outer(schedule)];
    schedule.lanes = lanes_within(extent, lanes);
    schedule.unroll = unroll_for(weight, reduces, extent, schedule.lanes, options);
  }
  for (ScheduledStage& stage : schedule.stages) {
    if (schedule.vector_outer) {
      stage.vector_loop = last_outer(schedule);
      stage.lanes = schedule.lanes;
      stage.unroll = schedule.unroll;
    } else if (!stage.vector_loop.valid()) {
      stage.lanes = 1;
    } else {
      stage.unroll = unroll_for(body_weight(*stage.source), stage.source->reduction.has_value(),
                                schedule.extents[stage.vector_loop], stage.lanes, options);
    }
  }
}

// ---- Local buffers

void place_locals(Schedule& schedule) {
  // If the outer loop is vectorised, each element of a buffer is one vector per unrolled copy.
  const int64_t per_element = schedule.vector_outer ? schedule.lanes * schedule.unroll : 1;
  Expr offset = kSpareBytes;
  for (ScheduledStage& stage : schedule.stages) {
    if (!stage.in_memory) continue;
    stage.local_offset = offset;
    Expr count = n_elements(local_dims(*schedule.kernel, *stage.source));
    offset = offset + align64(count * Expr(register_bytes(stage.source->dtype) * per_element));
  }
  schedule.scratch_bytes = offset;
}

// Whether a load can only be reached if its tensor isn't empty: for each dim that may be 0, a loop
// around the load has extent 0 then. An index along a dim of at most one element is 0 and has no
// loop.
bool is_guarded(const Kernel& kernel, const kernel::LoadInst& load) {
  const Dims& dims = kernel.params[load.param].dims;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const kernel::Index& index = load.index[axis];
    if (index.value) return false;
    if (!may_be_zero(dims[axis])) continue;
    bool guarded = false;
    for (LoopId loop : kernel.loops.ids()) {
      guarded |=
          uses_loop(index.expr, loop) && extent_of(kernel, loop).substitute(dims[axis], 0).is(0);
    }
    if (!guarded) return false;
  }
  return true;
}

void find_empty_params(Schedule& schedule) {
  const Kernel& kernel = *schedule.kernel;
  bool has_select = false;
  IdVector<kernel::ParamId, bool> unguarded(kernel.params.size());
  for (const Stage& stage : kernel.stages) {
    for (const Inst& inst : stage.body) {
      if (const auto* op = std::get_if<kernel::OpInst>(&inst.what)) {
        has_select |= op->op == Op::Select;
      } else if (const auto* load = std::get_if<kernel::LoadInst>(&inst.what)) {
        if (!is_guarded(kernel, *load)) unguarded[load->param] = true;
      }
    }
  }
  for (kernel::ParamId k : kernel.params.ids()) {
    schedule.may_be_empty.push_back((has_select || unguarded[k]) &&
                                    may_be_zero(n_elements(kernel.params[k].dims)));
  }
}

}  // namespace

ScheduledStage flatten(const Kernel& kernel, const Stage& stage) {
  ScheduledStage flat;
  flat.source = &stage;
  flat.loops = stage.loops;
  if (stage.reduction) flat.loops.push_back(stage.reduction->loop);
  flat.access.resize(stage.body.size());
  flat.iota.resize(stage.body.size());
  const auto guarded = kernel::guarded_loads(stage);
  for (size_t k = 0; k < stage.body.size(); ++k) {
    const auto& what = stage.body[k].what;
    if (const auto* load = std::get_if<kernel::LoadInst>(&what)) {
      flat.access[k] = flat_access(load->index, kernel.params[load->param].dims);
      if (guarded[k]) {
        flat.access[k].guard = guarded[k]->guard;
        flat.access[k].guarded =
            flat_access(guarded[k]->index, kernel.params[load->param].dims).address;
      }
    } else if (const auto* local = std::get_if<kernel::LocalInst>(&what)) {
      flat.access[k] = flat_access(local->index, local_dims(kernel, kernel.stages[local->stage]));
    } else if (const auto* iota = std::get_if<kernel::IotaInst>(&what)) {
      flat.iota[k] = iota->expr;
    }
  }
  if (const auto* output = std::get_if<kernel::OutputTarget>(&stage.target)) {
    flat.target = flat_access(output->index, kernel.params[output->param].dims);
  } else if (const auto* update = std::get_if<kernel::UpdateTarget>(&stage.target)) {
    std::vector<kernel::Index> index = {{.expr = {}, .value = update->row}};
    for (Expr e : update->rest) index.push_back({.expr = e, .value = {}});
    flat.target = flat_access(index, kernel.params[update->param].dims);
  } else {
    std::vector<Expr> index;
    for (LoopId loop : kernel::buffer_loops(stage)) {
      index.push_back(index_of(kernel, loop));
    }
    flat.target = flat_access(index, local_dims(kernel, stage));
    flat.in_memory = !index.empty();
  }
  return flat;
}

void choose_inner_loop(const Schedule& schedule, ScheduledStage& stage, const Target& target,
                       const EmitOptions& options) {
  stage.lanes = lanes_for({stage.source}, target);
  double cost = 0;
  stage.vector_loop = best_inner_loop(schedule, stage, cost);
  if (!stage.vector_loop.valid()) {
    stage.lanes = 1;
    return;
  }
  stage.unroll = unroll_for(body_weight(*stage.source), stage.source->reduction.has_value(),
                            schedule.extents[stage.vector_loop], stage.lanes, options);
}

std::vector<bool> varying(const ScheduledStage& stage, LoopId loop, bool locals_vary) {
  const auto& body = stage.source->body;
  std::vector<bool> result(body.size());
  for (size_t k = 0; k < body.size(); ++k) {
    bool varies = uses_loop(stage.access[k].address, loop) || uses_loop(stage.iota[k], loop) ||
                  (locals_vary && std::holds_alternative<kernel::LocalInst>(body[k].what));
    for (const auto& gathered : stage.access[k].gathered) varies |= result[gathered.value.index()];
    if (const auto* op = std::get_if<kernel::OpInst>(&body[k].what)) {
      for (InstId operand : op->operands) varies |= result[operand.index()];
    }
    result[k] = varies;
  }
  return result;
}

int body_weight(const Stage& stage) {
  int weight = 0;
  for (const Inst& inst : stage.body) {
    const auto* op = std::get_if<kernel::OpInst>(&inst.what);
    if (op == nullptr) {
      weight += 1;
    } else if (op->op == Op::Exp2 || op->op == Op::Log2 || op->op == Op::Sin) {
      weight += 20;
    } else if (op->op == Op::Mod || op->op == Op::IntDiv) {
      weight += 12;
    } else {
      weight += 1;
    }
    if (is_half(inst.dtype)) weight += 4;
  }
  return weight;
}

int register_bytes(DType dtype) { return is_half(dtype) ? 4 : (bits(dtype) + 7) / 8; }

Schedule make_schedule(const Kernel& kernel, const Target& target, const EmitOptions& options) {
  Schedule schedule;
  schedule.kernel = &kernel;
  schedule.n_outer = kernel.n_outer;
  schedule.points = 1;
  for (LoopId loop : kernel.loops.ids()) {
    Expr extent = extent_of(kernel, loop);
    LUMINAL_CHECK(!extent.uses_indices(), "a loop's extent depends on another loop");
    schedule.extents.push_back(extent);
    if (is_outer(kernel, loop)) schedule.points = schedule.points * extent;
  }
  const kernel::Forms& forms = kernel::forms_of(kernel);
  const kernel::Strategy strategy = options.strategy.value_or(kernel::default_strategy(kernel));
  LUMINAL_CHECK(kernel::allows(kernel, strategy), "the strategy doesn't suit the kernel");
  if (strategy == kernel::Strategy::Matmul) {
    tile_schedule(schedule, kernel, *forms.contraction, target, options);
  } else if (strategy == kernel::Strategy::RowBlocks) {
    block_rows(schedule, kernel, *forms.row_blocks, target, options);
  } else {
    for (const Stage& stage : kernel.stages) schedule.stages.push_back(flatten(kernel, stage));
    choose_vector_loops(schedule, target, options);
    if (options.choices.get(kernel::Knob::Prefetch, 1) != 0) plan_prefetches(schedule, options);
    place_locals(schedule);
    find_shared_rows(schedule, target, options);
  }
  find_empty_params(schedule);
  return schedule;
}

}  // namespace luminal::backends::cpu
