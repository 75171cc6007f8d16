#include "luminal/backends/cpu/matmul/emit_integer_panels.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <numeric>

#include "luminal/backends/cpu/matmul/emit_integers.h"

namespace luminal::backends::cpu {

using llvm::Value;

namespace {

constexpr int64_t kMostAtOnce = 32;

}  // namespace

IntegerPanelsEmitter::IntegerPanelsEmitter(EmitState& state, const Target& target,
                                           const TiledContraction& contraction)
    : state_(state),
      tiling_(*state.schedule.tiling),
      target_(target),
      contraction_(contraction),
      factor_(*contraction.made_of),
      builder_(state.builder),
      index_(state.index),
      loops_(state.loops),
      at_once_(std::gcd(factor_.block, kMostAtOnce)),
      bytes_of_k_(int64_t{tiling_.lanes} * element_bytes(tiling_.multiply)),
      vector_(llvm::FixedVectorType::get(builder_.getFloatTy(),
                                         static_cast<unsigned>(tiling_.lanes))) {}

void IntegerPanelsEmitter::emit(const QuantisedEmitter::Columns& columns, const Range& k, Value* to,
                                Value* pitch) {
  const Expr extent = state_.schedule.extents[tiling_.column_loop];
  const LoopEmitter::VectorLoop loop{.loop = tiling_.column_loop,
                                     .from = columns.from,
                                     .to = columns.to,
                                     .lanes = tiling_.lanes,
                                     .unroll = 1,
                                     .whole = (extent % tiling_.lanes).is(0)};
  loops_.chunked(loop, {}, [&](const Values&) {
    Values panels;
    for (const TiledIntegers& integers : factor_.integers) {
      panels.push_back(integer_panel(state_, integers, 0));
    }
    Value* column = index_.scalar(kernel::index_of(tiling_.column_loop, extent));
    Value* number =
        builder_.CreateUDiv(builder_.CreateSub(column, columns.from), i64(tiling_.lanes));
    Value* panel = builder_.CreatePtrAdd(to, builder_.CreateMul(number, pitch));
    loops_.counted(k.from, k.end, at_once_, {}, [&](Value* first, const Values&) {
      Value* before = builder_.CreateMul(builder_.CreateSub(first, k.from), i64(bytes_of_k_));
      store(elements(panels, first), builder_.CreatePtrAdd(panel, before));
      return Values();
    });
    return Values();
  });
}

// The dequantised elements of the chunk's columns, from k on.
Values IntegerPanelsEmitter::elements(const Values& panels, Value* k) {
  index_.open_level();
  index_.set_loop(contraction_.k, {k});
  Values result(static_cast<size_t>(at_once_), llvm::Constant::getNullValue(vector_));
  if (factor_.offset.valid()) {
    result.assign(result.size(), stage_vectors(state_, factor_.offset).front());
  }
  for (size_t i = 0; i < panels.size(); ++i) {
    const TiledIntegers& integers = factor_.integers[i];
    Value* slope = stage_vectors(state_, integers.slope).front();
    for (size_t j = 0; j < result.size();) {
      Value* here = builder_.CreateAdd(k, i64(static_cast<int64_t>(j)));
      for (Value* integer : integer_elements(state_, target_, integers, panels[i], here)) {
        result[j] = builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {vector_},
                                             {integer, slope, result[j]});
        ++j;
      }
    }
  }
  index_.unset_loop(contraction_.k);
  index_.close_level();
  return result;
}

void IntegerPanelsEmitter::store(const Values& elements, Value* to) {
  const auto per_lane = static_cast<size_t>(elements_per_lane(tiling_.multiply));
  for (size_t j = 0; j < elements.size(); j += per_lane) {
    Value* value = per_lane == 2 ? pairs(elements[j], elements[j + 1]) : elements[j];
    Value* place = builder_.CreatePtrAdd(to, i64(static_cast<int64_t>(j) * bytes_of_k_));
    builder_.CreateAlignedStore(value, place, llvm::Align(4));
  }
}

// Rounds two vectors to bf16 and interleaves them: each lane holds an element of both.
Value* IntegerPanelsEmitter::pairs(Value* first, Value* second) {
  Value* halves = builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {},
                                           {second, first});
  std::vector<int> order;
  for (int lane = 0; lane < tiling_.lanes; ++lane) {
    order.insert(order.end(), {lane, tiling_.lanes + lane});
  }
  return builder_.CreateShuffleVector(halves, order);
}

}  // namespace luminal::backends::cpu
