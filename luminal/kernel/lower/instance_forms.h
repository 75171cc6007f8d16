// Forms: instances up to renaming of inner loops. Instances of one form are computed once.
#pragma once

#include <vector>

#include "luminal/kernel/lower/instances.h"

namespace luminal::kernel {

struct Form {
  ClassId value;
  std::vector<Expr> index;  // inner loops renumbered by first appearance
  std::vector<int> loops;   // the inner loops it depends on, in that order

  std::vector<int> sorted_loops() const;
};

// By instance: its form, and the first instance of the same form, which represents the group.
struct InstanceForms {
  std::vector<Form> form;
  std::vector<int> group;

  const Form& of(int instance) const { return form[static_cast<size_t>(instance)]; }
  int group_of(int instance) const { return group[static_cast<size_t>(instance)]; }
};

// The first `n_outer` loops are outer loops: all instances share them, so they keep their numbers.
InstanceForms find_forms(const Instances& instances, int n_outer);

}  // namespace luminal::kernel
