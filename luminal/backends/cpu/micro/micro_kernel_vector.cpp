// Micro kernels on vectors: each lane accumulates a column; left elements are broadcast.
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "luminal/backends/cpu/micro/micro_kernel_parts.h"
#include "luminal/base/check.h"

namespace luminal::backends::cpu {
namespace {

using llvm::Value;

// Independent accumulators: enough to keep two FMA units of latency 4 busy.
constexpr int kIndependentSums = 8;

// Steps that the body of a loop over panels takes without prefetches. One step of 8 × 3 vectors is
// 46 instructions, as many as the decoder delivers in the time of its products; four steps without
// prefetches took 8 to 14 % less time.
constexpr int kStepsAtOnce = 4;

// Elements of a window up to which they are written out instead of looked up in a table.
constexpr int64_t kMostWrittenOut = 25;

constexpr int64_t kLineBytes = 64;
constexpr int64_t kStepBytes = 4;  // that a step reads from a row

class VectorMicroKernel {
 public:
  explicit VectorMicroKernel(const MicroKernel& kernel)
      : k_(kernel), b_(kernel.builder), index_(b_), loops_(b_, index_) {
    llvm::Type* sum = k_.multiply == Multiply::I8Dot ? b_.getInt32Ty() : b_.getFloatTy();
    sum_ = llvm::FixedVectorType::get(sum, static_cast<unsigned>(k_.lanes()));
    Value* per_step = k_.i64(elements_per_lane(k_.multiply));
    steps_ = b_.CreateUDiv(k_.k_count, per_step);
    rest_ = b_.CreateURem(k_.k_count, per_step);
    step_bytes_ = k_.multiply == Multiply::F32 ? k_.left.k_bytes : k_.i64(kStepBytes);
  }

  void emit();

 private:
  // Rows × panels results computed together: the addresses of their operands and of the tile.
  struct Block {
    int rows, panels;
    Value *left, *right, *tile;
  };

  // Which elements a step reads from a row: all, or the remainder of k, past which nothing may be
  // read.
  enum class Take : uint8_t { All, Rest };

  void all_rows(int panels, Value* right, Value* tile);
  void some_rows(int panels, std::initializer_list<int> sizes, Value* right, Value* tile);
  void block(const Block& block);
  Values first_sums(const Block& block);
  Value* sum_address(const Block& block, int number);
  llvm::Align alignment() const {
    return llvm::Align(static_cast<uint64_t>(k_.target.vector_bytes));
  }
  void prefetch(const Block& block, Value* at, int steps);
  bool has_windows() const { return !k_.right.windows.offsets.empty(); }
  Values panel_sums(const Block& block, Values sums);
  Values some_steps(const Block& block, Value* from, Value* to, int count, int ways, Values sums);
  Values window_sums(const Block& block, const Values& first);
  Value* window_table();
  // Adds the products of step `at` to the sums; `panels` is where its first panel is.
  Values step(const Block& block, Value* at, Value* panels, const Values& sums,
              Take take = Take::All);
  Value* in_panels(const Block& block, Value* at) {
    return k_.at(block.right, k_.times(at, k_.panel_step_bytes()));
  }
  Value* right_elements(Value* address);
  Value* left_elements(const Block& block, int row, Value* at, Take take);
  Value* offsets();
  Value* result(const Block& block, const Values& sums, int number);
  Value* add(Value* a, Value* b) {
    return sum_->getElementType()->isFloatTy() ? b_.CreateFAdd(a, b) : b_.CreateAdd(a, b);
  }
  Value* multiply_add(Value* sum, Value* left, Value* right);

