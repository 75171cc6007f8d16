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
    for (int k = 0; same && k < a.n_outer; ++k) same = extent(a, k) == extent(b, k);
    if (!same) why_ = "the outer loops differ";
    if (std::ranges::any_of(a.stages, updates) || std::ranges::any_of(b.stages, updates)) {
      why_ = "a scatter runs alone";
    }
    if (a.stages.size() + b.stages.size() > kMostStages) why_ = "too many stages";
  }

  static Expr extent(const Kernel& kernel, int loop) {
    return kernel.loops[static_cast<size_t>(loop)].extent;
  }

  // The outer loops are the same; the second's inner ones come after the first's.
  void merge_loops() {
    out_.kernel.n_outer = first_.kernel.n_outer;
    out_.kernel.loops = first_.kernel.loops;
    for (size_t k = 0; k < second_.kernel.loops.size(); ++k) {
      const Loop& loop = second_.kernel.loops[k];
      const bool outer = k < static_cast<size_t>(out_.kernel.n_outer);
      loop_.push_back(static_cast<int>(outer ? k : out_.kernel.loops.size()));
      loop_index_.push_back(Expr::index(loop_.back(), loop.extent));
      if (!outer) out_.kernel.loops.push_back(loop);
    }
  }

  int add_param(const Param& param, const ParamOrigin& origin) {
    out_.kernel.params.push_back(param);
    out_.origins.push_back(origin);
    return static_cast<int>(out_.kernel.params.size()) - 1;
  }

  // Inputs first, outputs last.
  void merge_params() {
    first_param_.resize(first_.origins.size(), -1);
    second_param_.resize(second_.origins.size(), -1);
    auto key = [](const ParamOrigin& origin) {
      return std::pair(origin.source, origin.source < 0 ? origin.value.value : 0u);
    };
    std::map<std::pair<int, uint32_t>, int> inputs, stored;
    for (size_t k = 0; k < first_.origins.size(); ++k) {
      const ParamOrigin& origin = first_.origins[k];
      if (first_.kernel.params[k].output) {
        stored[key(origin)] = static_cast<int>(k);
      } else {
        inputs[key(origin)] = first_param_[k] = add_param(first_.kernel.params[k], origin);
      }
    }
    forwarded_.resize(second_.origins.size(), -1);
    for (size_t k = 0; k < second_.origins.size(); ++k) {
      const ParamOrigin& origin = second_.origins[k];
      if (second_.kernel.params[k].output) continue;
      if (auto it = stored.find(key(origin)); it != stored.end()) {
        forwarded_[k] = it->second;
        continue;
      }
      auto [it, added] = inputs.try_emplace(key(origin), -1);
      if (added) it->second = add_param(second_.kernel.params[k], origin);
      second_param_[k] = it->second;
    }
    for (size_t k = 0; k < first_.origins.size(); ++k) {
      const Param& param = first_.kernel.params[k];
      if (param.output) first_param_[k] = add_param(param, first_.origins[k]);
    }
    for (size_t k = 0; k < second_.origins.size(); ++k) {
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
          load->param = first_param_[static_cast<size_t>(load->param)];
        } else if (auto* local = std::get_if<LocalInst>(&inst.what)) {
          local->stage = first_stage_[static_cast<size_t>(local->stage)];
        }
      }
      auto* output = std::get_if<OutputTarget>(&stage.target);
      const int stored = output != nullptr ? output->param : -1;
      if (output != nullptr) output->param = first_param_[static_cast<size_t>(stored)];
      first_stage_.push_back(static_cast<int>(out_.kernel.stages.size()));
      if (std::find(forwarded_.begin(), forwarded_.end(), stored) != forwarded_.end() &&
          stored >= 0) {
        add_forwarded(std::move(stage), stored);
      } else {
        out_.kernel.stages.push_back(std::move(stage));
      }
    }
  }

  // A result that the second kernel reads is kept in a local buffer and stored from there.
  void add_forwarded(Stage stage, int stored) {
    const OutputTarget output = std::get<OutputTarget>(stage.target);
    std::vector<Expr> own;
    for (int loop : buffer_loops(stage))
      own.push_back(Expr::index(loop, extent(out_.kernel, loop)));
    std::vector<Expr> whole = outer_index();
    whole.insert(whole.end(), own.begin(), own.end());
    if (output.index != whole) {
      why_ = "what is stored isn't a row of the outer point";
      return;
    }
    const auto number = static_cast<int>(out_.kernel.stages.size());
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
    for (int k = 0; k < out_.kernel.n_outer; ++k) {
      index.push_back(Expr::index(k, extent(out_.kernel, k)));
    }
    return index;
  }

  // ---- The second kernel's stages

  void add_second() {
    std::map<std::string, int> known;
    for (size_t k = 0; k < out_.kernel.stages.size(); ++k) {
      const Stage& stage = out_.kernel.stages[k];
      if (std::holds_alternative<LocalTarget>(stage.target)) {
        known.emplace(form_of(stage), static_cast<int>(k));
      }
    }
    std::vector<int> number;
    for (const Stage& source : second_.kernel.stages) {
      Stage stage = renamed(source, number);
      if (!why_.empty()) return;
      const auto next = static_cast<int>(out_.kernel.stages.size());
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
    std::vector<Expr> index;
    std::vector<int> name(out_.kernel.loops.size());
    for (size_t k = 0; k < name.size(); ++k) {
      name[k] = static_cast<int>(k);
      index.push_back(Expr::index(name[k], out_.kernel.loops[k].extent));
    }
    std::vector<int> own = source.loops;
    if (source.reduction) own.push_back(source.reduction->loop);
    std::string extents;
    for (size_t k = 0; k < own.size(); ++k) {
      const auto loop = static_cast<size_t>(own[k]);
      name[loop] = static_cast<int>(name.size() + k);
      index[loop] = Expr::index(name[loop], out_.kernel.loops[loop].extent);
      extents += " " + out_.kernel.loops[loop].extent.text();
    }
    Stage stage = source;
    rename(stage, name, index);
    return extents + text(stage);
  }

  static void rename(Stage& stage, const std::vector<int>& name, const std::vector<Expr>& index) {
    auto rename_expr = [&](Expr& e) { e = e.substitute_indices(index); };
    for (int& loop : stage.loops) loop = name[static_cast<size_t>(loop)];
    if (stage.reduction) stage.reduction->loop = name[static_cast<size_t>(stage.reduction->loop)];
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

  Stage renamed(const Stage& source, const std::vector<int>& number) {
    Stage stage = source;
    rename(stage, loop_, loop_index_);
    for (Inst& inst : stage.body) {
      if (auto* load = std::get_if<LoadInst>(&inst.what)) {
        const auto param = static_cast<size_t>(load->param);
        if (forwarded_[param] >= 0) {
          inst.what = forwarded_load(LoadInst(*load), forwarded_[param]);
        } else {
          load->param = second_param_[param];
        }
      } else if (auto* local = std::get_if<LocalInst>(&inst.what)) {
        local->stage = number[static_cast<size_t>(local->stage)];
      }
    }
    if (auto* output = std::get_if<OutputTarget>(&stage.target)) {
      output->param = second_param_[static_cast<size_t>(output->param)];
    }
    return stage;
  }

  LocalInst forwarded_load(const LoadInst& load, int stored) {
    const std::vector<Expr> outer = outer_index();
    LocalInst local{forwarded_stage_.at(stored), {}};
    for (size_t d = 0; d < load.index.size(); ++d) {
      const Index& index = load.index[d];
      if (index.value || (d < outer.size() && index.expr != outer[d])) {
        why_ = "the second reads what other outer points of the first store";
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
  std::vector<int> loop_;         // by loop of the second: its number in the merged kernel
  std::vector<Expr> loop_index_;  // the same as index expressions
  std::vector<int> first_param_, second_param_;
  std::vector<int> forwarded_;  // by param of the second: the param of the first that stores it
  std::vector<int> first_stage_;
  std::map<int, int> forwarded_stage_;  // by param of the first: the stage that keeps it
  LoweredKernel out_;
  std::string why_;
};

}  // namespace

Result<LoweredKernel> merge(const LoweredKernel& first, const LoweredKernel& second,
                            const StageLimits& limits) {
  return Merger(first, second, limits).run();
}

}  // namespace luminal::kernel
