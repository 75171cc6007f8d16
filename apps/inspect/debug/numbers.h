// Where numbers go wrong in a graph, whoever computes it: the first op that makes NaN or infinity
// of numbers, and the first index that points nowhere. The interpreter says what values are.
#pragma once

#include <optional>
#include <string>

#include "apps/inspect/debug/subject.h"

namespace luminal::debug {

// What the elements of a tensor are like.
struct Numbers {
  size_t n_nan = 0;
  size_t n_infinite = 0;
  size_t first_nan = 0;  // in row-major order
  size_t first_infinite = 0;
  double largest = 0;  // finite magnitude
};
Numbers numbers_of(const TensorData& data);
// A name for the bytes, long enough to tell two tensors apart and short enough to read.
std::string digest_of(const TensorData& data);

struct BadElement {
  NodeId node;          // whose value it is
  std::string element;  // "[1, 0]"
  std::string found;
  std::string why;
};

enum class Wanted : uint8_t { NaN, Infinity };
// The first op in the graph's order that has some where none of its operands has; a leaf where it
// comes with the data. None where interpreting every op would take too much.
std::optional<BadElement> first_made(const Subject& subject, Wanted wanted);

// The first index of a gather or scatter that isn't a row of what it picks from; `node` is the
// gather, the element that of its index.
std::optional<BadElement> first_wrong_index(const Subject& subject);

// Scalar operations of interpreting all of a graph, roughly: the elements of its nodes.
double interpreted_elements(const Subject& subject);

}  // namespace luminal::debug
