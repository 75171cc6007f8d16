// Op: the primitives as an enumeration, and what the table says about each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "luminal/base/visibility.h"

namespace luminal {

enum class Op : uint8_t {
#define OP(name, text, arity, op_class) name,
#include "luminal/graph/ops.def"
#undef OP
};

enum class OpClass : uint8_t {
  Leaf,
  Unary,
  Convert,
  Movement,
  Binary,
  Ternary,
  Reduction,
  Indexing,
  Custom
};

// What a Reduce or Scan combines with; ops.def states their identities and NaN rules.
enum class Reducer : uint8_t { Sum, Prod, Max };

LUMINAL_API std::span<const Op> all_ops();
LUMINAL_API std::string_view name(Op op);  // "less_than"
LUMINAL_API std::optional<Op> op_from_name(std::string_view text);
LUMINAL_API OpClass op_class(Op op);
// The number of inputs; −1 where it varies (Custom).
LUMINAL_API int arity(Op op);
// Whether both operands may change places.
LUMINAL_API bool commutes(Op op);
LUMINAL_API std::span<const Reducer> all_reducers();
LUMINAL_API std::string_view name(Reducer reducer);  // "sum"
LUMINAL_API std::optional<Reducer> reducer_from_name(std::string_view text);

}  // namespace luminal
