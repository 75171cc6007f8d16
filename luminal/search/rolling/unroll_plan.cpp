#include "luminal/search/rolling/unroll_plan.h"

#include <algorithm>
#include <queue>

#include "luminal/graph/traverse.h"
#include "luminal/search/rolling/unroll_terms.h"

namespace luminal::search {
namespace {

using kernel::ClassId;
using PlanStep = std::variant<kernel::KernelStep, kernel::HostStep>;

class Unrolling {
 public:
  Unrolling(const Graph& graph, const std::vector<NodeId>& roots, const RolledGraph& rolled,
            const PlanLoops& loops, const PlannedTerms& of_rolled)
      : graph_(graph),
        roots_(roots),
        order_(topological_order(graph, roots)),
        rolled_(rolled),
        loops_(loops),
        of_rolled_(of_rolled),
        terms_(graph, order_, rolled, loops, of_rolled) {}

  Result<PlannedTerms> run() {
    class_of_.resize(graph_.size());
    for (NodeId id : order_) class_of_[id.index()] = terms_.class_of(id);
    for_each_step([&](const PlanStep& step, Trip trip) {
      const auto* kernel = std::get_if<kernel::KernelStep>(&step);
      if (kernel == nullptr) return;
      for (const kernel::ParamOrigin& origin : kernel->lowered.origins) {
        terms_.class_in(origin.value, trip);
      }
      for (ClassId id : kernel->lowered.classes) terms_.class_in(id, trip);
    });
    terms_.finish();
    for_each_step([&](const PlanStep& step, Trip trip) { add_step(step, trip); });
    if (!order_steps())
      return Result<PlannedTerms>::failure("its steps depend on each other in a cycle");
    explain();
    explain_absorbed();
    out_.sources = std::move(terms_.sources);
    out_.chosen = std::move(terms_.chosen);
    out_.extracted = std::move(terms_.extracted);
    out_.extracted.class_of = std::move(class_of_);
    return std::move(out_);
  }

 private:
  // Steps outside of loops, then those of each loop, trip by trip.
  template <typename Work>
  void for_each_step(Work work) {
    for (size_t loop = 0; loop < rolled_.trips.size(); ++loop) {
      for (size_t t = 0; t < rolled_.trips[loop]; ++t) {
        for (const PlanStep& step : of_rolled_.plan.steps) {
          if (loop_of(step) == static_cast<int>(loop)) work(step, {static_cast<int>(loop), t});
        }
      }
    }
  }

  int loop_of(const PlanStep& step) const {
    if (const auto* host = std::get_if<kernel::HostStep>(&step)) {
      const NodeId node = of_rolled_.sources[host->source].node;
      return rolled_.loop_of[node.index()];
    }
    const auto& kernel = std::get<kernel::KernelStep>(step);
    return loops_.of(kernel::stored_by(kernel.lowered).front());
  }

  // ---- Steps and what they need --------------------------------------------------------------

  struct Need {  // a class, or a source
    ClassId value;
    kernel::SourceId source = {};
    friend auto operator<=>(const Need&, const Need&) = default;
  };

  // Where a class is in memory: stored by a kernel, or a source.
  Need in_memory(ClassId id) const {
    if (made_by_.contains(Need{id})) return {id};
    for (const kernel::Term& term : terms_.extracted.graph.at(id).terms) {
      if (const auto* load = std::get_if<kernel::LoadTerm>(&term)) return {ClassId{}, load->source};
    }
    return {id};
  }

  void add_step(const PlanStep& step, Trip trip) {
    const size_t number = steps_.size();
    reads_.emplace_back();
    if (const auto* host = std::get_if<kernel::HostStep>(&step)) {
      const kernel::SourceId source = terms_.source_in(host->source, trip);
      steps_.emplace_back(kernel::HostStep{source});
      made_by_.emplace(Need{ClassId{}, source}, number);
      for (NodeId input : graph_.node(terms_.sources[source].node).inputs) {
        reads_.back().push_back({class_of_[input.index()]});
      }
      return;
    }
    kernel::KernelStep copy = std::get<kernel::KernelStep>(step);
    copy.lowered = terms_.kernel_in(copy.lowered, trip);
    for (kernel::ParamId p : copy.lowered.origins.ids()) {
      const kernel::ParamOrigin& origin = copy.lowered.origins[p];
      if (copy.lowered.kernel.params[p].output) {
        made_by_.emplace(Need{origin.value}, number);
      } else {
        reads_.back().push_back(origin.source.valid() ? Need{ClassId{}, origin.source}
                                                      : Need{origin.value});
      }
    }
    steps_.emplace_back(std::move(copy));
  }

  // The steps that a step depends on.
  std::vector<size_t> before(size_t step) const {
    std::vector<size_t> steps;
    for (const Need& need : reads_[step]) {
      const auto found = made_by_.find(need.source.valid() ? need : in_memory(need.value));
      if (found != made_by_.end()) steps.push_back(found->second);
    }
    return steps;
  }

