#include "luminal/backends/cpu/matmul/emit_shared_rows.h"

#include <algorithm>

#include "luminal/base/check.h"

namespace luminal::backends::cpu {

using llvm::Value;

namespace {

// Accumulators that fit in registers.
constexpr int kMostRowSums = 24;

}  // namespace

SharedRowsEmitter::SharedRowsEmitter(EmitState& state, const SharedRows& shared)
    : state_(state),
      shared_(shared),
      stage_(state.schedule.stages[shared.stage]),
      builder_(state.builder),
      index_(state.index),
      lanes_(stage_.lanes) {
  for (kernel::LoopId loop : shared.rows) {
    n_rows_ *= static_cast<int>(*state.schedule.extents[loop].to_int());
  }
}

void SharedRowsEmitter::emit() {
  if (shared_.lanes_along_k) {
    emit_along_k();
  } else {
    emit_along_columns();
  }
}

void SharedRowsEmitter::at_row(int row, const std::function<void()>& body) {
  index_.open_level();
  for (size_t d = shared_.rows.size(); d-- > 0;) {
    const kernel::LoopId loop = shared_.rows[d];
    const auto extent = *state_.schedule.extents[loop].to_int();
    index_.set_loop(loop, {builder_.getInt64(static_cast<uint64_t>(row % extent))});
    row /= static_cast<int>(extent);
  }
  body();
  for (kernel::LoopId loop : shared_.rows) index_.unset_loop(loop);
  index_.close_level();
}

void SharedRowsEmitter::at_vectors(kernel::LoopId loop, Value* from, int count,
                                   const std::function<void()>& body) {
  Values positions;
  for (int k = 0; k < count; ++k) {
    positions.push_back(
        builder_.CreateNSWAdd(from, builder_.getInt64(static_cast<uint64_t>(k * lanes_))));
  }
  index_.open_level();
  const Chunk outer = index_.chunk();
  index_.set_chunk({.loop = loop, .lanes = lanes_, .copies = count});
  index_.set_loop(loop, positions);
  body();
  index_.unset_loop(loop);
  index_.set_chunk(outer);
  index_.close_level();
}

void SharedRowsEmitter::at_column(Value* column, const std::function<void()>& body) {
  index_.open_level();
  index_.set_loop(shared_.column, {column});
  body();
  index_.unset_loop(shared_.column);
  index_.close_level();
}

// A vector per copy.
Values SharedRowsEmitter::factor(kernel::StageId stage, int copies) {
  StageEmitter(state_, stage).emit();
  Values values = state_.locals[stage];
  values.resize(static_cast<size_t>(copies), values.back());
  for (Value*& value : values) {
    if (value->getType()->isVectorTy()) continue;
    value = builder_.CreateVectorSplat(static_cast<unsigned>(lanes_), value);
  }
  return values;
}

// ---- Vectorised along k: horizontal sums of several columns are stored as one vector

void SharedRowsEmitter::emit_along_k() {
  const auto length = *state_.schedule.extents[shared_.k].to_int();
  const int vectors = static_cast<int>(length) / lanes_;
  int at_once = 1;
  while (2 * at_once * n_rows_ <= lanes_) at_once *= 2;
  std::vector<Values> left(static_cast<size_t>(n_rows_));
  at_vectors(shared_.k, builder_.getInt64(0), vectors, [&] {
    for (int row = 0; row < n_rows_; ++row) {
      at_row(row, [&] { left[static_cast<size_t>(row)] = factor(shared_.left, vectors); });
    }
  });
  Value* all = index_.scalar(state_.schedule.extents[shared_.column]);
  Value* rounds = builder_.CreateAnd(all, builder_.getInt64(static_cast<uint64_t>(-at_once)));
  auto columns = [&](Value* from, Value* to, int count) {
    state_.loops.counted(from, to, count, {}, [&](Value* column, const Values&) {
      emit_columns(left, column, count);
      return Values();
    });
  };
  columns(builder_.getInt64(0), rounds, at_once);
  if (at_once > 1) columns(rounds, all, 1);
}

void SharedRowsEmitter::emit_columns(const std::vector<Values>& left, Value* column, int count) {
  Values products(static_cast<size_t>(n_rows_ * count));
  const int vectors = static_cast<int>(left[0].size());
  for (int c = 0; c < count; ++c) {
    at_column(builder_.CreateNSWAdd(column, builder_.getInt64(static_cast<uint64_t>(c))), [&] {
      at_vectors(shared_.k, builder_.getInt64(0), vectors, [&] {
        const Values right = factor(shared_.right, vectors);
        for (int row = 0; row < n_rows_; ++row) {
          const Values& own = left[static_cast<size_t>(row)];
          Value* sum = builder_.CreateFMul(own[0], right[0]);
          for (size_t v = 1; v < right.size(); ++v) {
            sum = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()},
                                           {own[v], right[v], sum});
          }
          products[static_cast<size_t>(row * count + c)] = sum;
        }
      });
    });
  }
  // The sums of a row lie in one vector: either they all fit in one, or there is one per row.
  const Values sums = sums_of(std::move(products));
  at_column(column, [&] {
    for (int row = 0; row < n_rows_; ++row) {
      const int first = row * count;
      std::vector<int> own;
      for (int c = 0; c < count; ++c) own.push_back(first % lanes_ + c);
      at_row(row, [&] {
        Value* base = builder_.CreateGEP(builder_.getInt8Ty(), state_.scratch,
                                         index_.scalar(stage_.local_offset));
        Value* address =
            builder_.CreateGEP(builder_.getFloatTy(), base, index_.scalar(stage_.target.address));
        Value* vector = sums[static_cast<size_t>(first / lanes_)];
        builder_.CreateAlignedStore(builder_.CreateShuffleVector(vector, own), address,
                                    llvm::Align(4));
      });
    }
  });
}

