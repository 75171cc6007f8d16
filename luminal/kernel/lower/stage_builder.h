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
               const InstanceForms& forms, std::vector<bool> heads, int n_outer);

  Result<LoweredKernel> run(const StageLimits& limits);

  // ---- For the bodies of stages --------------------------------------------------------------

  const TermGraph& graph() const { return graph_; }
  const Instances& instances() const { return in_; }
  const InstanceForms& forms() const { return forms_; }
  const Instance& at(int i) const { return in_.list[static_cast<size_t>(i)]; }
  const Term& term_of(int i) const {
    return graph_.at(at(i).value).terms[static_cast<size_t>(at(i).term)];
  }
  bool is_head(int group) const { return heads_[static_cast<size_t>(group)]; }
  // The number of the stage of `head`. On the first call, builds what it reads, then the stage.
  int stage_of(int head);
  // The parameter that a load reads.
  int param_of(const Instance& load);
  void computes(ClassId value) { out_.classes.push_back(value); }
  void fails(std::string why) { why_ = std::move(why); }

 private:
  Stage stage_over(std::vector<int> loops, ClassId value) const;
  Stage computed(int head);
  Reduction reduction_of(int head) const;
  std::vector<int> inner_root_loops() const;
  void build_root(int head);
  void build_store_at(int root);
  int shared_input(int root);
  void check_local_bytes(int root, const StageLimits& limits);

  const TermGraph& graph_;
  const ClassId root_;
  const Instances& in_;
  const InstanceForms& forms_;
  const std::vector<bool> heads_;
  const int n_outer_;
  std::map<int, int> stage_of_;  // by head
  std::map<std::pair<int, uint32_t>, int> params_;
  LoweredKernel out_;
  std::string why_;
};

}  // namespace luminal::kernel
