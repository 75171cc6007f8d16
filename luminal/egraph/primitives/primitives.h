// The built-in primitives, as egglog has them, one source file per sort.
#pragma once

#include "luminal/egraph/containers.h"
#include "luminal/egraph/primitives/primitive_adder.h"
#include "luminal/egraph/schema.h"

#include <string>

namespace luminal::egraph {

// All that need no declaration.
void add_builtin_primitives(Schema& schema);

void add_i64_primitives(PrimitiveAdder& to);
void add_f64_primitives(PrimitiveAdder& to);
void add_string_primitives(PrimitiveAdder& to);
void add_bool_primitives(PrimitiveAdder& to);
void add_bigint_primitives(PrimitiveAdder& to);

// Those of one sort of containers, which comes with its declaration.
void add_vec_primitives(PrimitiveAdder& to, SortId sort, SortId element);
void add_set_primitives(PrimitiveAdder& to, SortId sort, SortId element);
void add_map_primitives(PrimitiveAdder& to, SortId sort, SortId key, SortId value);

// As a literal: digits without an exponent, and always a point.
std::string print_f64(double number);

}  // namespace luminal::egraph
