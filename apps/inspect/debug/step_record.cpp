#include "apps/inspect/debug/step_record.h"

#include "luminal/base/check.h"
#include "luminal/driver/report/step_notes.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::debug {
std::vector<StepRecord::Slot> StepRecord::slots(int step) const {
  std::vector<Slot> slots;
  const auto& planned = planned_.plan.steps[static_cast<size_t>(step)];
  if (const auto* kernel = std::get_if<kernel::KernelStep>(&planned)) {
    const kernel::LoweredKernel& lowered = kernel->lowered;
    for (size_t p = 0; p < lowered.origins.size(); ++p) {
      const kernel::Param& param = lowered.kernel.params[p];
      const kernel::ParamOrigin& origin = lowered.origins[p];
      const int source =
          origin.source >= 0 || param.output ? origin.source : planned_.source_of(origin.value);
      slots.push_back({param.dtype, param.dims, source, origin.value, param.output});
    }
    return slots;
  }
  const int source = std::get<kernel::HostStep>(planned).source;
  const NodeId id = planned_.source_nodes[static_cast<size_t>(source)];
  for (NodeId input : subject_.graph->node(id).inputs) {
    const Node& node = subject_.graph->node(input);
    const kernel::ClassId value = planned_.class_of[input.index()];
    slots.push_back({node.dtype, node.dims, planned_.source_of(value), value, false});
  }
  const Node& node = subject_.graph->node(id);
  slots.push_back({node.dtype, node.dims, source, {}, true});
  return slots;
}

TensorData StepRecord::data_at(const Slot& slot, const void* at) const {
  const Result<ResolvedDims> dims = resolve_dims(slot.dims, subject_.sizes);
  LUMINAL_CHECK(dims, dims.why());
  return {.dtype = slot.dtype,
          .dims = dims->sizes,
          .bytes = {static_cast<const std::byte*>(at), dims->bytes(slot.dtype)},
          .owner = nullptr};
}

void StepRecord::before(const runtime::StepView& view) {
  if (view.step < 0) return;
  SeenStep seen{.step = view.step, .params = {}};
  const std::vector<Slot> all = slots(view.step);
  for (size_t p = 0; p < all.size() && p < view.params.size(); ++p) {
    const Slot& slot = all[p];
    seen.params.push_back({.type = type_text(slot.dtype, slot.dims, subject_.sizes),
                           .digest = {},
                           .output = slot.output,
                           .numbers = {}});
    // The library packed it, so there is no buffer to read.
    if (slot.output || view.params[p] == nullptr) continue;
    const TensorData data = data_at(slot, view.params[p]);
    seen.params.back().digest = digest_of(data);
    check_read(view, p, slot, data, seen.params.back().digest);
  }
  steps_.push_back(std::move(seen));
}

void StepRecord::check_read(const runtime::StepView& view, size_t param, const Slot& slot,
                            const TensorData& data, const std::string& digest) {
  const std::pair<int, kernel::ClassId> key = {slot.source,
                                               slot.source >= 0 ? kernel::ClassId{} : slot.value};
  const auto [known, fresh] = known_.try_emplace(key, Written{digest, -1});
  if (fresh || known->second.digest == digest || overwritten_) return;
  overwritten_ = {.reader = view.step, .param = param, .writer = known->second.step};
  const std::byte* begin = data.bytes.data();
  const std::byte* end = begin + data.bytes.size();
  // The first step that wrote there after the value was made.
  bool after = known->second.step < 0;
  for (const Range& range : writes_) {
    const bool made = range.step == known->second.step;
    after = after || made;
    if (made || !after || range.begin >= end || begin >= range.end) continue;
    overwritten_->culprit = range.step;
    return;
  }
}

void StepRecord::after(const runtime::StepView& view) {
  if (view.step < 0) return;
  const std::vector<Slot> all = slots(view.step);
  SeenStep& seen = steps_.back();
  for (size_t p = 0; p < seen.params.size(); ++p) {
    const Slot& slot = all[p];
    if (!slot.output) continue;
    const TensorData data = data_at(slot, view.params[p]);
    seen.params[p].digest = digest_of(data);
    seen.params[p].numbers = numbers_of(data);
    const std::byte* begin = data.bytes.data();
    const std::byte* end = begin + data.bytes.size();
    for (size_t q = 0; q < seen.params.size(); ++q) {
      if (all[q].output || view.params[q] == nullptr) continue;
      const TensorData read = data_at(all[q], view.params[q]);
      const std::byte* first = read.bytes.data();
      if (first < end && begin < first + read.bytes.size()) {
        seen.params[p].shares = static_cast<int>(q);
      }
    }
    writes_.push_back({view.step, begin, end});
    known_[{slot.source, slot.source >= 0 ? kernel::ClassId{} : slot.value}] = {
        seen.params[p].digest, view.step};
  }
}

}  // namespace luminal::debug
