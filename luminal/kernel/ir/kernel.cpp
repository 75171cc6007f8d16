#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

std::vector<LoopId> buffer_loops(const Stage& stage) {
  std::vector<LoopId> loops = stage.loops;
  if (stage.reduction && stage.reduction->running) loops.push_back(stage.reduction->loop);
  return loops;
}

bool copies_shared(const Kernel& kernel, const Stage& stage) {
  const auto* output = std::get_if<OutputTarget>(&stage.target);
  if (output == nullptr) return false;
  const ParamId shared = kernel.params[output->param].shares;
  const auto* load = std::get_if<LoadInst>(&stage.body[stage.result.index()].what);
  return shared.valid() && load != nullptr && load->param == shared;
}

}  // namespace luminal::kernel
