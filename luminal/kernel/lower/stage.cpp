#include "luminal/kernel/lower/stage.h"

#include "luminal/kernel/lower/instance_forms.h"
#include "luminal/kernel/lower/stage_builder.h"
#include "luminal/kernel/lower/stage_heads.h"

namespace luminal::kernel {

Result<LoweredKernel> stage(const TermGraph& graph, ClassId root, const Instances& instances,
                            int n_outer, const StageLimits& limits) {
  const LoopId root_loop = instances.list[instances.root].reduce_loop;
  if (root_loop.index() < static_cast<size_t>(n_outer)) {
    return Result<LoweredKernel>::failure("a scan's own loop can't be an outer one");
  }
  const InstanceForms forms = find_forms(instances, n_outer);
  IdVector<InstanceId, bool> heads = choose_stage_heads(graph, instances, forms, limits);
  return StageBuilder(graph, root, instances, forms, std::move(heads), n_outer).run(limits);
}

std::vector<ClassId> stored_by(const LoweredKernel& lowered) {
  std::vector<ClassId> classes;
  for (ParamId param : lowered.origins.ids()) {
    if (lowered.kernel.params[param].output) classes.push_back(lowered.origins[param].value);
  }
  return classes;
}

}  // namespace luminal::kernel
