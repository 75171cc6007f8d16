#include "luminal/backends/cpu/matmul/emit_quantised.h"

#include <algorithm>
#include <numeric>

#include "luminal/backends/cpu/matmul/emit_integers.h"
#include "luminal/backends/cpu/micro/emit_fixed_point.h"
#include "luminal/kernel/recognise/panels.h"

namespace luminal::backends::cpu {

using llvm::Value;

namespace {

// Unroll factor along k. There are no software prefetches: with eight panels at once the hardware
// prefetcher is faster. One row of 8-bit weights reads 29 to 32 GB/s, with prefetches 23 to 28.
constexpr int64_t kUnrolledK = 16;

}  // namespace

QuantisedEmitter::QuantisedEmitter(EmitState& state, const Target& target,
                                   const TiledContraction& contraction)
    : state_(state),
      tiling_(*state.schedule.tiling),
      target_(target),
      contraction_(contraction),
      quantised_(*contraction.quantised),
      builder_(state.builder),
      index_(state.index),
      loops_(state.loops),
      vector_(llvm::FixedVectorType::get(builder_.getFloatTy(),
                                         static_cast<unsigned>(tiling_.lanes))) {}

Value* QuantisedEmitter::i64(int64_t value) {
  return builder_.getInt64(static_cast<uint64_t>(value));
}

Value* QuantisedEmitter::at(Value* base, Value* bytes) {
  return builder_.CreatePtrAdd(base, bytes);
}

Value* QuantisedEmitter::splat(Value* value) {
  if (value->getType()->isVectorTy()) return value;
  return builder_.CreateVectorSplat(vector_->getElementCount(), value);
}

Value* QuantisedEmitter::multiply_add(Value* a, Value* b, Value* sum) {
  return builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {vector_}, {a, b, sum});
}

Value* QuantisedEmitter::n_parts() {
  Value* length = index_.scalar(state_.schedule.extents[contraction_.k]);
  return builder_.CreateUDiv(length, i64(quantised_.block));
}

QuantisedEmitter::Rows QuantisedEmitter::from_row(const Rows& rows, Value* row) {
  Value* before = builder_.CreateMul(row, n_parts());
  Value* parts = builder_.CreateMul(before, i64(4));
  Rows from = rows;
  from.base = at(rows.base, builder_.CreateMul(row, rows.row_bytes));
  from.sums = at(rows.sums, parts);
  if (quantised_.fixed_point) {
    from.units = at(rows.units, parts);
    from.digits = at(rows.digits, builder_.CreateMul(before, i64(digits_of_part())));
  }
  return from;
}

int64_t QuantisedEmitter::digits_of_part() const {
  return part_bytes(*quantised_.fixed_point, quantised_.block);
}

void QuantisedEmitter::prepare_rows(const Rows& rows) {
  if (!quantised_.offset.valid() && !quantised_.fixed_point) return;
  loops_.counted(i64(0), rows.count, 1, {}, [&](Value* row, const Values&) {
    const Rows from = from_row(rows, row);
    if (quantised_.offset.valid()) emit_sums(from.base, from.sums);
    if (quantised_.fixed_point) {
      FixedPointEmitter(builder_, loops_, *quantised_.fixed_point, quantised_.block)
          .emit_row(from.base, n_parts(), from.digits, from.units);
    }
    return Values();
  });
}

void QuantisedEmitter::emit_sums(Value* row, Value* sums) {
  const int64_t block = quantised_.block;
  const int64_t lanes = std::min<int64_t>(tiling_.lanes, block);
  auto* type = llvm::FixedVectorType::get(builder_.getFloatTy(), static_cast<unsigned>(lanes));
  loops_.counted(i64(0), n_parts(), 1, {}, [&](Value* number, const Values&) {
    Value* start = at(row, builder_.CreateMul(number, i64(block * 4)));
    Value* sum = llvm::Constant::getNullValue(type);
    for (int64_t k = 0; k < block; k += lanes) {
      Value* x = builder_.CreateAlignedLoad(type, at(start, i64(k * 4)), llvm::Align(4));
      sum = builder_.CreateFAdd(sum, x);
    }
    llvm::CallInst* total =
        builder_.CreateFAddReduce(llvm::ConstantFP::get(builder_.getFloatTy(), -0.0), sum);
    total->setHasAllowReassoc(true);
    builder_.CreateAlignedStore(total, at(sums, builder_.CreateMul(number, i64(4))),
                                llvm::Align(4));
    return Values();
  });
}

