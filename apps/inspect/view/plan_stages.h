// PlanStages: what planning saw of a graph before it chose: the graph of one variant, rolled if it
// repeats, and its terms after the rules ran.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/driver/compile.h"
#include "luminal/search/inspect/class_facts.h"
#include "luminal/search/pipeline/phases.h"

namespace luminal::view {

class PlanStages {
 public:
  // `options` must be those the variant was planned with. `rotation` is the index of the rolling
  // that was chosen.
  PlanStages(std::shared_ptr<const Graph> graph, const CompileOptions& options, size_t rotation);
  PlanStages(const PlanStages&) = delete;
  PlanStages& operator=(const PlanStages&) = delete;

  // The graph that became terms: the rolled graph if there is one.
  const Graph& planned() const { return rolled_ ? *rolled_->graph : *graph_; }
  const search::RolledGraph* rolled() const { return rolled_ ? &*rolled_ : nullptr; }
  const search::Terms& terms() const { return *results_.terms; }
  const search::ClassFacts& facts() const { return *facts_; }

 private:
  std::shared_ptr<const Graph> graph_;
  std::optional<search::RolledGraph> rolled_;
  search::PhaseResults results_;
  std::optional<search::ClassFacts> facts_;
};

// By plan of a report: the index of the rolling that was chosen. The report must be of a compile
// that planned anew.
std::vector<size_t> rotations_of(const CompileReport& report);

}  // namespace luminal::view
