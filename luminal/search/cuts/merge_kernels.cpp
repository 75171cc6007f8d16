#include "luminal/search/cuts/merge_kernels.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "luminal/kernel/lower/merge.h"
#include "luminal/search/cuts/plan_cost.h"
#include "luminal/search/cuts/step_dependences.h"

namespace luminal::search {
namespace {

using kernel::ClassId;
using kernel::LoweredKernel;

// With the policy Modelled a merge must save this share of the time of both kernels, launches
// included: the model isn't exact enough for less, and one kernel more to compile isn't free.
constexpr double kWorthMerging = 0.02;

// Merging takes time quadratic in steps, so longer plans are merged in parts of this many.
constexpr size_t kMostTogether = 512;

// What a step reads or writes: classes, and sources that host steps make, past all classes.
using Datum = uint64_t;
Datum datum(ClassId id) { return id.value; }
constexpr Datum kFirstSource = uint64_t{1} << 32;
Datum datum_of_source(kernel::SourceId source) { return kFirstSource + source.value; }

struct Step {
  std::variant<kernel::KernelStep, kernel::HostStep> what;
  std::vector<Datum> reads, writes;                    // sorted
  std::vector<int> loops;                              // loops whose results it reads
  std::optional<std::vector<LoweredKernel>> variants;  // of a kernel, made on first use
  bool merged_away = false;
};

bool overlap(const std::vector<Datum>& a, const std::vector<Datum>& b) {
  return std::ranges::any_of(a, [&](Datum d) { return std::ranges::binary_search(b, d); });
}

class Merging {
 public:
  Merging(const kernel::TermGraph& graph, const PlanRequest& request, const SearchOptions& options,
          const Variants& variants)
      : graph_(graph), request_(request), options_(options), variants_(variants) {
    for (ClassId id : request.boundaries) boundaries_.push_back(where(id));
    for (ClassId id : request.apart) boundaries_.push_back(where(id));
    std::ranges::sort(boundaries_);
  }

  // Sorts the steps topologically, with the dependences through markers of loops.
  void order(kernel::Plan& plan) {
    for (auto& what : plan.steps) steps_.push_back(step_of(std::move(what)));
    plan.steps.clear();
    for (size_t i : order_of_steps(steps_read())) plan.steps.push_back(std::move(steps_[i].what));
  }

