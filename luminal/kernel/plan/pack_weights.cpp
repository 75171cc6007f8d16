#include "luminal/kernel/plan/pack_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "luminal/base/check.h"
#include "luminal/kernel/recognise/forms.h"
#include "luminal/kernel/recognise/work.h"

namespace luminal::kernel {
namespace {

// A kernel that stores a view of a tensor.
LoweredKernel lower_view(DType dtype, const IndexMap& map) {
  const ClassId tensor{0}, view{1};
  TermGraph graph;
  graph.sources.push_back({map.source_dims(), dtype, ""});
  graph.classes.push_back({map.source_dims(), dtype, {LoadTerm{SourceId{0}}}});
  graph.classes.push_back({map.dims(), dtype, {ReindexTerm{map, tensor}}});
  const Choice choice{.cut = {false, false}, .term = {0, 0}};
  std::vector<std::vector<Expr>> factors;
  for (Expr dim : map.dims()) factors.push_back({dim});
  const Result<Instances> instances = walk(graph, choice, view, factors);
  LUMINAL_CHECK(instances, instances.why());
  const Result<LoweredKernel> staged = stage(graph, view, *instances, instances->n_root_loops);
  LUMINAL_CHECK(staged, staged.why());
  return *staged;
}

// A view of elements, copied bit by bit: elements that stay together move as 32-bit words, other
// halves as i16, so nothing converts them. Kernels can't write u4 at all.
LoweredKernel lower_move(DType dtype, const IndexMap& map) {
  if (dtype == DType::U4) return lower_view(DType::I32, word_map(map, kU4PerWord).value());
  if (!is_half(dtype)) return lower_view(dtype, map);
  const std::optional<IndexMap> words = word_map(map, kHalvesPerWord);
  return words ? lower_view(DType::I32, *words) : lower_view(DType::I16, map);
}

// The kernel that stores `packed`, which has one term, a view of `weight`.
LoweredKernel lower_packing(const PlannedGraph& planned, ClassId packed, ClassId weight) {
  const TermClass& value = planned.terms.at(packed);
  const IndexMap& map = std::get<ReindexTerm>(value.terms[0]).map;
  LoweredKernel lowered = lower_move(value.dtype, map);
  LUMINAL_CHECK(lowered.origins.size() == 2, "packing reads one tensor and writes one");
  lowered.origins = {{planned.source_of(weight), weight}, {SourceId(), packed}};
  lowered.classes = {packed};
  return lowered;
}

// Drops inputs that nothing reads any more, and moves outputs last again.
void settle_params(LoweredKernel& lowered) {
  Kernel& kernel = lowered.kernel;
  IdVector<ParamId, bool> is_read(kernel.params.size());
  for (const Stage& stage : kernel.stages) {
    for (const Inst& inst : stage.body) {
      const auto* load = std::get_if<LoadInst>(&inst.what);
      if (load != nullptr) is_read[load->param] = true;
    }
  }
  IdVector<ParamId, ParamId> number(kernel.params.size());
  IdVector<ParamId, Param> params;
  IdVector<ParamId, ParamOrigin> origins;
  for (bool output : {false, true}) {
    for (ParamId p : kernel.params.ids()) {
      if (kernel.params[p].output != output || !(output || is_read[p])) continue;
      number[p] = params.push_back(kernel.params[p]);
      origins.push_back(lowered.origins[p]);
    }
  }
  auto renumber = [&](ParamId& param) { param = number[param]; };
  for (Param& param : params) {
    if (param.shares.valid()) renumber(param.shares);
  }
  for (Stage& stage : kernel.stages) {
    for (Inst& inst : stage.body) {
      if (auto* load = std::get_if<LoadInst>(&inst.what)) renumber(load->param);
    }
    if (auto* output = std::get_if<OutputTarget>(&stage.target)) renumber(output->param);
    if (auto* update = std::get_if<UpdateTarget>(&stage.target)) renumber(update->param);
  }
  kernel.params = std::move(params);
  lowered.origins = std::move(origins);
}

class WeightPacker {
 public:
  WeightPacker(PlannedGraph& planned, const PackRequest& request)
      : planned_(planned), request_(request), next_kernel_(request.first_kernel) {
    for (SourceId source : request.is_weight.ids()) {
      if (request.is_weight[source]) weight_sources_.insert(source);
    }
  }

