// The cases that generate.py wrote: what to build, the data of each run, and the tolerances.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "luminal/graph/tensor_data.h"

namespace luminal::conformance {

using Json = nlohmann::json;

struct Tolerance {
  double atol = 0;
  double rtol = 0;
  double per_term = 0;  // added to atol for each term that a result sums
};

struct InputSpec {
  DType dtype;
  Json dims;   // of the contiguous base; text where a variable is in it
  Json steps;  // views that make the layout: ["permute", [1, 0]] …
};

struct Run {
  std::vector<std::pair<std::string, int64_t>> bindings;
  std::vector<TensorData> inputs;
  TensorData expected;
};

struct Case {
  std::string name;
  std::string op;
  Json params;
  std::vector<InputSpec> inputs;
  std::vector<Run> runs;
  std::string tolerance;
  int64_t length = 0;  // terms that each result sums
  bool sign_of_zero = false;
};

struct CaseIndex {
  std::vector<Case> cases;
  // What a case allows in results of `dtype`.
  Tolerance tolerance(const Case& one, DType dtype) const;

  std::map<std::string, std::map<std::string, Tolerance>> classes;
};

// Which form of each case to read: as written, or with its leading dim as a variable; cases that
// have no such form are left out.
enum class Form { Written, Dynamic };

// Reads cases.jsonl and cases.bin in `folder`, keeping the cases whose name matches one of `globs`.
CaseIndex load_cases(const std::string& folder, const std::vector<std::string>& globs,
                     Form form = Form::Written);

}  // namespace luminal::conformance
