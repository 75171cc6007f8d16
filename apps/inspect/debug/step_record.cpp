#include "apps/inspect/debug/step_record.h"

#include "luminal/base/check.h"
#include "luminal/driver/report/step_notes.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::debug {
IdVector<kernel::ParamId, StepRecord::Slot> StepRecord::slots(kernel::StepId step) const {
  IdVector<kernel::ParamId, Slot> slots;
  const auto& planned = planned_.plan.at(step);
  if (const auto* kernel = std::get_if<kernel::KernelStep>(&planned)) {
    const kernel::LoweredKernel& lowered = kernel->lowered;
    for (kernel::ParamId p : lowered.origins.ids()) {
      const kernel::Param& param = lowered.kernel.params[p];
      const kernel::ParamOrigin& origin = lowered.origins[p];
      const kernel::SourceId source =
          origin.source.valid() || param.output ? origin.source : planned_.source_of(origin.value);
      slots.push_back({param.dtype, param.dims, source, origin.value, param.output});
    }
    return slots;
  }
  const kernel::SourceId source = std::get<kernel::HostStep>(planned).source;
  const NodeId id = planned_.source_nodes[source];
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
  const kernel::StepId step = step_of(view);
  if (!step.valid()) return;
  SeenStep seen{.step = step, .params = {}};
  const IdVector<kernel::ParamId, Slot> all = slots(step);
  for (kernel::ParamId p : all.ids()) {
    if (p.index() >= view.params.size()) break;
    const Slot& slot = all[p];
    seen.params.push_back({.type = type_text(slot.dtype, slot.dims, subject_.sizes),
                           .digest = {},
                           .output = slot.output,
                           .numbers = {}});
    // The library packed it, so there is no buffer to read.
    if (slot.output || view.params[p.index()] == nullptr) continue;
    const TensorData data = data_at(slot, view.params[p.index()]);
    seen.params.back().digest = digest_of(data);
    check_read(step, p, slot, data, seen.params.back().digest);
  }
  steps_.push_back(std::move(seen));
}

void StepRecord::check_read(kernel::StepId reader, kernel::ParamId param, const Slot& slot,
                            const TensorData& data, const std::string& digest) {
  const std::pair key{slot.source, slot.source.valid() ? kernel::ClassId{} : slot.value};
  const auto [known, fresh] = known_.try_emplace(key, Written{digest, kernel::StepId()});
  if (fresh || known->second.digest == digest || overwritten_) return;
  overwritten_ = {.reader = reader, .param = param, .writer = known->second.step};
  const std::byte* begin = data.bytes.data();
  const std::byte* end = begin + data.bytes.size();
  // The first step that wrote there after the value was made.
  bool after = !known->second.step.valid();
  for (const Range& range : writes_) {
    const bool made = range.step == known->second.step;
    after = after || made;
    if (made || !after || range.begin >= end || begin >= range.end) continue;
    overwritten_->culprit = range.step;
    return;
  }
}

void StepRecord::after(const runtime::StepView& view) {
  const kernel::StepId step = step_of(view);
  if (!step.valid()) return;
  const IdVector<kernel::ParamId, Slot> all = slots(step);
  SeenStep& seen = steps_.back();
  for (kernel::ParamId p : seen.params.ids()) {
    const Slot& slot = all[p];
    if (!slot.output) continue;
    const TensorData data = data_at(slot, view.params[p.index()]);
    seen.params[p].digest = digest_of(data);
    seen.params[p].numbers = numbers_of(data);
    const std::byte* begin = data.bytes.data();
    const std::byte* end = begin + data.bytes.size();
    for (kernel::ParamId q : seen.params.ids()) {
      if (all[q].output || view.params[q.index()] == nullptr) continue;
      const TensorData read = data_at(all[q], view.params[q.index()]);
      const std::byte* first = read.bytes.data();
      if (first < end && begin < first + read.bytes.size()) seen.params[p].shares = q;
    }
    writes_.push_back({step, begin, end});
    known_[{slot.source, slot.source.valid() ? kernel::ClassId{} : slot.value}] = {
        seen.params[p].digest, step};
  }
}

}  // namespace luminal::debug