  std::vector<std::string> run() {
    std::vector<std::variant<KernelStep, HostStep>> steps = std::move(planned_.plan.steps);
    for (auto& step : steps) {
      if (auto* kernel = std::get_if<KernelStep>(&step)) take(*kernel);
      out_.push_back(std::move(step));
    }
    planned_.plan.steps = std::move(out_);
    return notes();
  }

 private:
  struct Packed {
    ClassId value;
    IndexMap map;
  };

  bool from_weights(const ParamOrigin& origin) const {
    const SourceId source =
        origin.source.valid() ? origin.source : planned_.source_of(origin.value);
    return source.valid() ? weight_sources_.contains(source) : folded_.contains(origin.value);
  }

  // Whether the runtime runs it once, when weights are set.
  bool folds(const LoweredKernel& lowered) const {
    if (!lowered.kernel.variables.empty()) return false;
    int64_t read = 0, written = 0;
    for (ParamId p : lowered.origins.ids()) {
      const Param& param = lowered.kernel.params[p];
      const std::optional<int64_t> count = n_elements(param.dims).to_int();
      if (!count) return false;
      if (param.output) {
        if (contains(request_.results, lowered.origins[p].value)) return false;
        written += byte_size(param.dtype, *count);
      } else {
        if (!from_weights(lowered.origins[p])) return false;
        read += byte_size(param.dtype, *count);
      }
    }
    return written <= kMostFoldedGrowth * read;
  }

  static bool contains(const std::vector<ClassId>& classes, ClassId id) {
    return std::find(classes.begin(), classes.end(), id) != classes.end();
  }

  void take(KernelStep& step) {
    if (folds(step.lowered)) {
      for (ClassId id : stored_by(step.lowered)) {
        folded_.insert(id);
        stored_by_kernel_.emplace(id, next_kernel_);
      }
    } else {
      if (step.strategy == Strategy::Matmul) pack_factors(step.lowered);
      auto& readers = step.strategy == Strategy::Library ? library_readers_ : readers_;
      for (ParamId p : step.lowered.origins.ids()) {
        if (step.lowered.kernel.params[p].output) continue;
        readers[step.lowered.origins[p].value].push_back(next_kernel_);
      }
    }
    ++next_kernel_;
  }

  void pack_factors(LoweredKernel& lowered) {
    // Outlives the kernel's change below.
    const std::shared_ptr<const Forms> forms = lowered.kernel.forms;
    if (!forms->contraction) return;
    bool changed = false;
    for (const Contraction& contraction : forms->contraction->contractions) {
      changed = pack_factor(lowered, *forms->contraction, contraction) || changed;
    }
    if (!changed) return;
    settle_params(lowered);
    finish(lowered.kernel);
  }

  // Packs the right factor if it is a weight, else the left one.
  bool pack_factor(LoweredKernel& lowered, const ContractionForm& form,
                   const Contraction& contraction) {
    const Kernel& kernel = lowered.kernel;
    return pack_reads(lowered, contraction,
                      reads_in_panels(kernel, form, contraction, request_.packing)) ||
           pack_reads(lowered, contraction,
                      rows_in_panels(kernel, form, contraction, request_.packing));
  }

  // Packs all of a factor's loads or none.
  bool pack_reads(LoweredKernel& lowered, const Contraction& contraction,
                  std::vector<PanelRead> reads) {
    Kernel& kernel = lowered.kernel;
    Stage& stage = kernel.stages[contraction.stage];
    auto load_of = [&](const PanelRead& read) -> LoadInst& {
      return std::get<LoadInst>(stage.body[read.load.index()].what);
    };
    for (const PanelRead& read : reads) {
      if (!from_weights(lowered.origins[load_of(read).param])) return false;
    }
    for (PanelRead& read : reads) {
      LoadInst& load = load_of(read);
      const ClassId weight = lowered.origins[load.param].value;
      load.param = param_for(lowered, panels_of(weight, read.map));
      load.index = std::move(read.index);
    }
    return !reads.empty();
  }