  const MicroKernel& k_;
  Builder& b_;
  IndexEmitter index_;
  LoopEmitter loops_;
  llvm::FixedVectorType* sum_;
  Value* steps_;       // full vectors of a panel
  Value* rest_;        // elements along k in the last, partial one
  Value* step_bytes_;  // stride between steps in a row of the left operand
};

// Panels are computed together if there are as many as in the shape, else one by one.
void VectorMicroKernel::emit() {
  Value* all = b_.CreateICmpEQ(k_.panels, k_.i64(k_.shape.panels));
  branch(
      loops_, all, [&] { all_rows(k_.shape.panels, k_.right.base, k_.tile); },
      [&] {
        loops_.counted(k_.i64(0), k_.panels, 1, {}, [&](Value* p, const Values&) {
          Value* panel = k_.at(k_.right.base, b_.CreateMul(p, k_.right.panel_bytes));
          Value* tile = k_.at(k_.tile, k_.times(p, k_.target.vector_bytes));
          // Sums of windows have one accumulator each, so that the borders of tiles, which lie
          // anywhere, don't change their order: more rows keep the units busy instead.
          has_windows() ? some_rows(1, {8, 4, 1}, panel, tile) : some_rows(1, {4, 1}, panel, tile);
          return Values();
        });
      });
}

void VectorMicroKernel::all_rows(int panels, Value* right, Value* tile) {
  Value* all = b_.CreateICmpEQ(k_.rows, k_.i64(k_.shape.rows));
  branch(
      loops_, all, [&] { block({k_.shape.rows, panels, k_.left.base, right, tile}); },
      [&] { some_rows(panels, {8, 4, 2, 1}, right, tile); });
}

// Any number of rows as blocks of these sizes, descending powers of two down to 1.
void VectorMicroKernel::some_rows(int panels, std::initializer_list<int> sizes, Value* right,
                                  Value* tile) {
  Value* from = k_.i64(0);
  for (int rows : sizes) {
    if (rows > k_.shape.rows) continue;
    Value* here = b_.CreateAnd(b_.CreateSub(k_.rows, from), k_.i64(-rows));
    Value* to = b_.CreateAdd(from, here);
    loops_.counted(from, to, rows, {}, [&](Value* row, const Values&) {
      block({rows, panels, k_.at(k_.left.base, b_.CreateMul(row, k_.left.row_bytes)), right,
             k_.at(tile, b_.CreateNSWMul(row, k_.tile_row_bytes))});
      return Values();
    });
    from = to;
  }
}

void VectorMicroKernel::block(const Block& block) {
  Values sums = first_sums(block);
  sums = has_windows() ? window_sums(block, sums) : panel_sums(block, sums);
  for (int i = 0; i < block.rows * block.panels; ++i) {
    b_.CreateAlignedStore(result(block, sums, i), sum_address(block, i), alignment());
  }
}

Values VectorMicroKernel::panel_sums(const Block& block, Values sums) {
  const size_t n = sums.size();
  int ways = 1;
  while (2 * ways * static_cast<int>(n) <= kIndependentSums) ways *= 2;
  // Accumulator set w takes every ways-th step, from the w-th on.
  sums.resize(n * static_cast<size_t>(ways), llvm::Constant::getNullValue(sum_));
  Value* whole = b_.CreateAnd(steps_, k_.i64(-ways));
  const int at_once = k_.streams() ? ways : std::max(ways, kStepsAtOnce);
  Value* first = k_.i64(0);
  if (at_once > ways) {
    Value* many = b_.CreateAnd(steps_, k_.i64(-at_once));
    sums = some_steps(block, first, many, at_once, ways, sums);
    first = many;
  }
  sums = some_steps(block, first, whole, ways, ways, sums);
  while (sums.size() > n) {
    const size_t half = sums.size() / 2;
    for (size_t i = 0; i < half; ++i) sums[i] = add(sums[i], sums[half + i]);
    sums.resize(half);
  }
  if (ways > 1) {
    sums = loops_.counted(whole, steps_, 1, sums, [&](Value* at, const Values& carried) {
      return step(block, at, in_panels(block, at), carried);
    });
  }
  if (k_.multiply != Multiply::F32) {
    sums = loops_.either(
        b_.CreateICmpNE(rest_, k_.i64(0)),
        [&] { return step(block, steps_, in_panels(block, steps_), sums, Take::Rest); },
        [&] { return sums; });
  }
  return sums;
}

// The steps from … to − 1, a whole number of times `count`, which is a multiple of `ways`.
Values VectorMicroKernel::some_steps(const Block& block, Value* from, Value* to, int count,
                                     int ways, Values sums) {
  const auto n = static_cast<ptrdiff_t>(sums.size()) / ways;
  return loops_.counted(from, to, count, std::move(sums), [&](Value* at, const Values& carried) {
    Values next = carried;
    if (k_.streams()) prefetch(block, at, count);
    for (int s = 0; s < count; ++s) {
      const auto way = next.begin() + n * (s % ways);
      Value* here = b_.CreateNSWAdd(at, k_.i64(s));
      std::ranges::copy(step(block, here, in_panels(block, here), Values(way, way + n)), way);
    }
    return next;
  });
}

// Channel by channel; the elements of a small window are written out one after the other.
Values VectorMicroKernel::window_sums(const Block& block, const Values& first) {
  const std::vector<int64_t>& offsets = k_.right.windows.offsets;
  const auto period = static_cast<int64_t>(offsets.size());
  Value* table = period > kMostWrittenOut ? window_table() : nullptr;
  Value* channels = b_.CreateUDiv(steps_, k_.i64(period));
  const auto of_channel = [&](Value* channel, const Values& carried) {
    Value* at = k_.times(channel, period);
    Value* columns = k_.at(block.right, k_.times(channel, k_.right.windows.channel_bytes));
    if (table != nullptr) {
      return loops_.counted(
          k_.i64(0), k_.i64(period), 1, carried, [&](Value* j, const Values& sums) {
            Value* offset =
                b_.CreateAlignedLoad(b_.getInt64Ty(), k_.at(table, k_.times(j, 8)), llvm::Align(8));
            return step(block, b_.CreateNSWAdd(at, j), k_.at(columns, offset), sums);
          });
    }
    Values sums = carried;
    for (int64_t j = 0; j < period; ++j) {
      Value* there = k_.at(columns, k_.i64(offsets[static_cast<size_t>(j)]));
      sums = step(block, b_.CreateNSWAdd(at, k_.i64(j)), there, sums);
    }
    return sums;
  };
  const int64_t at_once = std::max<int64_t>(1, kStepsAtOnce / period);
  Value* many = b_.CreateAnd(channels, k_.i64(-at_once));  // 4, 2 or 1
  Values sums =
      loops_.counted(k_.i64(0), many, at_once, first, [&](Value* channel, const Values& carried) {
        Values next = carried;
        for (int64_t c = 0; c < at_once; ++c) {
          next = of_channel(b_.CreateNSWAdd(channel, k_.i64(c)), next);
        }
        return next;
      });
  return at_once == 1 ? sums : loops_.counted(many, channels, 1, sums, of_channel);
}

// The offsets as a constant of the module.
Value* VectorMicroKernel::window_table() {
  std::vector<uint64_t> entries;
  for (int64_t offset : k_.right.windows.offsets) entries.push_back(static_cast<uint64_t>(offset));
  auto* values = llvm::ConstantDataArray::get(b_.getContext(), entries);
  return new llvm::GlobalVariable(*b_.GetInsertBlock()->getModule(), values->getType(), true,
                                  llvm::GlobalValue::PrivateLinkage, values);
}

// Initial sums: one per result, row by row; then, for i8, a correction per panel.
Values VectorMicroKernel::first_sums(const Block& block) {
  const int n = block.rows * block.panels;
  Value* zero = llvm::Constant::getNullValue(sum_);
  auto zeros = [&] { return Values(static_cast<size_t>(n), zero); };
  auto of_tile = [&] {
    Values sums;
    for (int i = 0; i < n; ++i) {
      sums.push_back(b_.CreateAlignedLoad(sum_, sum_address(block, i), alignment()));
    }
    return sums;
  };
  Values sums = k_.adds == b_.getFalse() ? zeros() : loops_.either(k_.adds, of_tile, zeros);
  if (k_.multiply == Multiply::I8Dot) sums.resize(static_cast<size_t>(n + block.panels), zero);
  return sums;
}

Value* VectorMicroKernel::sum_address(const Block& block, int number) {
  const int row = number / block.panels, panel = number % block.panels;
  return k_.at(k_.at(block.tile, k_.times(k_.tile_row_bytes, row)),
               k_.i64(int64_t{panel} * k_.target.vector_bytes));
}

// Emitted before the steps, not between them: LLVM moves no load across a prefetch, and would keep
// all loaded values live at once.
void VectorMicroKernel::prefetch(const Block& block, Value* at, int steps) {
  Value* offset = k_.ahead(k_.times(at, k_.panel_step_bytes()));
  const int64_t bytes = steps * k_.panel_step_bytes();
  for (int p = 0; p < block.panels; ++p) {
    Value* panel = k_.at(block.right, k_.times(k_.right.panel_bytes, p));
    for (int64_t line = 0; line < bytes; line += kLineBytes) {
      emit_prefetch(k_.builder, k_.at(k_.at(panel, offset), k_.i64(line)));
    }
  }
}

Values VectorMicroKernel::step(const Block& block, Value* at, Value* panels, const Values& sums,
                               Take take) {
  Values columns, next = sums;
  for (int p = 0; p < block.panels; ++p) {
    columns.push_back(right_elements(k_.at(panels, k_.times(k_.right.panel_bytes, p))));
  }
  for (int r = 0; r < block.rows; ++r) {
    Value* left = left_elements(block, r, at, take);
    for (int p = 0; p < block.panels; ++p) {
      Value*& sum = next[static_cast<size_t>(r * block.panels + p)];
      sum = multiply_add(sum, left, columns[static_cast<size_t>(p)]);
    }
  }
  if (k_.multiply == Multiply::I8Dot) {
    for (int p = 0; p < block.panels; ++p) {
      Value*& sum = next[static_cast<size_t>(block.rows * block.panels + p)];
      sum = multiply_add(sum, offsets(), columns[static_cast<size_t>(p)]);
    }
  }
  return next;
}

// The elements that a step reads from a panel.
Value* VectorMicroKernel::right_elements(Value* address) {
  if (!is_half(k_.right.narrow)) return b_.CreateAlignedLoad(sum_, address, llvm::Align(4));
  auto* halves = llvm::FixedVectorType::get(b_.getInt16Ty(), sum_->getNumElements());
  Value* bits = b_.CreateAlignedLoad(halves, address, llvm::Align(2));
  return OpEmitter(b_, k_.target).from_half_bits(k_.right.narrow, bits);
}

// The elements that a step reads from a row, broadcast to all lanes.
Value* VectorMicroKernel::left_elements(const Block& block, int row, Value* at, Take take) {
  Value* address =
      k_.at(k_.at(block.left, b_.CreateNSWMul(at, step_bytes_)), k_.times(k_.left.row_bytes, row));
  const int n = elements_per_lane(k_.multiply);
  llvm::Type* type = k_.multiply == Multiply::F32 ? b_.getFloatTy() : b_.getInt32Ty();
  Value* elements = nullptr;
  if (take == Take::All) {
    const auto bytes = static_cast<uint64_t>(element_bytes(k_.multiply));
    elements = b_.CreateAlignedLoad(type, address, llvm::Align(bytes));
  } else {
    elements = b_.CreateBitCast(k_.first_elements(address, rest_, n), type);
  }
  Value* all = b_.CreateVectorSplat(sum_->getElementCount(), elements);
  return k_.multiply == Multiply::I8Dot ? b_.CreateXor(all, offsets()) : all;
}

// The i8 instruction (vpdpbusd) takes its first operand as unsigned. So 128 is added to rows, by
// flipping sign bits; what that adds to the sums is accumulated separately and subtracted.
Value* VectorMicroKernel::offsets() {
  return b_.CreateVectorSplat(sum_->getElementCount(), b_.getInt32(0x80808080));
}

Value* VectorMicroKernel::result(const Block& block, const Values& sums, int number) {
  Value* sum = sums[static_cast<size_t>(number)];
  if (k_.multiply != Multiply::I8Dot) return sum;
  const int panel = number % block.panels;
  return b_.CreateSub(sum, sums[static_cast<size_t>(block.rows * block.panels + panel)]);
}

Value* VectorMicroKernel::multiply_add(Value* sum, Value* left, Value* right) {
  switch (k_.multiply) {
    case Multiply::F32:  // fused if the target has FMA
      return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {sum_}, {left, right, sum});
    case Multiply::Bf16Dot: {
      auto* pairs = llvm::FixedVectorType::get(b_.getBFloatTy(), 2 * sum_->getNumElements());
      left = b_.CreateBitCast(left, pairs);
      right = b_.CreateBitCast(right, pairs);
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
                                {sum, left, right});
    }
    case Multiply::I8Dot:
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpdpbusd_512, {}, {sum, left, right});
    case Multiply::Bf16Tiles:
    case Multiply::I8Tiles:
      break;
  }
  LUMINAL_CHECK(false, "a micro kernel on tiles has no vectors");
}

}  // namespace

void emit_vector_micro_kernel(const MicroKernel& kernel) { VectorMicroKernel(kernel).emit(); }

}  // namespace luminal::backends::cpu