// Lane l of result r is the sum of the lanes of vector r * lanes + l. There may be more vectors
// than lanes: 8 rows with vectors of 4 (sse2, aarch64) give two results.
Values SharedRowsEmitter::sums_of(Values vectors) {
  const auto lanes = static_cast<size_t>(lanes_);
  const size_t n_results = (vectors.size() + lanes - 1) / lanes;
  llvm::Type* type = vectors[0]->getType();
  vectors.resize(n_results * lanes, llvm::Constant::getNullValue(type));
  // A reduction tree: each step adds the halves of two vectors into one.
  for (int step = 1; step < lanes_; step *= 2) {
    std::vector<int> low, high;
    for (int lane = 0; lane < lanes_; ++lane) {
      const bool second = (lane & step) != 0;
      low.push_back(second ? lanes_ + lane - step : lane);
      high.push_back(second ? lanes_ + lane : lane + step);
    }
    Values half;
    for (size_t k = 0; k < vectors.size(); k += 2) {
      Value *a = vectors[k], *b = vectors[k + 1];
      if (llvm::isa<llvm::Constant>(a) && llvm::isa<llvm::Constant>(b)) {
        half.push_back(a);
        continue;
      }
      half.push_back(builder_.CreateFAdd(builder_.CreateShuffleVector(a, b, low),
                                         builder_.CreateShuffleVector(a, b, high)));
    }
    vectors = std::move(half);
  }
  LUMINAL_CHECK(vectors.size() == n_results, "the number of row sums changed");
  return vectors;
}

// ---- Vectorised along columns: all rows by several vectors of columns, summed over all of k

void SharedRowsEmitter::emit_along_columns() {
  const auto length = *state_.schedule.extents[shared_.column].to_int();
  const int all = static_cast<int>(length) / lanes_;
  int vectors = std::min(all, std::max(1, kMostRowSums / n_rows_));
  while (all % vectors != 0) --vectors;
  Value* zero = builder_.getInt64(0);
  Value* end = builder_.getInt64(static_cast<uint64_t>(length));
  state_.loops.counted(zero, end, vectors * lanes_, {}, [&](Value* from, const Values&) {
    at_vectors(shared_.column, from, vectors, [&] {
      auto* type = llvm::FixedVectorType::get(builder_.getFloatTy(), static_cast<unsigned>(lanes_));
      const Values start(static_cast<size_t>(n_rows_ * vectors),
                         llvm::Constant::getNullValue(type));
      Value* n = index_.scalar(state_.schedule.extents[shared_.k]);
      const Values sums =
          state_.loops.counted(zero, n, 1, start, [&](Value* k, const Values& so_far) {
            Values next;
            index_.open_level();
            index_.set_loop(shared_.k, {k});
            const Values right = factor(shared_.right, vectors);
            for (int row = 0; row < n_rows_; ++row) {
              at_row(row, [&] {
                const Values left = factor(shared_.left, vectors);
                for (size_t v = 0; v < right.size(); ++v) {
                  next.push_back(builder_.CreateIntrinsic(
                      llvm::Intrinsic::fma, {type}, {left[v], right[v], so_far[next.size()]}));
                }
              });
            }
            index_.unset_loop(shared_.k);
            index_.close_level();
            return next;
          });
      for (int row = 0; row < n_rows_; ++row) {
        at_row(row, [&] {
          for (int v = 0; v < vectors; ++v) {
            Value* sum = sums[static_cast<size_t>(row * vectors + v)];
            const LaneIndex at = index_.lanes(stage_.target.address, v);
            const auto* output = std::get_if<kernel::OutputTarget>(&stage_.source->target);
            Value* base = output != nullptr
                              ? state_.params[output->param]
                              : builder_.CreateGEP(builder_.getInt8Ty(), state_.scratch,
                                                   index_.scalar(stage_.local_offset));
            state_.memory.store(DType::F32,
                                output != nullptr ? MemoryForm::Tensor : MemoryForm::Local, base,
                                at, sum, false);
          }
        });
      }
    });
    return Values();
  });
}

}  // namespace luminal::backends::cpu
