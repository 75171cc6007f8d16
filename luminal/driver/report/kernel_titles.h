// Kernels by what they compute for a model, in the names of its weights, states and outputs:
//
//   layers.3.mlp: norm → gate_proj · up_proj → silu · mul
#pragma once

#include <map>
#include <string>
#include <vector>

#include "luminal/driver/report/node_forms.h"
#include "luminal/graph/graph.h"
#include "luminal/kernel/plan/planned_graph.h"

namespace luminal {

class KernelTitles {
 public:
  // Both must outlive it.
  KernelTitles(const Graph& graph, const kernel::PlannedGraph& planned);

  // Of the step of the plan; empty where nothing that it touches has a name and its ops say little.
  const std::string& of(kernel::StepId step) const { return titles_[step]; }

 private:
  // What a title is made of.
  struct Parts {
    std::string scope;                // "layers.3.mlp"
    std::vector<std::string> before;  // what happens to the left factor of products
    std::vector<std::string> named;   // "gate_proj", "up_proj"
    std::vector<std::string> after;
    std::vector<std::string> stored;  // "k_cache", "logits"
  };

  void name_values();
  Parts parts_of(const kernel::LoweredKernel& lowered) const;
  void borrow_scopes(IdVector<kernel::StepId, Parts>& parts) const;

  const Graph& graph_;
  const kernel::PlannedGraph& planned_;
  const NodeForms forms_;
  std::map<kernel::ClassId, std::string> names_;          // of weights, states and outputs
  std::map<kernel::ClassId, std::vector<NodeId>> nodes_;  // with that value
  IdVector<kernel::StepId, std::string> titles_;
};

// "layers.*.mlp: down_proj" for several titles that differ in numbers alone; the first one where
// they differ in more.
std::string common_title(const std::vector<std::string>& titles);

}  // namespace luminal
