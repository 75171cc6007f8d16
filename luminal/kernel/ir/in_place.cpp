#include "luminal/kernel/ir/in_place.h"

#include <algorithm>

namespace luminal::kernel {
namespace {

// For every outer loop of extent > 1, the dim of the output that it alone indexes. nullopt if a
// loop has no such dim: the output then doesn't split into one part per outer point.
std::optional<std::vector<size_t>> outer_dims(const Kernel& kernel, const OutputTarget& target) {
  std::vector<size_t> dims;
  for (LoopId loop : outer_loops(kernel)) {
    const Expr extent = extent_of(kernel, loop);
    if (extent.is(1)) continue;
    const Expr index = index_of(loop, extent);
    auto found = std::find(target.index.begin(), target.index.end(), index);
    if (found == target.index.end()) return std::nullopt;
    dims.push_back(static_cast<size_t>(found - target.index.begin()));
  }
  return dims;
}

bool same_at(const LoadInst& load, const OutputTarget& target, size_t dim) {
  return !load.index[dim].value && load.index[dim].expr == target.index[dim];
}

bool reads_what_it_writes(const LoadInst& load, const OutputTarget& target) {
  for (size_t dim = 0; dim < target.index.size(); ++dim) {
    if (!same_at(load, target, dim)) return false;
  }
  return true;
}

bool reads_own_part(const LoadInst& load, const OutputTarget& target,
                    const std::optional<std::vector<size_t>>& outer) {
  return outer && std::all_of(outer->begin(), outer->end(),
                              [&](size_t dim) { return same_at(load, target, dim); });
}

}  // namespace

bool may_share(const Kernel& kernel, ParamId input, ParamId output) {
  const Param& in = kernel.params[input];
  const Param& out = kernel.params[output];
  if (in.output || !out.output || !same_dims(in.dims, out.dims)) return false;
  if (bits(in.dtype) != bits(out.dtype)) return false;
  if (out.shares.valid()) return out.shares == input;  // a scatter: rows are data-dependent
  // Stages in reverse: `target` is the store of this stage or of the nearest later one.
  const OutputTarget* target = nullptr;
  std::optional<std::vector<size_t>> outer;
  bool written_later = false;
  for (size_t s = kernel.stages.size(); s-- > 0;) {
    const Stage& stage = kernel.stages[StageId::at(s)];
    const auto* writes = std::get_if<OutputTarget>(&stage.target);
    const bool writes_it = writes != nullptr && writes->param == output;
    if (writes_it) {
      if (target != nullptr) return false;  // written twice: unclear what a read in between sees
      target = writes;
      outer = outer_dims(kernel, *target);
    }
    for (const Inst& inst : stage.body) {
      const auto* load = std::get_if<LoadInst>(&inst.what);
      if (load == nullptr || load->param != input) continue;
      if (!writes_it && !written_later) return false;  // after the output was written
      const bool fine = writes_it ? !stage.reduction && reads_what_it_writes(*load, *target)
                                  : reads_own_part(*load, *target, outer);
      if (!fine) return false;
    }
    written_later = written_later || writes_it;
  }
  return target != nullptr;
}

}  // namespace luminal::kernel
