// WeightFacts: which values depend on weights alone. Kernels that store such values run once, when
// weights are set, and contractions read such values as packed panels.
#pragma once

#include <string>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/kernel/lower/stage.h"
#include "luminal/search/terms/lower_graph.h"

namespace luminal::search {

class WeightFacts {
 public:
  WeightFacts() = default;  // nothing is a weight
  // `chosen` is the term that computes each class by default; −1 where nothing can. A value counts
  // as one of weights alone only if it is so by every term that may compute it.
  WeightFacts(const Graph& graph, const IdVector<kernel::SourceId, SourceTensor>& sources,
              const kernel::TermGraph& terms, const std::vector<int>& chosen,
              const std::vector<kernel::ClassId>& results);

  bool knows() const { return !is_weight_.empty(); }  // false: nothing runs once
  bool is_weight(kernel::ClassId id) const { return !is_weight_.empty() && is_weight_[id.index()]; }
  // Whether every run has to write it.
  bool is_result(kernel::ClassId id) const { return !is_result_.empty() && is_result_[id.index()]; }
  // Whether the kernel runs once, when weights are set.
  bool runs_once(const kernel::LoweredKernel& lowered, const Bindings& sizes) const;
  // A letter for each parameter: w for a weight, r for what runs compute, o for an output.
  std::string letters(const kernel::LoweredKernel& lowered) const;

 private:
  std::vector<bool> is_weight_;  // by class
  std::vector<bool> is_result_;  // by class
};

// Whether a kernel may run once if all that it reads are weights: its sizes are known, and its
// result isn't so large that it is better computed in each run.
bool may_run_once(const kernel::Kernel& kernel, const Bindings& sizes);
// Whether a kernel turns a compact format into a wider one: to keep its result costs memory that
// the format was chosen to save.
bool widens_format(const kernel::Kernel& kernel);

}  // namespace luminal::search
