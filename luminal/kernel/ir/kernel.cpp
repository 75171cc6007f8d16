#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

std::vector<int> buffer_loops(const Stage& stage) {
  std::vector<int> loops = stage.loops;
  if (stage.reduction && stage.reduction->running) loops.push_back(stage.reduction->loop);
  return loops;
}

bool copies_shared(const Kernel& kernel, const Stage& stage) {
  const auto* output = std::get_if<OutputTarget>(&stage.target);
  if (output == nullptr) return false;
  const int shared = kernel.params[static_cast<size_t>(output->param)].shares;
  const auto* load = std::get_if<LoadInst>(&stage.body[stage.result.index()].what);
  return shared >= 0 && load != nullptr && load->param == shared;
}

}  // namespace luminal::kernel