void QuantisedEmitter::emit(const Rows& rows, const Columns& columns, Value* tile) {
  Value* from = i64(0);
  const int64_t row_bytes = int64_t{tiling_.shape.panels} * tiling_.lanes * 4;
  for (int n : {8, 4, 2, 1}) {
    if (n > tiling_.shape.rows) continue;
    if (quantised_.fixed_point && n > FixedPointEmitter::kMostRows) continue;
    Value* to =
        builder_.CreateAdd(from, builder_.CreateAnd(builder_.CreateSub(rows.count, from), i64(-n)));
    loops_.counted(from, to, n, {}, [&](Value* row, const Values&) {
      index_.open_level();
      some_rows(from_row(rows, row), n, columns, at(tile, builder_.CreateMul(row, i64(row_bytes))));
      index_.close_level();
      return Values();
    });
    from = to;
  }
}

// n rows by all columns of the tile, with as many panels at once as the tile has.
void QuantisedEmitter::some_rows(const Rows& rows, int n, const Columns& columns, Value* tile) {
  const Expr column =
      kernel::index_of(tiling_.column_loop, state_.schedule.extents[tiling_.column_loop]);
  Value* parts = n_parts();
  const int64_t row_bytes = int64_t{tiling_.shape.panels} * tiling_.lanes * 4;
  loops_.chunked(
      {tiling_.column_loop, columns.from, columns.to, tiling_.lanes, tiling_.shape.panels}, {},
      [&](const Values&) {
        const int copies = index_.chunk().copies;
        Values sums, panels;  // addresses: by row and panel; by integers and panel
        for (int row = 0; row < n; ++row) {
          for (int copy = 0; copy < copies; ++copy) {
            Value* in_row = builder_.CreateMul(
                builder_.CreateSub(index_.scalar(column, copy), columns.from), i64(4));
            sums.push_back(at(at(tile, in_row), i64(row * row_bytes)));
            builder_.CreateAlignedStore(llvm::Constant::getNullValue(vector_), sums.back(),
                                        llvm::Align(4));
          }
        }
        for (const TiledIntegers& integers : quantised_.integers) {
          for (int copy = 0; copy < copies; ++copy) {
            panels.push_back(integer_panel(state_, integers, copy));
          }
        }
        loops_.counted(i64(0), parts, 1, {}, [&](Value* number, const Values&) {
          part(rows, n, number, panels, sums);
          return Values();
        });
        return Values();
      });
}

// Adds one quantisation group of k: scale · Σ integer · x + offset · Σ x.
void QuantisedEmitter::part(const Rows& rows, int n, Value* number, const Values& panels,
                            const Values& sums) {
  const auto copies = static_cast<size_t>(index_.chunk().copies);
  Value* k = builder_.CreateMul(number, i64(quantised_.block));
  index_.open_level();
  index_.set_loop(contraction_.k, {k});
  Values totals;
  for (Value* sum : sums) {
    totals.push_back(builder_.CreateAlignedLoad(vector_, sum, llvm::Align(4)));
  }
  for (size_t i = 0; i < quantised_.integers.size(); ++i) {
    const TiledIntegers& integers = quantised_.integers[i];
    const auto first = panels.begin() + static_cast<ptrdiff_t>(i * copies);
    const Values here(first, first + static_cast<ptrdiff_t>(copies));
    const bool fixed_point = quantised_.fixed_point == integers.dtype;
    const Values products = fixed_point ? multiply_in_fixed_point(rows, n, number, here)
                                        : multiply(integers, rows, n, k, here);
    const Values slopes = stage_vectors(state_, integers.slope);
    for (size_t s = 0; s < totals.size(); ++s) {
      totals[s] = multiply_add(slopes[s % copies], products[s], totals[s]);
    }
  }
  if (quantised_.offset.valid()) {
    const Values offsets = stage_vectors(state_, quantised_.offset);
    for (size_t s = 0; s < totals.size(); ++s) {
      Value* of_row = of_part(rows.sums, static_cast<int>(s / copies), number);
      totals[s] = multiply_add(offsets[s % copies], splat(of_row), totals[s]);
    }
  }
  for (size_t s = 0; s < sums.size(); ++s) {
    builder_.CreateAlignedStore(totals[s], sums[s], llvm::Align(4));
  }
  index_.unset_loop(contraction_.k);
  index_.close_level();
}

