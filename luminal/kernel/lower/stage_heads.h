// Which values of a kernel get a stage of their own: the root, reductions, and what several stages
// need and is dear to compute again.
#pragma once

#include <vector>

#include "luminal/kernel/lower/instance_forms.h"
#include "luminal/kernel/lower/stage.h"

namespace luminal::kernel {

// By group of instances: whether it has a stage of its own. Everything else is computed by the
// stages that need it.
std::vector<bool> choose_stage_heads(const TermGraph& graph, const Instances& instances,
                                     const InstanceForms& forms, const StageLimits& limits);

// Of the buffer that holds what the stage of `head` computes at one outer point.
int64_t local_bytes(const TermGraph& graph, const Instances& instances, const InstanceForms& forms,
                    int head);

}  // namespace luminal::kernel
