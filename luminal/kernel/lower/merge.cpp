#include "luminal/kernel/lower/merge.h"

#include <algorithm>
#include <map>

#include "luminal/kernel/recognise/work.h"

namespace luminal::kernel {
namespace {

// More stages take long to compile and gain nothing: registers and caches are full before.
constexpr size_t kMostStages = 16;

bool updates(const Stage& stage) { return std::holds_alternative<UpdateTarget>(stage.target); }

class Merger {
 public:
  Merger(const LoweredKernel& first, const LoweredKernel& second, const StageLimits& limits)
      : first_(first), second_(second), limits_(limits) {}

  Result<LoweredKernel> run() {
    check_outer_loops();
    if (why_.empty()) merge_loops();
    if (why_.empty()) merge_params();
    if (why_.empty()) add_first();
    if (why_.empty()) add_second();
    if (why_.empty()) finish_kernel();
    if (!why_.empty()) return Result<LoweredKernel>::failure(why_);
    return std::move(out_);
  }

 private:
  // ---- Loops and parameters

  void check_outer_loops() {
    const Kernel &a = first_.kernel, &b = second_.kernel;
    bool same = a.n_outer == b.n_outer;
    for (LoopId loop : outer_loops(a)) same = same && extent_of(a, loop) == extent_of(b, loop);
    if (!same) why_ = "the outer loops differ";
    if (std::ranges::any_of(a.stages, updates) || std::ranges::any_of(b.stages, updates)) {
      why_ = "a scatter runs alone";
    }
    if (a.stages.size() + b.stages.size() > kMostStages) why_ = "too many stages";
  }

  // The outer loops are the same; the second's inner ones come after the first's.
  void merge_loops() {
    out_.kernel.n_outer = first_.kernel.n_outer;
    out_.kernel.loops = first_.kernel.loops;
    for (LoopId loop : second_.kernel.loops.ids()) {
      const Expr extent = extent_of(second_.kernel, loop);
      const bool outer = is_outer(out_.kernel, loop);
      loop_.push_back(outer ? loop : out_.kernel.loops.push_back({extent}));
      loop_index_.push_back(index_of(loop_.back(), extent));
    }
  }

  ParamId add_param(const Param& param, const ParamOrigin& origin) {
    out_.kernel.params.push_back(param);
    return out_.origins.push_back(origin);
  }

  // Inputs first, outputs last.
  void merge_params() {
    first_param_.resize(first_.origins.size());
    second_param_.resize(second_.origins.size());
    auto key = [](const ParamOrigin& origin) {
      return std::pair(origin.source, origin.source.valid() ? ClassId() : origin.value);
    };
    std::map<std::pair<SourceId, ClassId>, ParamId> inputs, stored;
    for (ParamId k : first_.origins.ids()) {
      const ParamOrigin& origin = first_.origins[k];
      if (first_.kernel.params[k].output) {
        stored[key(origin)] = k;
      } else {
        inputs[key(origin)] = first_param_[k] = add_param(first_.kernel.params[k], origin);
      }
    }
    forwarded_.resize(second_.origins.size());
    for (ParamId k : second_.origins.ids()) {
      const ParamOrigin& origin = second_.origins[k];
      if (second_.kernel.params[k].output) continue;
      if (auto it = stored.find(key(origin)); it != stored.end()) {
        forwarded_[k] = it->second;
        continue;
      }
      auto [it, added] = inputs.try_emplace(key(origin));
      if (added) it->second = add_param(second_.kernel.params[k], origin);
      second_param_[k] = it->second;
    }
    for (ParamId k : first_.origins.ids()) {
      const Param& param = first_.kernel.params[k];
      if (param.output) first_param_[k] = add_param(param, first_.origins[k]);
    }
    for (ParamId k : second_.origins.ids()) {
      const Param& param = second_.kernel.params[k];
      if (param.output) second_param_[k] = add_param(param, second_.origins[k]);
    }
  }

  // ---- The first kernel's stages

  void add_first() {
    for (const Stage& source : first_.kernel.stages) {
      Stage stage = source;
      for (Inst& inst : stage.body) {
        if (auto* load = std::get_if<LoadInst>(&inst.what)) {
          load->param = first_param_[load->param];
        } else if (auto* local = std::get_if<LocalInst>(&inst.what)) {
          local->stage = first_stage_[local->stage];
        }
      }
      auto* output = std::get_if<OutputTarget>(&stage.target);
      const ParamId stored = output != nullptr ? output->param : ParamId();
      if (output != nullptr) output->param = first_param_[stored];
      first_stage_.push_back(out_.kernel.stages.next());
      if (stored.valid() &&
          std::find(forwarded_.begin(), forwarded_.end(), stored) != forwarded_.end()) {
        add_forwarded(std::move(stage), stored);
      } else {
        out_.kernel.stages.push_back(std::move(stage));
      }
    }
  }

  // A result that the second kernel reads is kept in a local buffer and stored from there.
  void add_forwarded(Stage stage, ParamId stored) {
    const OutputTarget output = std::get<OutputTarget>(stage.target);
    std::vector<Expr> own;
    for (LoopId loop : buffer_loops(stage)) own.push_back(index_of(out_.kernel, loop));
    std::vector<Expr> whole = outer_index();
    whole.insert(whole.end(), own.begin(), own.end());
    if (output.index != whole) {
      why_ = "an outer iteration stores something other than its own row";
      return;
    }
    const StageId number = out_.kernel.stages.next();
    forwarded_stage_[stored] = number;
    Stage store{.dtype = stage.dtype,
                .loops = buffer_loops(stage),
                .reduction = std::nullopt,
                .body = {{stage.dtype, LocalInst{number, own}}},
                .result = InstId{0},
                .target = output};
    stage.target = LocalTarget{};
    out_.kernel.stages.push_back(std::move(stage));
    out_.kernel.stages.push_back(std::move(store));
  }

