#include "luminal/kernel/lower/instance_forms.h"

#include <algorithm>
#include <map>

namespace luminal::kernel {
namespace {

constexpr int kRenamedAxis = 1 << 20;

// The inner loops that an index depends on, in the order they appear.
std::vector<LoopId> inner_loops(const std::vector<Expr>& index, const IdVector<LoopId, Loop>& loops,
                                int n_outer) {
  std::vector<LoopId> used;
  for (Expr e : index) {
    if (!e.uses_indices()) continue;
    for (LoopId loop : IdRange<LoopId>{static_cast<size_t>(n_outer), loops.size()}) {
      if (!uses_loop(e, loop)) continue;
      const bool seen = std::find(used.begin(), used.end(), loop) != used.end();
      if (!seen) used.push_back(loop);
    }
  }
  return used;
}

Form form_of(const Instance& instance, const IdVector<LoopId, Loop>& loops, int n_outer) {
  Form form{.value = instance.value,
            .index = instance.index,
            .loops = inner_loops(instance.index, loops, n_outer)};
  for (size_t position = 0; position < form.loops.size(); ++position) {
    const LoopId loop = form.loops[position];
    const Expr extent = loops[loop].extent;
    const Expr from = index_of(loop, extent);
    const Expr to = Expr::index(kRenamedAxis + static_cast<int>(position), extent);
    for (Expr& e : form.index) {
      if (uses_loop(e, loop)) e = e.substitute(from, to);
    }
  }
  return form;
}

}  // namespace

std::vector<LoopId> Form::sorted_loops() const {
  std::vector<LoopId> sorted = loops;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

InstanceForms find_forms(const Instances& instances, int n_outer) {
  InstanceForms found;
  std::map<std::vector<uint32_t>, InstanceId> first;
  const Instance* previous = nullptr;
  for (InstanceId i : instances.list.ids()) {
    const Instance& instance = instances.list[i];
    // Ops of a chain have the same index: the renaming of the previous one is reused.
    if (previous != nullptr && previous->index == instance.index) {
      const Form& last = found.form.back();
      found.form.push_back({.value = instance.value, .index = last.index, .loops = last.loops});
    } else {
      found.form.push_back(form_of(instance, instances.loops, n_outer));
    }
    // Rows are keyed apart: an element of a scan, read along a loop, may have the same index as the
    // row.
    const uint32_t is_row = instance.reduce_loop.valid() ? 1 : 0;
    std::vector<uint32_t> key = {instance.value.value, is_row};
    for (Expr e : found.form.back().index) key.push_back(e.id());
    found.group.push_back(first.try_emplace(std::move(key), i).first->second);
    previous = &instance;
  }
  return found;
}

}  // namespace luminal::kernel
