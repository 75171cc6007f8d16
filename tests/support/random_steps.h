// The steps that a random graph grows by: each draws arguments and adds a few nodes. A step whose
// arguments turn out not to fit is a UserError, or adds nothing.
#pragma once

#include "tests/support/random_tensors.h"

namespace luminal::tests::steps {

// random_leaves.cpp: what has no operands of other steps, and callbacks.
void another_leaf(RandomTensors& from);
void iota(RandomTensors& from);
void custom(RandomTensors& from);
void packed(RandomTensors& from);

// random_elementwise.cpp
void unary(RandomTensors& from);
void binary(RandomTensors& from);
void integer_binary(RandomTensors& from);
void compare(RandomTensors& from);
void select(RandomTensors& from);
void cast(RandomTensors& from);
void bitcast(RandomTensors& from);

// random_views.cpp
Tensor random_view(RandomTensors& from, const Tensor& x);
void view(RandomTensors& from);
void raw_view(RandomTensors& from);
void join(RandomTensors& from);
void padded(RandomTensors& from);

// random_rows.cpp: along rows, and of rows by an index.
void reduce(RandomTensors& from);
void scan(RandomTensors& from);
void gather(RandomTensors& from);
void scatter(RandomTensors& from);
void composite(RandomTensors& from);

}  // namespace luminal::tests::steps
