// The built-in primitives, as in egglog, one source file per sort.
#pragma once

#include "luminal/egraph/containers.h"
#include "luminal/egraph/primitives/primitive_adder.h"
#include "luminal/egraph/schema.h"

#include <string>

namespace luminal::egraph {

// Adds all primitives that need no declaration.
void add_builtin_primitives(Schema& schema);

void add_i64_primitives(PrimitiveAdder& to);
void add_f64_primitives(PrimitiveAdder& to);
void add_string_primitives(PrimitiveAdder& to);
void add_bool_primitives(PrimitiveAdder& to);
void add_bigint_primitives(PrimitiveAdder& to);

// Add the primitives of one container sort, called when it is declared.
void add_vec_primitives(PrimitiveAdder& to, SortId sort, SortId element);
void add_set_primitives(PrimitiveAdder& to, SortId sort, SortId element);
void add_map_primitives(PrimitiveAdder& to, SortId sort, SortId key, SortId value);

// A literal: digits without an exponent, always with a decimal point.
std::string print_f64(double number);

}  // namespace luminal::egraph
