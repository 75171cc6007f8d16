// Inspection: takes a graph through planning stage by stage, and answers questions about it
// afterwards. An error isn't thrown: the inspection keeps it with the stage that failed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "luminal/search/inspect/class_facts.h"
#include "luminal/search/pipeline/phases.h"

namespace luminal::search {

class Inspection {
 public:
  // The graph must outlive it. It is planned unrolled, whatever the options say: questions are
  // about single nodes.
  Inspection(const Graph& graph, const PlanningOptions& options);

  const Graph& graph() const { return graph_; }
  const PlanningOptions& options() const { return options_; }
  // With the built-in rules only, if a rule file was refused.
  Terms& terms() { return *results_.terms; }
  const RuleSet& rules() const { return results_.terms->rules; }
  const LoweredGraph& lowered() const { return results_.lowered; }
  const egraph::RunReport& saturation() const { return results_.saturation; }
  // The stage that failed ("rules", "saturation", "terms", "plan"), and its error; empty if none.
  const std::string& failed_stage() const { return failed_stage_; }
  const std::string& error() const { return error_; }

  // Of the e-graph after saturation, as far as it got; UserError if there is none.
  const ClassFacts& facts() const;
  bool has_facts() const { return facts_.has_value(); }
  // Null unless the stage was reached and succeeded.
  const ExtractedTerms* extracted() const {
    return has_run(Phase::Extracted) ? &results_.extracted : nullptr;
  }
  const FoundPlan* plan() const { return has_run(Phase::Planned) ? &results_.found : nullptr; }
  // The plan request; empty if there is none.
  const PlanRequest& request() const { return results_.request; }

  // A tensor by the name of a leaf or output, or as %12. UserError that lists the names.
  NodeId find_tensor(const std::string& name) const;

 private:
  // Runs a stage; an error in it becomes the inspection's.
  template <typename Work>
  bool stage(const char* name, Work work);
  bool is_whole() const;

  bool has_run(Phase phase) const { return results_.done && *results_.done >= phase; }

  const Graph& graph_;
  PlanningOptions options_;
  PhaseResults results_;
  std::optional<ClassFacts> facts_;
  std::string failed_stage_;
  std::string error_;
};

}  // namespace luminal::search