  ParamId param_for(LoweredKernel& lowered, ClassId id) const {
    for (ParamId p : lowered.origins.ids()) {
      if (lowered.origins[p].value == id) return p;
    }
    const TermClass& value = planned_.terms.at(id);
    lowered.kernel.params.push_back({value.dtype, value.dims, false});
    return lowered.origins.push_back({SourceId(), id});
  }

  // The class of a weight's panels; if it is new, the step that stores it is appended to the plan.
  ClassId panels_of(ClassId weight, const IndexMap& map) {
    std::vector<Packed>& known = packed_[weight];
    for (const Packed& packed : known) {
      if (packed.map == map) return packed.value;
    }
    const auto id = ClassId::at(planned_.terms.classes.size());
    const DType dtype = planned_.terms.at(weight).dtype;
    planned_.terms.classes.push_back({map.dims(), dtype, {ReindexTerm{map, weight}}});
    // It runs when weights are set, so it adds nothing to the time of a run.
    KernelStep step = make_step(lower_packing(planned_, id, weight));
    step.packs = name_of(weight);
    out_.push_back(std::move(step));
    known.push_back({id, map});
    return id;
  }

  std::string name_of(ClassId weight) const {
    const SourceId source = planned_.source_of(weight);
    if (source.valid()) return planned_.terms.sources[source].name;
    return fmt::format("the result of kernel {}", stored_by_kernel_.at(weight));
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> lines;
    for (const auto& [weight, packed] : packed_) {
      std::vector<std::string> reasons;
      if (const auto kernels = readers_.find(weight); kernels != readers_.end()) {
        reasons.push_back(
            fmt::format("kernel {} reads it unpacked", fmt::join(kernels->second, ", ")));
      }
      if (const auto kernels = library_readers_.find(weight); kernels != library_readers_.end()) {
        reasons.push_back(fmt::format("a library packs it in its own layout for kernel {}",
                                      fmt::join(kernels->second, ", ")));
      }
      if (contains(request_.host_reads, weight)) reasons.push_back("a step on the host reads it");
      if (contains(request_.results, weight)) reasons.push_back("it is a result");
      if (packed.size() > 1) {
        reasons.push_back(fmt::format("kernels read it in {} layouts", packed.size()));
      }
      if (reasons.empty()) continue;
      int64_t bytes = 0;
      for (const Packed& panels : packed) {
        const TermClass& value = planned_.terms.at(panels.value);
        bytes += byte_size(value.dtype, n_elements(value.dims).to_int().value());
      }
      lines.push_back(
          fmt::format("{} is stored more than once, {} bytes of it as packed panels: {}",
                      name_of(weight), bytes, fmt::join(reasons, "; ")));
    }
    return lines;
  }

  PlannedGraph& planned_;
  const PackRequest& request_;
  std::set<SourceId> weight_sources_;
  std::set<ClassId> folded_;                       // stored by steps that read only weights
  std::map<ClassId, std::vector<Packed>> packed_;  // by weight
  std::map<ClassId, std::vector<int>> readers_;    // by class: the kernels of a run that read it
  std::map<ClassId, std::vector<int>> library_readers_;  // the same, of library kernels
  std::map<ClassId, int> stored_by_kernel_;              // by class of folded_
  int next_kernel_;  // number of the next kernel in reports; packing kernels have none
  std::vector<std::variant<KernelStep, HostStep>> out_;
};

}  // namespace

std::vector<std::string> pack_weights(PlannedGraph& planned, const PackRequest& request) {
  return WeightPacker(planned, request).run();
}

}  // namespace luminal::kernel
