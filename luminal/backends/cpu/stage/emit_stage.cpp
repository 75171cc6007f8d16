#include "luminal/backends/cpu/stage/emit_stage.h"

#include <algorithm>

#include "luminal/backends/cpu/schedule/gathered_rows.h"
#include "luminal/base/check.h"

namespace luminal::backends::cpu {
namespace {

using kernel::Inst;
using kernel::InstId;
using llvm::Value;

// Prefetch into L2: L1 is full of the current row.
constexpr uint32_t kLocality = 2;

// Instructions up to which a reduction of known length is written out step by step.
constexpr int64_t kMostWrittenOut = 256;

}  // namespace

StageEmitter::StageEmitter(EmitState& state, kernel::StageId stage)
    : state_(state),
      schedule_(state.schedule),
      id_(stage),
      stage_(state.schedule.stages[stage]),
      body_(stage_.source->body),
      unrounded_(state.options.contract ? unrounded_values(*stage_.source)
                                        : Unrounded{.adds = {}, .reduced = {}, .unrounded = {}}),
      builder_(state.builder),
      index_(state.index) {
  values_.resize(body_.size());
  splats_.resize(body_.size());
  place_instructions();
  find_looked_along();
}

// Collects the gathered indices to check. Rows to write are checked in update(), which branches
// anyway.
void StageEmitter::find_looked_along() {
  looked_along_.resize(body_.size());
  rows_inside_.resize(body_.size());
  if (!state_.options.look_at_rows) return;
  for (const Access& access : stage_.access) {
    for (const Access::Gathered& at : access.gathered) {
      std::vector<Expr>& extents = looked_along_[at.value.index()];
      if (is_known_row(*stage_.source, at.value, at.extent)) continue;
      if (std::ranges::find(extents, at.extent) == extents.end()) extents.push_back(at.extent);
    }
  }
}

bool StageEmitter::varies_with_lanes(Expr e) const {
  return stage_.vector_loop.valid() && uses_loop(e, stage_.vector_loop);
}

int StageEmitter::place_of(Expr e) const {
  for (size_t k = stage_.loops.size(); k-- > 0;) {
    if (uses_loop(e, stage_.loops[k])) return static_cast<int>(k);
  }
  return kHoisted;
}

// Finds for each instruction the outermost loop in which its inputs are available, and whether it
// varies across lanes.
void StageEmitter::place_instructions() {
  // A stage with loops is under guards that hoisting must not cross: its loads may be out of range
  // if a loop has no iterations. The same holds if its vector loop isn't the kernel's.
  const bool may_hoist = schedule_.vector_outer && stage_.loops.empty();
  for (size_t k = 0; k < body_.size(); ++k) {
    int place = may_hoist ? kHoisted : kEntry;
    bool varies = false;
    auto take_expr = [&](Expr e) {
      place = std::max(place, place_of(e));
      varies = varies || varies_with_lanes(e);
    };
    auto take_operand = [&](InstId id) {
      place = std::max(place, place_[id.index()]);
      varies = varies || varies_[id.index()];
    };
    const Access& access = stage_.access[k];
    take_expr(access.address);
    if (access.guard.valid()) {
      take_expr(access.guarded);
      take_operand(access.guard);
    }
    take_expr(stage_.iota[k]);
    for (const auto& gathered : stage_.access[k].gathered) take_operand(gathered.value);
    if (const auto* op = std::get_if<kernel::OpInst>(&body_[k].what)) {
      for (InstId id : op->operands) take_operand(id);
    } else if (const auto* local = std::get_if<kernel::LocalInst>(&body_[k].what)) {
      place = std::max(place, kEntry);  // not before the stage that computes it
      const ScheduledStage& source = schedule_.stages[local->stage];
      if (schedule_.vector_outer) {
        varies =
            varies || source.in_memory || state_.locals[local->stage][0]->getType()->isVectorTy();
      }
    }
    if (varies && schedule_.vector_outer) place = std::max(place, kEntry);
    place_.push_back(place);
    varies_.push_back(varies);
  }
}

int StageEmitter::level_of(int place) const {
  return place == kHoisted ? hoisted_level_ : entry_level_ + 1 + place;
}

void StageEmitter::emit_hoisted(int level) {
  hoisted_level_ = level;
  emit_instructions(kHoisted);
}

void StageEmitter::emit() {
  const auto& extents = schedule_.extents;
  Value* runs = nullptr;  // whether all inner loops have an iteration
  auto runs_if = [&](Value* condition) {
    runs = runs == nullptr ? condition : builder_.CreateAnd(runs, condition);
  };
  const auto& reduction = stage_.source->reduction;
  const bool reduces = reduction && !reduction->running;
  for (kernel::LoopId loop : kernel::buffer_loops(*stage_.source)) {
    if (!may_be_zero(extents[loop])) continue;
    runs_if(builder_.CreateICmpSGT(index_.scalar(extents[loop]), builder_.getInt64(0)));
  }
  if (kernel::copies_shared(*schedule_.kernel, *stage_.source)) {
    const kernel::ParamId output = std::get<kernel::OutputTarget>(stage_.source->target).param;
    const kernel::ParamId input = schedule_.kernel->params[output].shares;
    runs_if(builder_.CreateICmpNE(state_.params[output], state_.params[input]));
  }
  auto nest = [&](bool empty_reduction) {
    index_.open_level();
    entry_level_ = index_.level();
    if (!empty_reduction) emit_instructions(kEntry);
    if (schedule_.vector_outer && stage_.loops.empty()) emit_prefetches();
    Values results = emit_nest(0, empty_reduction);
    index_.close_level();
    return results;
  };
  Values results;
  auto all = [&] {
    if (!reduces || !may_be_zero(extents[stage_.loops.back()])) {
      results = nest(false);
      return;
    }
    Value* length = index_.scalar(extents[stage_.loops.back()]);
    Value* some = builder_.CreateICmpSGT(length, builder_.getInt64(0));
    results = state_.loops.either(some, [&] { return nest(false); }, [&] { return nest(true); });
  };
  if (runs == nullptr) {
    all();
  } else {
    state_.loops.guarded(runs, all);
  }
  state_.locals[id_] = results;
}

// The bounds of a loop: its extent, or the part that a mask leaves.
EmitState::Range StageEmitter::range(kernel::LoopId loop) {
  const auto part = state_.ranges.find(loop);
  if (part != state_.ranges.end()) return part->second;
  return {builder_.getInt64(0), index_.scalar(schedule_.extents[loop])};
}

// The vector loop: first the range in which the mask is known to hold, then the rest, in which it
// is evaluated.
Values StageEmitter::run_along(kernel::LoopId loop, const Values& carried,
                               const LoopEmitter::ChunkBody& body) {
  LoopEmitter::VectorLoop along{loop, nullptr, range(loop).to, stage_.lanes, stage_.unroll};
  const auto part = state_.ranges.find(loop);
  if (part == state_.ranges.end()) return state_.loops.chunked(along, carried, body);
  along.from = part->second.from;
  Values so_far = carried;
  if (part->second.shown != nullptr &&
      std::ranges::find(stage_.iota, part->second.mask) != stage_.iota.end()) {
    LoopEmitter::VectorLoop first = along;
    first.to = part->second.shown;
    first.whole = EmitState::kRangeStep % (stage_.lanes * stage_.unroll) == 0;
    holds_ = part->second.mask;
    so_far = state_.loops.chunked(first, so_far, body);
    holds_.reset();
    along.from = first.to;
  }
  return state_.loops.chunked(along, so_far, body);
}

// Emits loop `position` and all inside it; returns the value of a stage without a buffer.
Values StageEmitter::emit_nest(size_t position, bool empty_reduction) {
  const bool reduces = stage_.source->reduction.has_value();
  if (position == stage_.loops.size() || (reduces && position + 1 == stage_.loops.size())) {
    Values results;
    if (reduces && stage_.source->reduction->running) {
      emit_scan(position);
      return {};
    }
    if (!reduces) {
      results = body_results();
    } else if (empty_reduction) {
      ReduceEmitter reduce(builder_, state_.ops, stage_.source->reduction->reducer,
                           stage_.source->dtype);
      const bool in_lanes = index_.chunk().loop.valid();
      Value* value = reduce.finish(reduce.start(in_lanes ? index_.chunk().lanes : 1));
      results.assign(in_lanes ? static_cast<size_t>(index_.chunk().copies) : 1, value);
    } else {
      results = emit_reduction(position);
    }
    if (!stage_.in_memory && std::holds_alternative<kernel::LocalTarget>(stage_.source->target)) {
      return results;
    }
    write(results);
    return {};
  }
  const kernel::LoopId loop = stage_.loops[position];
  if (loop == stage_.vector_loop) {
    run_along(loop, {}, [&](const Values&) {
      if (!empty_reduction) emit_instructions(static_cast<int>(position));
      emit_prefetches();
      emit_nest(position + 1, empty_reduction);
      return Values();
    });
    return {};
  }
  const EmitState::Range all = range(loop);
  state_.loops.counted(all.from, all.to, 1, {}, [&](Value* i, const Values&) {
    index_.open_level();
    index_.set_loop(loop, {i});
    if (!empty_reduction) emit_instructions(static_cast<int>(position));
    emit_nest(position + 1, empty_reduction);
    index_.unset_loop(loop);
    index_.close_level();
    return Values();
  });
  return {};
}

// The reduction loop: horizontal if it is the vector loop, else one reduction per lane.
Values StageEmitter::emit_reduction(size_t position) {
  const kernel::Reduction& reduction = *stage_.source->reduction;
  ReduceEmitter reduce(builder_, state_.ops, reduction.reducer, stage_.source->dtype);
  auto take_in = [&](const Values& so_far) {
    emit_instructions(static_cast<int>(position));
    const Chunk& chunk = index_.chunk();
    if (chunk.loop == reduction.loop) emit_prefetches();
    // If lanes are different results, the mask only matters for the store.
    Value* mask = chunk.loop == reduction.loop ? chunk.mask : nullptr;
    Values next;
    for (size_t copy = 0; copy < so_far.size(); ++copy) {
      const bool as_vector = chunk.loop.valid();
      if (unrounded_.reduced) {
        Value* sum =
            multiply_add(*unrounded_.reduced, so_far[copy], static_cast<int>(copy), as_vector);
        next.push_back(mask == nullptr ? sum : builder_.CreateSelect(mask, sum, so_far[copy]));
        continue;
      }
      Value* value = operand(stage_.source->result, static_cast<int>(copy), as_vector);
      next.push_back(reduce.step(so_far[copy], value, mask));
    }
    return next;
  };
  if (reduction.loop == stage_.vector_loop) {
    Values start(static_cast<size_t>(stage_.unroll), reduce.start(stage_.lanes));
    Values sums = run_along(reduction.loop, start, take_in);
    return {reduce.finish(reduce.across_lanes(reduce.combine_all(sums)))};
  }
  const Chunk& chunk = index_.chunk();
  const bool in_lanes = chunk.loop.valid();
  Values start(static_cast<size_t>(chunk.copies), reduce.start(in_lanes ? chunk.lanes : 1));
  auto step = [&](Value* i, const Values& so_far) {
    index_.open_level();
    index_.set_loop(reduction.loop, {i});
    Values next = take_in(so_far);
    index_.unset_loop(reduction.loop);
    index_.close_level();
    return next;
  };
  Values sums = start;
  if (const auto steps = steps_written_out(reduction.loop, start.size())) {
    for (int64_t k = 0; k < *steps; ++k) {
      sums = step(builder_.getInt64(static_cast<uint64_t>(k)), sums);
    }
  } else {
    const EmitState::Range all = range(reduction.loop);
    sums = state_.loops.counted(all.from, all.to, 1, start, step);
  }
  for (Value*& sum : sums) sum = reduce.finish(sum);
  return sums;
}

// The length of a short reduction, whose steps are written one after the other: what they compute
// of their number (the row and column of a window, whether it lies in the padding) is then known.
std::optional<int64_t> StageEmitter::steps_written_out(kernel::LoopId loop, size_t copies) const {
  const auto length = schedule_.extents[loop].to_int();
  if (!length || state_.ranges.contains(loop)) return {};
  const auto step = static_cast<int64_t>(body_.size() * copies);
  if (*length > kMostWrittenOut / step) return {};
  return length;
}

// The scan loop: across lanes if it is the vector loop, else one scan per lane. Every element is
// written.
void StageEmitter::emit_scan(size_t position) {
  const kernel::Reduction& scan = *stage_.source->reduction;
  ReduceEmitter reduce(builder_, state_.ops, scan.reducer, stage_.source->dtype);
  Value* extent = index_.scalar(schedule_.extents[scan.loop]);
  if (scan.loop == stage_.vector_loop) {
    auto take_in = [&](const Values& carried) {
      emit_instructions(static_cast<int>(position));
      emit_prefetches();
      Value* so_far = carried[0];
      Values results;
      for (int copy = 0; copy < index_.chunk().copies; ++copy) {
        Value* values = operand(stage_.source->result, copy, true);
        results.push_back(reduce.finish(reduce.prefix(so_far, values, index_.chunk().mask)));
      }
      write(results);
      return Values{so_far};
    };
    state_.loops.chunked({scan.loop, nullptr, extent, stage_.lanes, stage_.unroll},
                         {reduce.start(1)}, take_in);
    return;
  }
  const Chunk& chunk = index_.chunk();
  const bool in_lanes = chunk.loop.valid();
  Values start(static_cast<size_t>(chunk.copies), reduce.start(in_lanes ? chunk.lanes : 1));
  state_.loops.counted(builder_.getInt64(0), extent, 1, start, [&](Value* i, const Values& so_far) {
    index_.open_level();
    index_.set_loop(scan.loop, {i});
    emit_instructions(static_cast<int>(position));
    Values next, results;
    for (size_t copy = 0; copy < so_far.size(); ++copy) {
      Value* value = operand(stage_.source->result, static_cast<int>(copy), in_lanes);
      next.push_back(reduce.step(so_far[copy], value, nullptr));
      results.push_back(reduce.finish(next.back()));
    }
    write(results);
    index_.unset_loop(scan.loop);
    index_.close_level();
    return next;
  });
}

// In the vector loop, prefetches the lines of the next outer iteration at the same position. After
// the last one these addresses may be invalid, which is harmless.
void StageEmitter::emit_prefetches() {
  constexpr int kLine = 64;
  const Chunk& chunk = index_.chunk();
  if (chunk.mask != nullptr) return;
  for (const Prefetch& prefetch : schedule_.prefetches) {
    if (prefetch.stage != id_) continue;
    const int bytes = std::max(1, bits(schedule_.kernel->params[prefetch.param].dtype) / 8);
    for (int copy = 0; copy < chunk.copies; ++copy) {
      for (int at = 0; at < chunk.lanes * bytes; at += kLine) {
        if ((copy * chunk.lanes * bytes + at) % kLine != 0) continue;
        Value* element = builder_.CreateAdd(index_.scalar(prefetch.address, copy),
                                            index_.scalar(prefetch.distance));
        Value* offset = builder_.CreateAdd(
            builder_.CreateMul(element, builder_.getInt64(static_cast<uint64_t>(bytes))),
            builder_.getInt64(static_cast<uint64_t>(at)));
        Value* address =
            builder_.CreateGEP(builder_.getInt8Ty(), state_.params[prefetch.param], offset);
        emit_prefetch(builder_, address, kLocality);
      }
    }
  }
}

}  // namespace luminal::backends::cpu
