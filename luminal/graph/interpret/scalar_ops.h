// The element-wise primitives on one block of lanes: the semantics of ops.def in code.
#pragma once

#include <span>

#include "luminal/graph/interpret/lanes.h"
#include "luminal/graph/op.h"

namespace luminal::interpret {

// How results become values of their dtype: rounded to it, or kept in f64 as an accuracy reference.
enum class Precision : uint8_t { AsDeclared, Float64 };

// One element-wise op over `count` lanes: Unary, Binary, Select, Cast and Bitcast. `from` is the
// dtype of the operands (of the last two for Select), `to` that of the result.
void apply(Op op, DType from, DType to, Precision precision, std::span<Lane* const> operands,
           Lane* out, int64_t count);

// Rounds or wraps lanes to `dtype` in place.
void settle(DType dtype, Precision precision, Lane* lanes, int64_t count);

// The reducers: the value of an empty reduction, and one accumulation step. Floats accumulate in
// double for every dtype; the caller settles the result once.
Lane identity(Reducer reducer, DType dtype);
Lane accumulate(Reducer reducer, DType dtype, Lane so_far, Lane value);

}  // namespace luminal::interpret
