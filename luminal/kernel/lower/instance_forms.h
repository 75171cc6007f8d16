// What instances are up to a renaming of inner loops: those of one form are computed once.
#pragma once

#include <vector>

#include "luminal/kernel/lower/instances.h"

namespace luminal::kernel {

struct Form {
  ClassId value;
  std::vector<Expr> index;  // with its inner loops renamed to the order they appear in
  std::vector<int> loops;   // the inner loops it depends on, in that order

  std::vector<int> sorted_loops() const;
};

// By instance: its form, and the first instance of the same form, which stands for all of them.
struct InstanceForms {
  std::vector<Form> form;
  std::vector<int> group;

  const Form& of(int instance) const { return form[static_cast<size_t>(instance)]; }
  int group_of(int instance) const { return group[static_cast<size_t>(instance)]; }
};

// With the first `n_outer` loops as outer ones, which every instance has in common.
InstanceForms find_forms(const Instances& instances, int n_outer);

}  // namespace luminal::kernel
