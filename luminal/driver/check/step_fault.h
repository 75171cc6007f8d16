// StepFault: what a checked run found wrong with a step, as fields; the error says the same in
// words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "luminal/graph/node.h"
#include "luminal/kernel/plan/plan.h"

namespace luminal {

// The wrong elements of a tensor.
struct WrongElements {
  std::vector<int64_t> dims;
  size_t first = 0;  // in row-major order
  double found = 0;  // there
  double expected = 0;
  bool untouched = false;  // nothing was ever written there
  size_t count = 0;
  size_t of = 0;                // elements compared
  double largest = 0;           // error
  std::vector<int64_t> lowest;  // by dim: the smallest index of a wrong element
};

// "first wrong element [0, 0]: 0.25, expected 2; 60 of 60 are wrong, the largest error is 10.8"
std::string text(const WrongElements& wrong);

// Whether all wrong elements lie in the remainder after the last whole vector, along a dim or in
// the flat tensor: a fault of a vectorised loop's epilogue.
bool lie_in_tail(const WrongElements& wrong);

struct StepFault {
  enum class Kind : uint8_t {
    WritesOutside,  // out of bounds of its results
    Code,           // the compiled code, or the library, doesn't do what the kernel's loops say
    Terms,          // the kernel's loops don't compute what the graph says
    OwnKernel,      // the kernel of a custom op doesn't do what its `compute` does
  };
  Kind kind = Kind::Code;
  kernel::StepId step = {};            // of the plan
  NodeId node = {};                    // of the graph, whose value is wrong, where one has it
  std::string detail;                  // in words
  std::optional<WrongElements> wrong;  // none where it writes outside
};

}  // namespace luminal
