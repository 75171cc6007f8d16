#include "luminal/kernel/lower/stage_builder.h"

#include <algorithm>

#include "luminal/kernel/lower/stage_body.h"
#include "luminal/kernel/lower/stage_heads.h"
#include "luminal/kernel/recognise/work.h"

namespace luminal::kernel {

StageBuilder::StageBuilder(const TermGraph& graph, ClassId root, const Instances& instances,
                           const InstanceForms& forms, IdVector<InstanceId, bool> heads,
                           int n_outer)
    : graph_(graph),
      root_(root),
      in_(instances),
      forms_(forms),
      heads_(std::move(heads)),
      n_outer_(n_outer) {}

Result<LoweredKernel> StageBuilder::run(const StageLimits& limits) {
  out_.kernel.loops = in_.loops;
  out_.kernel.n_outer = n_outer_;
  const InstanceId root = forms_.group_of(in_.root);
  if (in_.store_at) {
    build_store_at(root);
  } else {
    build_root(root);
  }
  check_local_bytes(root, limits);
  if (!why_.empty()) return Result<LoweredKernel>::failure(why_);
  finish(out_.kernel);
  std::sort(out_.classes.begin(), out_.classes.end());
  out_.classes.erase(std::unique(out_.classes.begin(), out_.classes.end()), out_.classes.end());
  return std::move(out_);
}

Stage StageBuilder::stage_over(std::vector<LoopId> loops, ClassId value) const {
  return {.dtype = graph_.at(value).dtype,
          .loops = std::move(loops),
          .reduction = std::nullopt,
          .body = {},
          .result = {},
          .target = LocalTarget{}};
}

// The stage that computes `head` into a local buffer; build_root sets another target.
Stage StageBuilder::computed(InstanceId head) {
  Stage stage = stage_over(forms_.of(head).sorted_loops(), at(head).value);
  StageBody body(*this, stage);
  if (at(head).reduce_loop.valid()) {
    stage.reduction = reduction_of(head);
    std::erase(stage.loops, stage.reduction->loop);
    stage.result = body.value(at(head).operands[0]);
  } else {
    stage.result = body.compute(head);
  }
  computes(at(head).value);
  return stage;
}

Reduction StageBuilder::reduction_of(InstanceId head) const {
  const Term& term = term_of(head);
  const LoopId loop = at(head).reduce_loop;
  if (const auto* scan = std::get_if<ScanTerm>(&term)) return {scan->reducer, loop, true};
  return {std::get<ReduceTerm>(term).reducer, loop};
}

StageId StageBuilder::stage_of(InstanceId head) {
  if (auto it = stage_of_.find(head); it != stage_of_.end()) return it->second;
  Stage stage = computed(head);
  const StageId id = out_.kernel.stages.push_back(std::move(stage));
  stage_of_[head] = id;
  return id;
}

std::vector<LoopId> StageBuilder::inner_root_loops() const {
  std::vector<LoopId> loops;
  for (int k = n_outer_; k < in_.n_root_loops; ++k) loops.push_back(LoopId::at(k));
  return loops;
}

// The last stage, which fills the output.
void StageBuilder::build_root(InstanceId head) {
  Stage stage = computed(head);
  stage.loops = inner_root_loops();
  std::erase(stage.loops, at(head).reduce_loop);
  stage.target = OutputTarget{out_.kernel.params.next(), in_.root_index};
  out_.kernel.params.push_back({graph_.at(root_).dtype, graph_.at(root_).dims, true});
  out_.origins.push_back({SourceId(), root_});
  out_.kernel.stages.push_back(std::move(stage));
}

// Two stages: the first copies dest to the output, the second updates its rows in the order of the
// index.
void StageBuilder::build_store_at(InstanceId root) {
  auto over = [&](std::vector<LoopId> loops) {
    const std::vector<LoopId> inner = inner_root_loops();
    loops.insert(loops.end(), inner.begin(), inner.end());
    return stage_over(std::move(loops), root_);
  };
  Stage fill = over({in_.store_at->rows});
  fill.result = StageBody(*this, fill).value(at(root).operands[0]);
  Stage update = over(in_.store_at->index);
  StageBody body(*this, update);
  const InstId row = body.value(at(root).operands[1]);
  update.result = body.value(at(root).operands[2]);
  const ParamId output = out_.kernel.params.next();
  fill.target = OutputTarget{output, in_.root_index};
  update.target = UpdateTarget{output,
                               row,
                               {in_.root_index.begin() + 1, in_.root_index.end()},
                               std::get<StoreAtTerm>(term_of(root)).combine};
  out_.kernel.stages.push_back(std::move(fill));
  out_.kernel.stages.push_back(std::move(update));
  const TermClass& value = graph_.at(root_);
  const ParamId shared = shared_input(root);
  out_.kernel.params.push_back({value.dtype, value.dims, true, shared});
  const SourceId source = shared.valid() ? out_.origins[shared].source : SourceId();
  out_.updates_state = source.valid() && graph_.sources[source].is_state;
  out_.origins.push_back({SourceId(), root_});
  computes(root_);
}

// The input that a StoreAt only copies to its output, element by element, if there is one.
ParamId StageBuilder::shared_input(InstanceId root) {
  const Instance& dest = at(at(root).operands[0]);
  if (!dest.load || dest.index != in_.root_index) return {};
  const ParamId param = param_of(dest);
  if (!same_dims(out_.kernel.params[param].dims, graph_.at(root_).dims)) return {};
  int loads = 0;
  for (const Stage& stage : out_.kernel.stages) {
    for (const Inst& inst : stage.body) {
      const auto* load = std::get_if<LoadInst>(&inst.what);
      loads += load != nullptr && load->param == param;
    }
  }
  return loads == 1 ? param : ParamId();
}

ParamId StageBuilder::param_of(const Instance& load) {
  const auto key = std::make_pair(load.source, load.source.valid() ? ClassId() : load.value);
  auto [it, added] = params_.try_emplace(key, out_.kernel.params.next());
  if (added) {
    if (load.source.valid()) {
      const Source& source = graph_.sources[load.source];
      out_.kernel.params.push_back({source.dtype, source.dims, false});
    } else {
      const TermClass& value = graph_.at(load.value);
      out_.kernel.params.push_back({value.dtype, value.dims, false});
    }
    out_.origins.push_back({load.source, load.value});
  }
  return it->second;
}

void StageBuilder::check_local_bytes(InstanceId root, const StageLimits& limits) {
  int64_t local = 0;
  for (const auto& [head, stage] : stage_of_) {
    if (head == root) continue;
    local = std::min<int64_t>(local + local_bytes(graph_, in_, forms_, head), INT64_MAX / 2);
  }
  if (local > limits.most_local_bytes) {
    fails("local buffers of " + std::to_string(local) + " bytes are over the limit of " +
          std::to_string(limits.most_local_bytes));
  }
}

}  // namespace luminal::kernel
