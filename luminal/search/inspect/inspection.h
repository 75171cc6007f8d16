// Inspection: a graph taken through planning stage by stage, to be asked afterwards what happened.
// What is wrong doesn't end it with an error: it says how far it came.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "luminal/search/inspect/class_facts.h"
#include "luminal/search/pipeline/phases.h"

namespace luminal::search {

class Inspection {
 public:
  // The graph must outlive it. It is planned as it is, whatever the options say of loops: an
  // inspection is asked about nodes, and sees each.
  Inspection(const Graph& graph, const PlanningOptions& options);

  const Graph& graph() const { return graph_; }
  const PlanningOptions& options() const { return options_; }
  // Where a rule file was refused, those of the compiler alone.
  Terms& terms() { return *results_.terms; }
  const RuleSet& rules() const { return results_.terms->rules; }
  const LoweredGraph& lowered() const { return results_.lowered; }
  const egraph::RunReport& saturation() const { return results_.saturation; }
  // The stage that failed ("rules", "saturation", "terms", "plan"), and its error; empty if none.
  const std::string& failed_stage() const { return failed_stage_; }
  const std::string& error() const { return error_; }

  // Of the e-graph after saturation, as far as it got; UserError where that can't even be read.
  const ClassFacts& facts() const;
  bool has_facts() const { return facts_.has_value(); }
  // Null unless the stage was reached and succeeded.
  const ExtractedTerms* extracted() const {
    return has_run(Phase::Extracted) ? &results_.extracted : nullptr;
  }
  const FoundPlan* plan() const { return has_run(Phase::Planned) ? &results_.found : nullptr; }
  // What the plan was asked for; empty where there is none.
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
