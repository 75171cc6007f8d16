// A contraction case: a matrix product or a convolution drawn from a seed, with the layouts,
// batches, dtypes, prologue and epilogue that models have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "luminal/driver/compile.h"
#include "luminal/graph/tensor.h"

namespace luminal::tests {

enum class Form : uint8_t { Matmul, Conv1d, Conv2d };
// How an operand lies in memory, seen as rows × k or k × columns.
enum class Layout : uint8_t { Plain, Transposed, Sliced, Flipped, Strided, Repeated };
enum class Batch : uint8_t {
  None,
  Equal,
  SharedRight,
  SharedLeft,
  Crossed,      // [b, 1, …] by [h, …]
  Grouped,      // several heads of the left share one of the right, repeated by views
  SplitHeads,   // heads are views of [b, s, h · d]
  MergedHeads,  // so is the result
};
enum class Prologue : uint8_t {
  None,
  LeftScaled,  // by a row along k
  LeftSilu,
  RightI8,  // i8 times a scale per column
  RightU4,  // u4 less 8, times a scale per column and 32 along k
  // As files of models have them, in blocks along k:
  RightQ8,       // 32 i8 with a scale
  RightQ4,       // 32 u4 with a scale and an offset
  RightQ4Super,  // the same, both f16 per 256 times u8 per 32
  RightQ6Super,  // 16 i8 with an i8, and an f16 per 256
};
bool is_quantised(Prologue prologue);
enum class Epilogue : uint8_t {
  None,
  Bias,
  BiasGelu,
  BiasGeluTanh,
  Relu,
  Residual,
  SwiGlu,  // of two products with the same left operand
  Cast,
  RowScale,
  BiasResidualRelu,
  TwoResults,  // the product and relu of it
};
enum class Dynamic : uint8_t { None, Rows, Columns, Depth };

// Leaves may be narrower than what is multiplied.
struct Types {
  DType left = DType::F32, right = DType::F32, product = DType::F32;
};

struct Window {
  int64_t channels = 1, positions = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
  int groups = 1;
};

struct ContractionCase {
  uint64_t seed = 0;
  Form form = Form::Matmul;
  Layout left = Layout::Plain, right = Layout::Plain;
  Role right_role = Role::Input;
  Batch batch = Batch::None;
  Prologue prologue = Prologue::None;
  Epilogue epilogue = Epilogue::None;
  Types types = {};
  bool turned_result = false;  // rows are the last dim of what is stored
  Dynamic dynamic = Dynamic::None;
  int64_t rows = 1, columns = 1, depth = 1;
  int64_t batches = 1, heads = 1, groups = 1;
  Window window = {};
  FusionPolicy fusion = FusionPolicy::Modelled;
  int threads = 1;
  int weaker_target = 0;  // 0: this machine's best; 1: the next that it has …
  // Of the dynamic size, one per run; else how often a case runs, with other inputs each time.
  std::vector<int64_t> run_sizes = {};
  int64_t most_dynamic = 0;  // the bound that the graph gives
  int n_runs = 1;

  int64_t n_products() const;  // in the largest run
  std::string target() const;  // as CompileOptions takes it
};

ContractionCase contraction_case(uint64_t seed);

// "matmul 65 × 3 × 17 bf16, left transposed, …"
std::string text(const ContractionCase& one);
// What a set of cases must have all of: { "batch": "grouped", … }
std::map<std::string, std::string> features(const ContractionCase& one);
// All values of each feature.
std::map<std::string, std::vector<std::string>> all_features();

}  // namespace luminal::tests