  std::vector<Expr> outer_index() const {
    std::vector<Expr> index;
    for (LoopId loop : outer_loops(out_.kernel)) index.push_back(index_of(out_.kernel, loop));
    return index;
  }

  // ---- The second kernel's stages

  void add_second() {
    std::map<std::string, StageId> known;
    for (StageId k : out_.kernel.stages.ids()) {
      const Stage& stage = out_.kernel.stages[k];
      if (std::holds_alternative<LocalTarget>(stage.target)) {
        known.emplace(form_of(stage), k);
      }
    }
    IdVector<StageId, StageId> number;
    for (const Stage& source : second_.kernel.stages) {
      Stage stage = renamed(source, number);
      if (!why_.empty()) return;
      const StageId next = out_.kernel.stages.next();
      if (std::holds_alternative<LocalTarget>(stage.target)) {
        auto [it, added] = known.emplace(form_of(stage), next);
        number.push_back(it->second);
        if (!added) continue;
      } else {
        number.push_back(next);
      }
      out_.kernel.stages.push_back(std::move(stage));
    }
  }

  // A key for what a local stage computes, independent of its loop numbers.
  std::string form_of(const Stage& source) const {
    IdVector<LoopId, Expr> index;
    IdVector<LoopId, LoopId> name;
    for (LoopId loop : out_.kernel.loops.ids()) {
      name.push_back(loop);
      index.push_back(index_of(out_.kernel, loop));
    }
    std::vector<LoopId> own = source.loops;
    if (source.reduction) own.push_back(source.reduction->loop);
    std::string extents;
    for (size_t k = 0; k < own.size(); ++k) {
      const LoopId loop = own[k];
      const Expr extent = extent_of(out_.kernel, loop);
      name[loop] = LoopId::at(name.size() + k);
      index[loop] = index_of(name[loop], extent);
      extents += " " + extent.text();
    }
    Stage stage = source;
    rename(stage, name, index);
    return extents + text(stage);
  }

  static void rename(Stage& stage, const IdVector<LoopId, LoopId>& name,
                     const IdVector<LoopId, Expr>& index) {
    auto rename_expr = [&](Expr& e) { e = e.substitute_indices(index.items()); };
    for (LoopId& loop : stage.loops) loop = name[loop];
    if (stage.reduction) stage.reduction->loop = name[stage.reduction->loop];
    for (Inst& inst : stage.body) {
      if (auto* load = std::get_if<LoadInst>(&inst.what)) {
        for (Index& i : load->index) rename_expr(i.expr);
      } else if (auto* local = std::get_if<LocalInst>(&inst.what)) {
        for (Expr& e : local->index) rename_expr(e);
      } else if (auto* iota = std::get_if<IotaInst>(&inst.what)) {
        rename_expr(iota->expr);
      }
    }
    if (auto* output = std::get_if<OutputTarget>(&stage.target)) {
      for (Expr& e : output->index) rename_expr(e);
    }
  }

  Stage renamed(const Stage& source, const IdVector<StageId, StageId>& number) {
    Stage stage = source;
    rename(stage, loop_, loop_index_);
    for (Inst& inst : stage.body) {
      if (auto* load = std::get_if<LoadInst>(&inst.what)) {
        const ParamId param = load->param;
        if (forwarded_[param].valid()) {
          inst.what = forwarded_load(LoadInst(*load), forwarded_[param]);
        } else {
          load->param = second_param_[param];
        }
      } else if (auto* local = std::get_if<LocalInst>(&inst.what)) {
        local->stage = number[local->stage];
      }
    }
    if (auto* output = std::get_if<OutputTarget>(&stage.target)) {
      output->param = second_param_[output->param];
    }
    return stage;
  }

  LocalInst forwarded_load(const LoadInst& load, ParamId stored) {
    const std::vector<Expr> outer = outer_index();
    LocalInst local{forwarded_stage_.at(stored), {}};
    for (size_t d = 0; d < load.index.size(); ++d) {
      const Index& index = load.index[d];
      if (index.value || (d < outer.size() && index.expr != outer[d])) {
        why_ = "the second kernel reads what other outer iterations of the first store";
      }
      if (d >= outer.size()) local.index.push_back(index.expr);
    }
    return local;
  }

  void finish_kernel() {
    finish(out_.kernel);
    if (out_.kernel.local_bytes.upper_bound() > limits_.most_local_bytes) {
      why_ = "local buffers are over the limit";
    }
    std::set_union(first_.classes.begin(), first_.classes.end(), second_.classes.begin(),
                   second_.classes.end(), std::back_inserter(out_.classes));
  }

  const LoweredKernel& first_;
  const LoweredKernel& second_;
  const StageLimits limits_;
  IdVector<LoopId, LoopId> loop_;      // by loop of the second: its number in the merged kernel
  IdVector<LoopId, Expr> loop_index_;  // the same as index expressions
  IdVector<ParamId, ParamId> first_param_, second_param_;
  IdVector<ParamId, ParamId> forwarded_;  // by param of the second: the first's that stores it
  IdVector<StageId, StageId> first_stage_;
  std::map<ParamId, StageId> forwarded_stage_;  // by param of the first: the stage that keeps it
  LoweredKernel out_;
  std::string why_;
};

}  // namespace

Result<LoweredKernel> merge(const LoweredKernel& first, const LoweredKernel& second,
                            const StageLimits& limits) {
  return Merger(first, second, limits).run();
}

}  // namespace luminal::kernel
