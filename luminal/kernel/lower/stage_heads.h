// Stage heads: the values of a kernel that get a stage of their own. These are the root,
// reductions, and what several stages need and is expensive to recompute.
#pragma once

#include <vector>

#include "luminal/kernel/lower/instance_forms.h"
#include "luminal/kernel/lower/stage.h"

namespace luminal::kernel {

// By group of instances: whether it has a stage of its own. Everything else is recomputed in each
// stage that needs it.
IdVector<InstanceId, bool> choose_stage_heads(const TermGraph& graph, const Instances& instances,
                                              const InstanceForms& forms,
                                              const StageLimits& limits);

// Bytes of the local buffer of `head`'s stage, per outer point.
int64_t local_bytes(const TermGraph& graph, const Instances& instances, const InstanceForms& forms,
                    InstanceId head);

}  // namespace luminal::kernel
