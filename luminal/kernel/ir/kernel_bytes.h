// A kernel as bytes, for files that this library writes for itself.
#pragma once

#include "luminal/kernel/ir/kernel.h"
#include "luminal/shape/expr/expr_bytes.h"

namespace luminal::kernel {

void write_kernel(shape::ExprWriter& writer, const Kernel& kernel);
// ByteError for bytes that aren't a kernel; whether it makes sense is verify_kernel's question.
Kernel read_kernel(shape::ExprReader& reader);

// The enumerators that a term or an instruction has.
void write_dtype(base::ByteWriter& out, DType dtype);
DType read_dtype(base::ByteReader& in);
void write_op(base::ByteWriter& out, Op op);
Op read_op(base::ByteReader& in);
void write_reducer(base::ByteWriter& out, std::optional<Reducer> reducer);
std::optional<Reducer> read_optional_reducer(base::ByteReader& in);
Reducer read_reducer(base::ByteReader& in);

}  // namespace luminal::kernel