// Loads a value that is stored per row and quantisation group.
Value* QuantisedEmitter::of_part(Value* values, int row, Value* number) {
  Value* position = builder_.CreateAdd(builder_.CreateMul(n_parts(), i64(row)), number);
  Value* address = at(values, builder_.CreateMul(position, i64(4)));
  return builder_.CreateAlignedLoad(builder_.getFloatTy(), address, llvm::Align(4));
}

Values QuantisedEmitter::multiply_in_fixed_point(const Rows& rows, int n, Value* number,
                                                 const Values& panels) {
  std::vector<FixedPointEmitter::Row> parts;
  for (int row = 0; row < n; ++row) {
    Value* before = builder_.CreateAdd(builder_.CreateMul(n_parts(), i64(row)), number);
    Value* digits = at(rows.digits, builder_.CreateMul(before, i64(digits_of_part())));
    parts.push_back({digits, of_part(rows.units, row, number)});
  }
  const int64_t panel_bytes = quantised_.block * tiling_.lanes * bits(*quantised_.fixed_point) / 8;
  Values here;
  for (Value* panel : panels)
    here.push_back(at(panel, builder_.CreateMul(number, i64(panel_bytes))));
  return FixedPointEmitter(builder_, loops_, *quantised_.fixed_point, quantised_.block,
                           {tiling_.unroll_k, tiling_.prefetch_bytes})
      .multiply(parts, here);
}

// Σ integer · x over the quantisation group that starts at `k`, by row and panel.
Values QuantisedEmitter::multiply(const TiledIntegers& integers, const Rows& rows, int n, Value* k,
                                  const Values& panels) {
  const int64_t per_step = integers.depth;
  const int64_t wanted = tiling_.unroll_k > 0 ? tiling_.unroll_k : kUnrolledK;
  const int64_t steps = std::max(std::gcd(quantised_.block, wanted), per_step);
  const Values zeros(static_cast<size_t>(n) * panels.size(), llvm::Constant::getNullValue(vector_));
  return loops_.counted(
      i64(0), i64(quantised_.block), steps, zeros, [&](Value* inside, const Values& carried) {
        Values sums = carried;
        for (int64_t step = 0; step < steps; step += per_step) {
          Value* here = builder_.CreateAdd(builder_.CreateAdd(k, inside), i64(step));
          std::vector<Values> columns;
          for (Value* panel : panels) {
            columns.push_back(integer_elements(state_, target_, integers, panel, here));
          }
          Value* left = at(rows.base, builder_.CreateMul(here, i64(4)));
          for (int64_t j = 0; j < per_step; ++j) {
            for (int row = 0; row < n; ++row) {
              Value* address =
                  at(at(left, builder_.CreateMul(rows.row_bytes, i64(row))), i64(j * 4));
              Value* x =
                  splat(builder_.CreateAlignedLoad(builder_.getFloatTy(), address, llvm::Align(4)));
              for (size_t p = 0; p < panels.size(); ++p) {
                Value*& sum = sums[static_cast<size_t>(row) * panels.size() + p];
                sum = multiply_add(x, columns[p][static_cast<size_t>(j)], sum);
              }
            }
          }
        }
        return sums;
      });
}

}  // namespace luminal::backends::cpu
