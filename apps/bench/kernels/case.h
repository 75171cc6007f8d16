// Case: one op at one size in one dtype: a graph, and its amount of work.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/shape/dtype.h"

namespace luminal::bench {

// The two suites: single primitives, and building blocks of models.
enum class Level : uint8_t { Micro, Patterns };
const char* name(Level level);       // "micro", "patterns"
const char* file_stem(Level level);  // prefix of its files: "bench", "pattern"

// How much memory a case touches. Cache sizes differ between machines: reports say where the data
// of each case fits (peaks.h).
enum class Size : uint8_t { Tiny, L1, L2, L3, Dram };
inline constexpr Size kSizes[] = {Size::Tiny, Size::L1, Size::L2, Size::L3, Size::Dram};
const char* name(Size size);

struct Case {
  std::string op;
  Size size = Size::L1;
  DType dtype = DType::F32;
  std::string shape;                  // "128 × 1024", for people
  std::function<void(Graph&)> build;  // one output, "y"
  double flops = 0;  // by the op's definition: see the table in docs/benchmarking.md
  // Float inputs are drawn from [low, high).
  double low = -1, high = 1;

  std::string name() const;  // "softmax/l2/bf16": unique in its level
};

// All cases in a fixed order: by op, size, dtype.
const std::vector<Case>& cases(Level level);
std::vector<Case> micro_cases();
std::vector<Case> pattern_cases();

// The minimum bytes to move: every leaf and every output once.
double moved_bytes(const Graph& graph);

// The dtypes of the suites: f32 bf16 f16 i8.
inline constexpr DType kDTypes[] = {DType::F32, DType::BF16, DType::F16, DType::I8};

}  // namespace luminal::bench
