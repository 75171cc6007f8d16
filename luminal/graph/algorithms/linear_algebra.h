// Linear systems of small matrices [… n, n] of a known n; f32 is computed in f64 and rounded once.
#pragma once

#include "luminal/graph/tensor.h"

namespace luminal {

// The inverse of a lower triangular matrix; what is above its diagonal isn't read, and with
// `unit` the diagonal isn't either and counts as 1.
Tensor triangular_inverse(const Tensor& a, bool upper, bool unit = false);

struct Eliminated {
  Tensor solution;     // of a x = b
  Tensor determinant;  // of a
  Tensor log_size;     // log |determinant|, which may overflow
  Tensor sign;         // of the determinant
  Tensor info;         // i32: the first pivot that is 0, from 1 on; else 0
};

// By Gauss-Jordan with the largest pivot of each column. b is [… n, columns].
Eliminated eliminated(const Tensor& a, const Tensor& b);

struct Factored {
  Tensor lu;      // l below the diagonal, whose own is 1, and u: a permuted = l u
  Tensor pivots;  // i32: the row that each one was exchanged with, from 1 on
  Tensor info;    // i32: the first pivot that is 0, from 1 on; else 0
};
// a is [… m, n], with the largest pivot of each column where `pivots` is set.
Factored lu_factored(const Tensor& a, bool pivots);
// The permutation of `rows` rows that pivots are: where each row of the permuted matrix was. i64.
Tensor permutation_of(const Tensor& pivots, Expr rows);

struct Cholesky {
  Tensor factor;  // lower triangular: a = l lᵀ
  Tensor info;    // i32: the first minor that isn't positive, from 1 on; else 0
};
Cholesky cholesky(const Tensor& a);

}  // namespace luminal
