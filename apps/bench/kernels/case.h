// Case: one op at one size in one dtype: a graph, and how much work it is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/shape/dtype.h"

namespace luminal::bench {

// Which of the two suites: single primitives, or what models are made of.
enum class Level : uint8_t { Micro, Patterns };
const char* name(Level level);       // "micro", "patterns"
const char* file_stem(Level level);  // of its files: "bench", "pattern"

// How much memory a case touches. What a machine's caches hold differs: reports say for each case
// where its data fits (peaks.h).
enum class Size : uint8_t { Tiny, L1, L2, L3, Dram };
inline constexpr Size kSizes[] = {Size::Tiny, Size::L1, Size::L2, Size::L3, Size::Dram};
const char* name(Size size);

struct Case {
  std::string op;
  Size size = Size::L1;
  DType dtype = DType::F32;
  std::string shape;                  // "128 × 1024", for people
  std::function<void(Graph&)> build;  // with one output, "y"
  double flops = 0;                   // of the op's definition: docs/benchmarking.md has the table
  // Floats of inputs are drawn from [low, high).
  double low = -1, high = 1;

  std::string name() const;  // "softmax/l2/bf16": unique in its level
};

// All there are, in a fixed order: by op, size, dtype.
const std::vector<Case>& cases(Level level);
std::vector<Case> micro_cases();
std::vector<Case> pattern_cases();

// Bytes that must move at the least: every leaf and every output once.
double moved_bytes(const Graph& graph);

// The dtypes of the suites: f32 bf16 f16 i8.
inline constexpr DType kDTypes[] = {DType::F32, DType::BF16, DType::F16, DType::I8};

}  // namespace luminal::bench
