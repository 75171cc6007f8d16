// StageBuilder: builds stages, parameters and classes of one kernel, given which values get a stage
// of their own (stage_heads.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "luminal/kernel/lower/instance_forms.h"
#include "luminal/kernel/lower/stage.h"

namespace luminal::kernel {

class StageBuilder {
 public:
  // `heads` by group: whether it has a stage of its own.
  StageBuilder(const TermGraph& graph, ClassId root, const Instances& instances,
               const InstanceForms& forms, IdVector<InstanceId, bool> heads, int n_outer);

  Result<LoweredKernel> run(const StageLimits& limits);

  // ---- For the bodies of stages --------------------------------------------------------------

  const TermGraph& graph() const { return graph_; }
  const Instances& instances() const { return in_; }
  const InstanceForms& forms() const { return forms_; }
  const Instance& at(InstanceId i) const { return in_.list[i]; }
  const Term& term_of(InstanceId i) const {
    return graph_.at(at(i).value).terms[static_cast<size_t>(at(i).term)];
  }
  bool is_head(InstanceId group) const { return heads_[group]; }
  // The number of the stage of `head`. On the first call, builds what it reads, then the stage.
  StageId stage_of(InstanceId head);
  // The parameter that a load reads.
  ParamId param_of(const Instance& load);
  void computes(ClassId value) { out_.classes.push_back(value); }
  void fails(std::string why) { why_ = std::move(why); }

 private:
  Stage stage_over(std::vector<LoopId> loops, ClassId value) const;
  Stage computed(InstanceId head);
  Reduction reduction_of(InstanceId head) const;
  std::vector<LoopId> inner_root_loops() const;
  void build_root(InstanceId head);
  void build_store_at(InstanceId root);
  ParamId shared_input(InstanceId root);
  void check_local_bytes(InstanceId root, const StageLimits& limits);

  const TermGraph& graph_;
  const ClassId root_;
  const Instances& in_;
  const InstanceForms& forms_;
  const IdVector<InstanceId, bool> heads_;
  const int n_outer_;
  std::map<InstanceId, StageId> stage_of_;  // by head
  std::map<std::pair<SourceId, ClassId>, ParamId> params_;
  LoweredKernel out_;
  std::string why_;
};

}  // namespace luminal::kernel
