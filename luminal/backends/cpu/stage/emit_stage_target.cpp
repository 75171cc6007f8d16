// Stores the values of a stage: to an output, to gathered rows of one, or to a local buffer.
#include <algorithm>

#include "luminal/backends/cpu/stage/emit_stage.h"

namespace luminal::backends::cpu {

using kernel::InstId;
using llvm::Value;

Values StageEmitter::body_results() {
  const InstId result = stage_.source->result;
  if (!varies_[result.index()]) return {values_[result.index()][0]};
  return values_[result.index()];
}

// Whether whole chunks of the output are aligned to their size, so that stores may be non-temporal.
bool StageEmitter::is_aligned_output() const {
  // What another stage updates afterwards should stay in the cache.
  const bool updated = std::ranges::any_of(schedule_.kernel->stages, [](const auto& stage) {
    return std::holds_alternative<kernel::UpdateTarget>(stage.target);
  });
  return !updated && state_.options.nontemporal_stores && index_.chunk().loop.valid() &&
         index_.chunk().mask == nullptr &&
         known_multiple(stage_.target.address, stage_.lanes, stage_.vector_loop, stage_.lanes);
}

// Stores values to the row that an instruction gives, if it is in range.
void StageEmitter::update(const Values& results) {
  const auto& target = std::get<kernel::UpdateTarget>(stage_.source->target);
  // The row is uniform across lanes, but a value from a local buffer is a vector.
  Value* row = values_[target.row.index()][0];
  if (row->getType()->isVectorTy()) row = builder_.CreateExtractElement(row, uint64_t{0});
  const Access::Gathered& at_row = stage_.target.gathered[0];
  const Chunk& chunk = index_.chunk();
  row = builder_.CreateIntCast(row, builder_.getInt64Ty(),
                               !is_unsigned(body_[target.row.index()].dtype));
  Value* inside = builder_.CreateICmpULT(row, index_.scalar(at_row.extent));
  Value* offset = builder_.CreateMul(row, index_.scalar(at_row.stride));
  const DType dtype = stage_.source->dtype;
  Value* base = state_.params[target.param];
  auto write_row = [&] {
    for (int copy = 0; copy < chunk.copies; ++copy) {
      auto across = [&](Value* x) {
        if (!chunk.loop.valid() || x->getType()->isVectorTy()) return x;
        return builder_.CreateVectorSplat(static_cast<unsigned>(chunk.lanes), x);
      };
      Value* value =
          across(results[std::min<size_t>(static_cast<size_t>(copy), results.size() - 1)]);
      LaneIndex at = index_.lanes(stage_.target.address, copy);
      if (at.kind == LaneKind::General) {
        at.vector = builder_.CreateAdd(at.vector, across(offset));
      } else {
        at.base = builder_.CreateAdd(at.base, offset);
      }
      if (target.combine) {
        ReduceEmitter reduce(builder_, state_.ops, *target.combine, dtype);
        Value* there = across(state_.memory.load(dtype, MemoryForm::Tensor, base, at));
        value = reduce.finish(reduce.step(reduce.taken(there), value, nullptr));
      }
      state_.memory.store(dtype, MemoryForm::Tensor, base, at, value, false);
    }
    return Values();
  };
  state_.loops.either(inside, write_row, [&] {
    if (state_.options.look_at_rows) state_.strays.note(state_.scratch);
    return Values();
  });
}

void StageEmitter::write(const Values& results) {
  if (std::holds_alternative<kernel::UpdateTarget>(stage_.source->target)) return update(results);
  const Chunk& chunk = index_.chunk();
  const auto* output = std::get_if<kernel::OutputTarget>(&stage_.source->target);
  for (int copy = 0; copy < chunk.copies; ++copy) {
    Value* value = results[std::min<size_t>(static_cast<size_t>(copy), results.size() - 1)];
    if (chunk.loop.valid() && !value->getType()->isVectorTy()) {
      value = builder_.CreateVectorSplat(static_cast<unsigned>(chunk.lanes), value);
    }
    LaneIndex at = locate(stage_.target, copy, nullptr);
    if (output != nullptr) {
      const bool aligned = is_aligned_output();
      state_.used_nontemporal |= aligned;
      state_.memory.store(stage_.source->dtype, MemoryForm::Tensor, state_.params[output->param],
                          at, value, aligned);
      continue;
    }
    Value* base = builder_.CreateGEP(builder_.getInt8Ty(), state_.scratch,
                                     index_.scalar(stage_.local_offset));
    state_.memory.store(stage_.source->dtype, MemoryForm::Local, base, in_local_buffer(at, copy),
                        value, false);
  }
}

}  // namespace luminal::backends::cpu
