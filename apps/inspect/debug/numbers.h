// Finds where numbers go wrong in a graph, by interpreting it: the first op that makes NaN or
// infinity from finite numbers, and the first index out of bounds.
#pragma once

#include <optional>
#include <string>

#include "apps/inspect/debug/subject.h"

namespace luminal::debug {

// Statistics of a tensor's elements.
struct Numbers {
  size_t n_nan = 0;
  size_t n_infinite = 0;
  size_t first_nan = 0;  // in row-major order
  size_t first_infinite = 0;
  double largest = 0;  // largest finite magnitude
};
Numbers numbers_of(const TensorData& data);
// A short hash of the bytes, to tell two tensors apart.
std::string digest_of(const TensorData& data);

struct BadElement {
  NodeId node;          // the node with this value
  std::string element;  // "[1, 0]"
  std::string found;
  std::string why;
};

enum class Wanted : uint8_t { NaN, Infinity };
// The first op in graph order whose result has such an element while its operands have none; a leaf
// if the data has it. Nullopt if interpreting every op is too expensive.
std::optional<BadElement> first_made(const Subject& subject, Wanted wanted);

// The first index of a gather or scatter that is out of bounds; `node` is the gather, the element
// is that of its index.
std::optional<BadElement> first_wrong_index(const Subject& subject);

// Approximate cost of interpreting a graph in scalar operations: the elements of its nodes.
double interpreted_elements(const Subject& subject);

}  // namespace luminal::debug
