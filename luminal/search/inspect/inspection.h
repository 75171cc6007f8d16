// Inspection: a graph taken through planning stage by stage, to be asked afterwards what happened.
// What is wrong doesn't end it with an error: it says how far it came.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "luminal/search/extract_terms.h"
#include "luminal/search/find_plan.h"
#include "luminal/search/inspect/class_facts.h"
#include "luminal/search/rolling/find_loops.h"

namespace luminal::search {

// As compile() has them.
struct InspectOptions {
  std::vector<RuleText> rules;  // beside the compiler's own
  Admission admission;
  SearchOptions search;
  Roll roll = Roll::Off;                 // an Inspection itself is asked about nodes, and sees each
  std::vector<FusionForce> fusing = {};  // decided before the search
};

class Inspection {
 public:
  // The graph must outlive it.
  Inspection(const Graph& graph, const InspectOptions& options);

  const Graph& graph() const { return graph_; }
  const InspectOptions& options() const { return options_; }
  // Where a rule file was refused, those of the compiler alone.
  Terms& terms() { return *terms_; }
  const RuleSet& rules() const { return terms_->rules; }
  const LoweredGraph& lowered() const { return lowered_; }
  const egraph::RunReport& saturation() const { return saturation_; }
  // The stage that failed ("rules", "saturation", "terms", "plan"), and its error; empty if none.
  const std::string& failed_stage() const { return failed_stage_; }
  const std::string& error() const { return error_; }

  // Of the e-graph after saturation, as far as it got; UserError where that can't even be read.
  const ClassFacts& facts() const;
  bool has_facts() const { return facts_.has_value(); }
  // Null unless the stage was reached and succeeded.
  const ExtractedTerms* extracted() const { return extracted_ ? &*extracted_ : nullptr; }
  const FoundPlan* plan() const { return plan_ ? &*plan_ : nullptr; }
  // What the plan was asked for; empty where there is none.
  const PlanRequest& request() const { return request_; }

  // A tensor by the name of a leaf or output, or as %12. UserError that lists the names.
  NodeId find_tensor(const std::string& name) const;

 private:
  // Runs a stage; an error in it becomes the inspection's.
  template <typename Work>
  bool stage(const char* name, Work work);
  bool is_whole() const;

  const Graph& graph_;
  InspectOptions options_;
  std::optional<Terms> terms_;
  LoweredGraph lowered_;
  egraph::RunReport saturation_;
  std::optional<ClassFacts> facts_;
  std::optional<ExtractedTerms> extracted_;
  PlanRequest request_;
  std::optional<FoundPlan> plan_;
  std::string failed_stage_;
  std::string error_;
};

}  // namespace luminal::search
