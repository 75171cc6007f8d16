// What models are made of, in primitives: products of all layouts, attention with shared keys and
// caches, quantised weights, convolutions, norms. Each adds itself to the program and returns its
// result.
#pragma once

#include "tests/foreign/builder.h"

namespace luminal::tests::foreign {

int random_product(Builder& builder);
int random_attention(Builder& builder);
int random_quantised(Builder& builder);
int random_convolution(Builder& builder);
int random_norm(Builder& builder);
// Two to five layers of one kind, each with weights of its own.
int random_layers(Builder& builder);

// A dim: one of these, or a variable.
Index random_dim(Builder& builder, std::initializer_list<int> sizes);
DType random_float(Random& random);

}  // namespace luminal::tests::foreign
