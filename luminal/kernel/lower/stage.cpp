#include "luminal/kernel/lower/stage.h"

#include "luminal/kernel/lower/instance_forms.h"
#include "luminal/kernel/lower/stage_builder.h"
#include "luminal/kernel/lower/stage_heads.h"

namespace luminal::kernel {

Result<LoweredKernel> stage(const TermGraph& graph, ClassId root, const Instances& instances,
                            int n_outer, const StageLimits& limits) {
  const int root_loop = instances.list[static_cast<size_t>(instances.root)].reduce_loop;
  if (root_loop >= 0 && root_loop < n_outer) {
    return Result<LoweredKernel>::failure("a scan's own loop can't be an outer one");
  }
  const InstanceForms forms = find_forms(instances, n_outer);
  std::vector<bool> heads = choose_stage_heads(graph, instances, forms, limits);
  return StageBuilder(graph, root, instances, forms, std::move(heads), n_outer).run(limits);
}

std::vector<ClassId> stored_by(const LoweredKernel& lowered) {
  std::vector<ClassId> classes;
  for (size_t k = 0; k < lowered.origins.size(); ++k) {
    if (lowered.kernel.params[k].output) classes.push_back(lowered.origins[k].value);
  }
  return classes;
}

}  // namespace luminal::kernel
