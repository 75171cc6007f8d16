// Forms: instances up to renaming of inner loops. Instances of one form are computed once.
#pragma once

#include <vector>

#include "luminal/kernel/lower/instances.h"

namespace luminal::kernel {

struct Form {
  ClassId value;
  std::vector<Expr> index;    // inner loops renumbered by first appearance
  std::vector<LoopId> loops;  // the inner loops it depends on, in that order

  std::vector<LoopId> sorted_loops() const;
};

// By instance: its form, and the first instance of the same form, which represents the group.
struct InstanceForms {
  IdVector<InstanceId, Form> form;
  IdVector<InstanceId, InstanceId> group;

  const Form& of(InstanceId instance) const { return form[instance]; }
  InstanceId group_of(InstanceId instance) const { return group[instance]; }
};

// The first `n_outer` loops are outer loops: all instances share them, so they keep their numbers.
InstanceForms find_forms(const Instances& instances, int n_outer);

}  // namespace luminal::kernel