  void run(kernel::Plan& plan) {
    for (auto& what : plan.steps) steps_.push_back(step_of(std::move(what)));
    dependences_.emplace(steps_read());
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].merged_away) continue;
      for (size_t j = i + 1; j < steps_.size();) {
        if (!steps_[j].merged_away && try_merge(i, j)) {
          j = i + 1;
        } else {
          ++j;
        }
      }
    }
    finish(plan);
  }

 private:
  Step step_of(std::variant<kernel::KernelStep, kernel::HostStep> what) const {
    Step step{.what = std::move(what),
              .reads = {},
              .writes = {},
              .loops = {},
              .variants = {},
              .merged_away = false};
    if (const auto* host = std::get_if<kernel::HostStep>(&step.what)) {
      step.writes.push_back(datum_of_source(host->source));
      for (const HostNeed& need : request_.host_steps) {
        if (need.source != host->source) continue;
        for (ClassId id : need.operands) step.reads.push_back(where(id));
      }
    } else {
      const LoweredKernel& lowered = std::get<kernel::KernelStep>(step.what).lowered;
      for (kernel::ParamId k : lowered.origins.ids()) {
        const kernel::ParamOrigin& origin = lowered.origins[k];
        const Datum at =
            origin.source.valid() ? datum_of_source(origin.source) : where(origin.value);
        (lowered.kernel.params[k].output ? step.writes : step.reads).push_back(at);
      }
    }
    see_through_markers(step);
    std::ranges::sort(step.reads);
    std::ranges::sort(step.writes);
    return step;
  }

  // A read of a marker is a read of what it stands for.
  void see_through_markers(Step& step) const {
    if (request_.loops.behind.empty()) return;
    const std::vector<Datum> reads = step.reads;
    for (Datum d : reads) {
      if (d < kFirstSource) continue;
      for (ClassId id : request_.loops.behind[kernel::SourceId::at(d - kFirstSource)]) {
        step.reads.push_back(where(id));
        step.loops.push_back(request_.loops.of(id));
      }
    }
  }

  Datum where(ClassId id) const {
    for (const kernel::Term& term : graph_.at(id).terms) {
      if (const auto* load = std::get_if<kernel::LoadTerm>(&term)) {
        return datum_of_source(load->source);
      }
    }
    return datum(id);
  }

  // By step: the steps that write what it reads.
  std::vector<std::vector<size_t>> steps_read() const {
    std::map<Datum, std::vector<size_t>> writers;
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (Datum d : steps_[i].writes) writers[d].push_back(i);
    }
    std::vector<std::vector<size_t>> read(steps_.size());
    for (size_t j = 0; j < steps_.size(); ++j) {
      for (Datum d : steps_[j].reads) {
        const auto of = writers.find(d);
        if (of == writers.end()) continue;
        std::ranges::copy_if(of->second, std::back_inserter(read[j]),
                             [&](size_t i) { return i != j; });
      }
      add_loops_read(j, read[j]);
    }
    return read;
  }

  // All steps of a loop run before its results are read: carried values aren't among the reads
  // here, and through them the last trip may depend on any step.
  void add_loops_read(size_t j, std::vector<size_t>& read) const {
    if (steps_[j].loops.empty()) return;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const int loop = loop_of(steps_[i]);
      if (loop == 0 || loop == loop_of(steps_[j])) continue;
      if (std::ranges::find(steps_[j].loops, loop) != steps_[j].loops.end()) read.push_back(i);
    }
  }

  bool meet_at_boundary(const Step& a, const Step& b) const {
    auto hands_over = [&](const Step& from, const Step& to) {
      return std::ranges::any_of(from.writes, [&](Datum d) {
        return std::ranges::binary_search(to.reads, d) &&
               std::ranges::binary_search(boundaries_, d);
      });
    };
    return hands_over(a, b) || hands_over(b, a);
  }

  const std::vector<LoweredKernel>& variants_of(Step& step) {
    if (!step.variants) {
      step.variants = variants_(std::get<kernel::KernelStep>(step.what).lowered);
    }
    return *step.variants;
  }

  // If the first loops differ, no choice of outer loops is the same.
  static bool may_share_outer(const kernel::Kernel& a, const kernel::Kernel& b) {
    const kernel::LoopId first{0};
    return !a.loops.empty() && !b.loops.empty() && extent_of(a, first) == extent_of(b, first);
  }

  static size_t n_instructions(const kernel::Kernel& kernel) {
    size_t count = 0;
    for (const kernel::Stage& stage : kernel.stages) count += stage.body.size();
    return count;
  }

  ClassId stored_first(const kernel::KernelStep& step) const {
    return kernel::stored_by(step.lowered).front();
  }
  int loop_of(const Step& step) const {
    if (const auto* kernel = std::get_if<kernel::KernelStep>(&step.what)) {
      return request_.loops.of(stored_first(*kernel));
    }
    const auto& of_source = request_.loops.loop_of_source;
    const kernel::SourceId source = std::get<kernel::HostStep>(step.what).source;
    return of_source.empty() ? 0 : of_source[source];
  }

  double charged(const LoweredKernel& lowered) const {
    const double seconds = kernel_seconds(lowered, options_);
    const bool once = request_.weights.runs_once(lowered, options_.sizes) &&
                      may_count_once(lowered.kernel, options_);
    return once ? seconds_if_once(seconds) : seconds;
  }

  bool try_merge(size_t i, size_t j) {
    auto* a = std::get_if<kernel::KernelStep>(&steps_[i].what);
    auto* b = std::get_if<kernel::KernelStep>(&steps_[j].what);
    if (a == nullptr || b == nullptr) return false;
    if (loop_of(steps_[i]) != loop_of(steps_[j])) return false;
    if (!may_share_outer(a->lowered.kernel, b->lowered.kernel)) return false;
    const size_t most = static_cast<size_t>(options_.limits.walk.most_instances);
    if (n_instructions(a->lowered.kernel) + n_instructions(b->lowered.kernel) > most) return false;
    const bool swapped = dependences_->reads(i, j);
    if (meet_at_boundary(steps_[i], steps_[j])) return false;
    const bool related =
        swapped || dependences_->reads(j, i) || overlap(steps_[i].reads, steps_[j].reads);
    if (!related || dependences_->separated(i, j)) return false;
    Step& first = steps_[swapped ? j : i];
    Step& second = steps_[swapped ? i : j];
    const double apart = a->model_seconds + b->model_seconds;
    const double most_seconds =
        options_.fusion == FusionPolicy::Always ? apart : apart * (1 - kWorthMerging);
    std::vector<LoweredKernel> merged;
    int best = -1;
    double best_seconds = most_seconds;
    for (const LoweredKernel& x : variants_of(first)) {
      for (const LoweredKernel& y : variants_of(second)) {
        if (x.kernel.n_outer != y.kernel.n_outer) continue;
        auto both = kernel::merge(x, y, options_.limits);
        if (!both) continue;
        const double time = charged(*both);
        if (time < best_seconds) {
          best = static_cast<int>(merged.size());
          best_seconds = time;
        }
        merged.push_back(std::move(*both));
      }
    }
    if (best < 0) return false;
    Step step = step_of(kernel::make_step(merged[static_cast<size_t>(best)], best_seconds));
    step.variants = std::move(merged);
    steps_[i] = std::move(step);
    steps_[j].merged_away = true;
    dependences_->merge(i, j);
    return true;
  }

  void finish(kernel::Plan& plan) {
    plan.steps.clear();
    plan.model_seconds = 0;
    for (size_t i : dependences_->in_order()) {
      if (const auto* step = std::get_if<kernel::KernelStep>(&steps_[i].what)) {
        plan.model_seconds += step->model_seconds * request_.loops.times(stored_first(*step));
      }
      plan.steps.push_back(std::move(steps_[i].what));
    }
  }

  const kernel::TermGraph& graph_;
  const PlanRequest& request_;
  const SearchOptions& options_;
  const Variants& variants_;
  std::vector<Step> steps_;
  std::vector<Datum> boundaries_;
  std::optional<StepDependences> dependences_;
};

}  // namespace

// Parts are in topological order, so no step depends on another one of the same part through a
// third part.
void merge_kernels(kernel::Plan& plan, const kernel::TermGraph& graph, const PlanRequest& request,
                   const SearchOptions& options, const Variants& variants) {
  if (plan.steps.size() <= kMostTogether) {
    Merging(graph, request, options, variants).run(plan);
    return;
  }
  Merging(graph, request, options, variants).order(plan);
  kernel::Plan whole;
  for (size_t begin = 0; begin < plan.steps.size(); begin += kMostTogether) {
    const size_t end = std::min(begin + kMostTogether, plan.steps.size());
    kernel::Plan part;
    std::move(plan.steps.begin() + static_cast<ptrdiff_t>(begin),
              plan.steps.begin() + static_cast<ptrdiff_t>(end), std::back_inserter(part.steps));
    Merging(graph, request, options, variants).run(part);
    whole.model_seconds += part.model_seconds;
    std::ranges::move(part.steps, std::back_inserter(whole.steps));
  }
  whole.term = std::move(plan.term);
  plan = std::move(whole);
}

}  // namespace luminal::search
