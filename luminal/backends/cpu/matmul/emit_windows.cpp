#include "luminal/backends/cpu/matmul/emit_windows.h"

#include "luminal/backends/cpu/schedule/tiling.h"

namespace luminal::backends::cpu {

using llvm::Value;

namespace {

constexpr int64_t kElement = 4;

// The address of an element of the copy.
Value* in_copy(EmitState& state, const TiledContraction& contraction, Value* element) {
  Builder& builder = state.builder;
  Value* bytes = builder.CreateMul(element, builder.getInt64(kElement));
  bytes = builder.CreateAdd(bytes, state.index.scalar(contraction.right.scratch));
  return builder.CreateGEP(builder.getInt8Ty(), state.scratch, bytes);
}

Value* i64(Builder& builder, int64_t value) {
  return builder.getInt64(static_cast<uint64_t>(value));
}

}  // namespace

WindowCopier::WindowCopier(EmitState& state, const Tiling& tiling,
                           const TiledContraction& contraction)
    : state_(state),
      tiling_(tiling),
      contraction_(contraction),
      builder_(state.builder),
      index_(state.index),
      loops_(state.loops) {}

void WindowCopier::emit(Value* first, Value* count) {
  const TiledWindows& windows = *contraction_.windows;
  Value* channels = i64(builder_, windows.channels);
  loops_.counted(i64(builder_, 0), channels, 1, {}, [&](Value* channel, const Values&) {
    for (const TiledWindows::Plane& plane : windows.planes) {
      Value* k = builder_.CreateMul(channel, i64(builder_, windows.period()));
      k = builder_.CreateAdd(k, i64(builder_, plane.k));
      index_.open_level();
      index_.set_loop(contraction_.k, {k});
      // Line n of the plane is what the plane's first window element sees in line n − plane.down.
      Value* end = builder_.CreateAdd(count, i64(builder_, plane.last_down));
      loops_.counted(i64(builder_, plane.down), end, 1, {}, [&](Value* line, const Values&) {
        Value* seen_in = builder_.CreateSub(line, i64(builder_, plane.down));
        seen_in = builder_.CreateAdd(first, seen_in);
        index_.open_level();
        index_.set_loop(tiling_.windows->loop, {seen_in});
        copy_line(channel, plane, line);
        index_.unset_loop(tiling_.windows->loop);
        index_.close_level();
        return Values();
      });
      index_.unset_loop(contraction_.k);
      index_.close_level();
    }
    return Values();
  });
}

// Writes whole vectors. What lies beyond the line is overwritten by the next one, or is spare.
void WindowCopier::copy_line(Value* channel, const TiledWindows::Plane& plane, Value* line) {
  const TiledWindows& windows = *contraction_.windows;
  const Expr column =
      kernel::index_of(tiling_.column_loop, state_.schedule.extents[tiling_.column_loop]);
  Value* start = builder_.CreateMul(channel, i64(builder_, windows.channel));
  start =
      builder_.CreateAdd(start, builder_.CreateMul(line, i64(builder_, tiling_.windows->pitch)));
  start = builder_.CreateAdd(start, i64(builder_, plane.base + plane.across));
  const int64_t length = tiling_.windows->length + plane.last_across - plane.across;
  const int level = index_.level();
  loops_.chunked({tiling_.column_loop, nullptr, i64(builder_, length), tiling_.lanes, 1}, {},
                 [&](const Values&) {
                   StageEmitter emitter(state_, contraction_.right.stage);
                   emitter.emit_hoisted(level);
                   emitter.emit();
                   Value* value = state_.locals[contraction_.right.stage][0];
                   if (!value->getType()->isVectorTy()) {
                     const auto lanes = static_cast<unsigned>(tiling_.lanes);
                     value = builder_.CreateVectorSplat(lanes, value);
                   }
                   Value* element = builder_.CreateAdd(start, index_.scalar(column));
                   builder_.CreateAlignedStore(value, in_copy(state_, contraction_, element),
                                               llvm::Align(kElement));
                   return Values();
                 });
}

PanelOperand window_operand(EmitState& state, const Tiling& tiling,
                            const TiledContraction& contraction, Value* position, Value* k) {
  Builder& builder = state.builder;
  const TiledWindows& windows = *contraction.windows;
  Value* channel = builder.CreateUDiv(k, i64(builder, windows.period()));
  Value* element = builder.CreateMul(channel, i64(builder, windows.channel));
  PanelOperand panels;
  panels.base = in_copy(state, contraction, builder.CreateAdd(element, position));
  panels.panel_bytes = i64(builder, int64_t{tiling.lanes} * kElement);
  panels.windows.channel_bytes = windows.channel * kElement;
  for (int64_t offset : windows.offsets) panels.windows.offsets.push_back(offset * kElement);
  return panels;
}

}  // namespace luminal::backends::cpu