  // Emits the steps that the results need, in topological order, otherwise as they were made.
  bool order_steps() {
    std::vector<bool> needed(steps_.size(), false);
    std::vector<size_t> open;
    for (NodeId root : roots_) {
      const auto found = made_by_.find(in_memory(class_of_[root.index()]));
      if (found != made_by_.end()) open.push_back(found->second);
    }
    std::vector<std::vector<size_t>> readers(steps_.size());
    std::vector<size_t> missing(steps_.size(), 0);
    size_t n_needed = 0;
    while (!open.empty()) {
      const size_t step = open.back();
      open.pop_back();
      if (needed[step]) continue;
      needed[step] = true;
      ++n_needed;
      for (size_t read : before(step)) {
        open.push_back(read);
        readers[read].push_back(step);
        ++missing[step];
      }
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t step = 0; step < steps_.size(); ++step) {
      if (needed[step] && missing[step] == 0) ready.push(step);
    }
    while (!ready.empty()) {
      const size_t step = ready.top();
      ready.pop();
      emit(std::move(steps_[step]));
      for (size_t reader : readers[step]) {
        if (--missing[reader] == 0) ready.push(reader);
      }
    }
    return out_.plan.steps.size() == n_needed;
  }

  void emit(PlanStep step) {
    if (const auto* host = std::get_if<kernel::HostStep>(&step)) {
      HostNeed need{host->source, {}};
      const NodeId node = terms_.sources[host->source].node;
      for (NodeId input : graph_.node(node).inputs) {
        need.operands.push_back(class_of_[input.index()]);
      }
      out_.host_steps.push_back(std::move(need));
    } else {
      out_.plan.model_seconds += std::get<kernel::KernelStep>(step).model_seconds;
    }
    out_.plan.steps.push_back(std::move(step));
  }

  // ---- Why values are stored -----------------------------------------------------------------

  // Reasons are those of the rolled plan, except for values that are stored only as loop
  // boundaries.
  void explain() {
    if (!of_rolled_.stored) return;
    out_.stored.emplace();
    std::map<ClassId, const StoredValue*> known;
    for (const StoredValue& value : *of_rolled_.stored) known.emplace(value.value, &value);
    std::vector<ClassId> results;
    for (NodeId root : roots_) results.push_back(class_of_[root.index()]);
    std::ranges::sort(results);
    const auto readers = readers_of(out_.plan);
    for (const PlanStep& step : out_.plan.steps) {
      const auto* kernel = std::get_if<kernel::KernelStep>(&step);
      if (kernel == nullptr) continue;
      for (ClassId id : kernel::stored_by(kernel->lowered)) {
        const auto found = readers.find(id);
        if (found == readers.end()) continue;
        const auto why = known.find(terms_.rolled_class[id.index()]);
        StoredValue value{.value = id, .readers = found->second, .why = {}};
        if (why != known.end()) {
          value = *why->second;
          value.value = id;
          value.readers = found->second;
        }
        if (value.because == StoredBecause::Result && !std::ranges::binary_search(results, id)) {
          value.because = StoredBecause::LoopBoundary;
        }
        out_.stored->push_back(std::move(value));
      }
    }
  }

  // A value inside a kernel of the rolled plan is inside that kernel in every trip.
  void explain_absorbed() {
    std::multimap<ClassId, const AbsorbedValue*> known;
    for (const AbsorbedValue& value : of_rolled_.absorbed) known.emplace(value.value, &value);
    std::map<std::pair<ClassId, const AbsorbedValue*>, size_t> place;  // in out_.absorbed
    for (const PlanStep& step : out_.plan.steps) {
      const auto* kernel = std::get_if<kernel::KernelStep>(&step);
      if (kernel == nullptr) continue;
      const std::vector<ClassId> stored = kernel::stored_by(kernel->lowered);
      for (ClassId id : kernel->lowered.classes) {
        const bool is_stored = std::ranges::find(stored, id) != stored.end();
        auto [next, end] = known.equal_range(terms_.rolled_class[id.index()]);
        for (; next != end; ++next) {
          const AbsorbedValue& value = *next->second;
          if (is_stored && !value.term) continue;
          const auto [at, fresh] = place.try_emplace({id, &value}, out_.absorbed.size());
          if (fresh) {
            out_.absorbed.push_back(value);
            out_.absorbed.back().value = id;
            out_.absorbed.back().kernels.clear();
          }
          out_.absorbed[at->second].kernels.push_back(stored.front());
        }
      }
    }
  }

  const Graph& graph_;
  const std::vector<NodeId>& roots_;
  const std::vector<NodeId> order_;
  const RolledGraph& rolled_;
  const PlanLoops& loops_;
  const PlannedTerms& of_rolled_;
  UnrolledTerms terms_;
  std::vector<ClassId> class_of_;
  std::vector<PlanStep> steps_;
  std::vector<std::vector<Need>> reads_;  // by step
  std::map<Need, size_t> made_by_;
  PlannedTerms out_;
};

}  // namespace

Result<PlannedTerms> unroll_plan(const Graph& graph, const std::vector<NodeId>& roots,
                                 const RolledGraph& rolled, const PlanLoops& loops,
                                 const PlannedTerms& of_rolled) {
  return Unrolling(graph, roots, rolled, loops, of_rolled).run();
}

}  // namespace luminal::search
