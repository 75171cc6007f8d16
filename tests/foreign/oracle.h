// The oracle: evaluates a program one element at a time, by what ops.def and docs/numerics.md say.
// It shares no code with the interpreter: floats are intervals of what a back end may give
// (real.h), integers are exact or unknown.
#pragma once

#include <map>
#include <vector>

#include "tests/foreign/program.h"
#include "tests/foreign/real.h"

namespace luminal::tests::foreign {

struct Whole {
  int64_t value = 0;
  bool known = true;
};

// Of floats `reals`, of all other dtypes `wholes`.
struct Tensor {
  DType dtype;
  std::vector<int64_t> sizes;
  std::vector<Real> reals = {};
  std::vector<Whole> wholes = {};

  size_t count() const { return reals.size() + wholes.size(); }
};

// Elements in memory as a tensor.
Tensor decoded(DType dtype, std::vector<int64_t> sizes, std::span<const std::byte> bytes);
// The lower ends of what the elements may be, in memory.
std::vector<std::byte> encoded(const Tensor& tensor);
// Stores the bits of element k.
void store_bits(DType dtype, std::vector<std::byte>& bytes, size_t k, uint64_t pattern);

// What is wrong with element `k` of `got`, or whether the oracle doesn't know it.
enum class Judgement : uint8_t { Right, Wrong, Unknown };
Judgement judge_element(const Tensor& wanted, const Tensor& got, size_t k);

// The values of all steps of a run. `states`: by step, what a state holds where the run has no data
// for it. Floats are as memory holds them, rounded to their dtype.
std::vector<Tensor> evaluate(const Program& program, const ProgramRun& run,
                             const std::map<int, Tensor>& states);

}  // namespace luminal::tests::foreign
