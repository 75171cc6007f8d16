#include "luminal/search/inspect/why_apart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "luminal/base/errors.h"
#include "luminal/search/cuts/explain_plan.h"
#include "luminal/search/cuts/plan_cost.h"
#include "luminal/search/inspect/value_name.h"

namespace luminal::search {
namespace {

using kernel::ClassId;

// The steps of a plan and the values that flow between them.
class StepGraph {
 public:
  explicit StepGraph(const Inspection& inspection) : plan_(inspection.plan()->plan) {
    const size_t n = plan_.steps.size();
    for (size_t s = 0; s < n; ++s) {
      if (const auto* kernel = kernel_at(s)) {
        names_.push_back(fmt::format("kernel {}", n_kernels_++));
        for (ClassId id : kernel::stored_by(kernel->lowered)) maker_[id] = s;
      } else {
        const kernel::SourceId source = std::get<kernel::HostStep>(plan_.steps[s]).source;
        names_.push_back("the host step of " + inspection.extracted()->graph.sources[source].name);
        host_maker_[source] = s;
      }
    }
    edges_.resize(n);
    for (size_t s = 0; s < n; ++s) add_reads(inspection, s);
  }

  const kernel::KernelStep* kernel_at(size_t step) const {
    return std::get_if<kernel::KernelStep>(&plan_.steps[step]);
  }
  const std::string& name(size_t step) const { return names_[step]; }
  std::vector<size_t> steps_with(ClassId id) const {
    std::vector<size_t> steps;
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      const auto* kernel = kernel_at(s);
      if (kernel == nullptr) continue;
      const auto& classes = kernel->lowered.classes;
      if (std::binary_search(classes.begin(), classes.end(), id)) steps.push_back(s);
    }
    return steps;
  }
  const std::vector<ClassId>& handed(size_t from, size_t to) const { return edges_[from].at(to); }

  // Steps on a shortest path along the data; empty if there is none.
  std::vector<size_t> way(const std::vector<size_t>& from, const std::vector<size_t>& to) const {
    std::map<size_t, size_t> came_from;
    std::vector<size_t> queue = from;
    for (size_t step : from) came_from[step] = step;
    for (size_t next = 0; next < queue.size(); ++next) {
      size_t step = queue[next];
      if (std::find(to.begin(), to.end(), step) != to.end()) {
        std::vector<size_t> way = {step};
        while (came_from[step] != step) way.push_back(step = came_from[step]);
        std::reverse(way.begin(), way.end());
        return way;
      }
      for (const auto& [reader, values] : edges_[step]) {
        if (came_from.emplace(reader, step).second) queue.push_back(reader);
      }
    }
    return {};
  }

 private:
  void add_reads(const Inspection& inspection, size_t step) {
    const auto hand = [&](size_t from, ClassId id) {
      std::vector<ClassId>& values = edges_[from][step];
      if (std::find(values.begin(), values.end(), id) == values.end()) values.push_back(id);
    };
    const auto read = [&](ClassId id) {
      const auto maker = maker_.find(id);
      if (maker != maker_.end() && maker->second != step) hand(maker->second, id);
    };
    if (const auto* kernel = kernel_at(step)) {
      for (kernel::ParamId p : kernel->lowered.origins.ids()) {
        if (kernel->lowered.kernel.params[p].output) continue;
        const kernel::ParamOrigin& origin = kernel->lowered.origins[p];
        const auto host = host_maker_.find(origin.source);
        if (host != host_maker_.end()) hand(host->second, origin.value);
        if (!origin.source.valid()) read(origin.value);
      }
      return;
    }
    const kernel::SourceId source = std::get<kernel::HostStep>(plan_.steps[step]).source;
    for (const HostNeed& need : inspection.request().host_steps) {
      if (need.source != source) continue;
      for (ClassId id : need.operands) read(id);
    }
  }

  const kernel::Plan& plan_;
  int n_kernels_ = 0;
  std::vector<std::string> names_;
  std::map<ClassId, size_t> maker_;
  std::map<kernel::SourceId, size_t> host_maker_;
  std::vector<std::map<size_t, std::vector<ClassId>>> edges_;  // by step: its readers
};

// Where the value of a node is computed.
struct Place {
  std::string name;
  std::string outcome;  // empty where kernels compute it
  std::string why;
  std::vector<size_t> steps;
};

class WhyApart {
 public:
  explicit WhyApart(Inspection& inspection)
      : inspection_(inspection), graph_(inspection.graph()), steps_(inspection) {}

  Finding answer(NodeId first, NodeId second) {
    const Place a = place(first), b = place(second);
    Finding found;
    found.add("why_not", fmt::format("{} and {} in one kernel", a.name, b.name));
    for (const Place* one : {&a, &b}) {
      if (one->outcome.empty()) continue;
      return found.add("outcome", one->outcome).add("because", one->name + " " + one->why);
    }
    found.add("first", in_kernels(a)).add("second", in_kernels(b));
    std::vector<size_t> both;
    std::set_intersection(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                          std::back_inserter(both));
    if (!both.empty()) {
      return found.add("outcome", std::string("together"))
          .add("because", names(both) + (both.size() == 1 ? " computes" : " compute") + " both");
    }
    std::vector<size_t> way = steps_.way(a.steps, b.steps);
    if (way.empty()) way = steps_.way(b.steps, a.steps);
    if (way.empty()) {
      return found.add("outcome", std::string("independent"))
          .add("because", std::string("neither is needed for the other; such kernels become one "
                                      "launch where they read the same data over the same outer "
                                      "iterations and the cost model predicts a gain"));
    }
    found.add("outcome", std::string("apart"));
    explain(way, found);
    return found;
  }

 private:
  // A view isn't computed: its readers index what it is a view of.
  Place place(NodeId node) const {
    Place place{.name = graph_.describe(node), .outcome = {}, .why = {}, .steps = {}};
    const auto& class_of = inspection_.extracted()->class_of;
    const auto ends = [&](const char* outcome, std::string why) {
      place.outcome = outcome;
      place.why = std::move(why);
      return place;
    };
    if (!class_of[node.index()].valid()) return ends("not-computed", "isn't needed by any output");
    const char* own_step = "is computed by a step of its own, which nothing fuses with";
    if (is_host_step(node)) return ends("on-the-host", own_step);
    while (graph_.node(node).op == Op::View && steps_.steps_with(class_of[node.index()]).empty()) {
      node = graph_.node(node).inputs.front();
      place.name = fmt::format("{}, a view of {}", place.name, graph_.describe(node));
    }
    if (graph_.node(node).op == Op::Input) {
      return ends("in-memory", "is in memory before any kernel runs: kernels only read it");
    }
    const ClassId value = class_of[node.index()];
    place.steps = steps_.steps_with(value);
    if (!place.steps.empty()) return place;
    if (is_host_step(node)) return ends("on-the-host", own_step);
    const ClassFact* fact = inspection_.facts().of(node);
    const std::vector<std::string> rules =
        fact == nullptr ? std::vector<std::string>{} : inspection_.facts().rules(fact->id);
    return ends("not-computed",
                "is computed by no kernel: its readers do without it" +
                    (rules.empty() ? "" : fmt::format(" (rules: {})", fmt::join(rules, ", "))));
  }

  bool is_host_step(NodeId node) const {
    const auto& steps = inspection_.request().host_steps;
    return std::any_of(steps.begin(), steps.end(), [&](const HostNeed& step) {
      return inspection_.lowered().sources[step.source].node == node;
    });
  }

  std::string names(const std::vector<size_t>& steps) const {
    std::vector<std::string> list;
    for (size_t step : steps) list.push_back(steps_.name(step));
    return fmt::format("{}", fmt::join(list, ", "));
  }

  std::string in_kernels(const Place& place) const {
    return place.name + ", in " + names(place.steps);
  }

  std::string name(ClassId id) const {
    const ExtractedTerms& extracted = *inspection_.extracted();
    return ValueNames(graph_, extracted.class_of, extracted.graph).of(id);
  }

  // The values stored along the path, each with its reason.
  void explain(const std::vector<size_t>& way, Finding& found) const {
    const kernel::TermGraph& terms = inspection_.extracted()->graph;
    const SearchOptions& options = inspection_.options().search;
    const FoundPlan& plan = *inspection_.plan();
    const std::vector<StoredValue> stored =
        explain_plan(terms, inspection_.request(), options, plan);
    std::vector<std::string> lines, reasons;
    std::vector<bool> inside = plan.choice.cut;
    PlanCost cost(terms, inspection_.request(), options);
    bool may_be_inside = true;
    for (size_t i = 0; i + 1 < way.size(); ++i) {
      for (ClassId id : steps_.handed(way[i], way[i + 1])) {
        const auto at = std::find_if(stored.begin(), stored.end(),
                                     [&](const StoredValue& value) { return value.value == id; });
        const bool explained = at != stored.end();
        reasons.emplace_back(explained                             ? text(at->because)
                             : steps_.kernel_at(way[i]) != nullptr ? text(StoredBecause::HostStep)
                                                                   : "a host step computes it");
        lines.push_back(fmt::format("{}, stored by {} and read by {}: {}{}", name(id),
                                    steps_.name(way[i]), steps_.name(way[i + 1]), reasons.back(),
                                    explained ? figures(*at) : ""));
        may_be_inside &= cost.is_live(id);
        inside[id.index()] = false;
      }
    }
    found.add("because", lines).add("reasons", reasons);
    if (!may_be_inside || options.fusion == FusionPolicy::Never) return;
    const CostedPlan fused = cost.cost(cost.choice_for(inside, plan.plan.term));
    const double as_it_is = cost.cost(plan.choice).seconds;
    found.add("all_inside", fused.why.empty() ? fmt::format("{:+.1f} µs by the model",
                                                            (fused.seconds - as_it_is) * 1e6)
                                              : "no kernel can hold it: " + fused.why);
  }

  static std::string figures(const StoredValue& value) {
    if (value.because == StoredBecause::NoKernelHolds) return ": " + value.why;
    if (value.extra_seconds == 0) return {};
    return fmt::format(" ({:+.1f} µs)", value.extra_seconds * 1e6);
  }

  const Inspection& inspection_;
  const Graph& graph_;
  StepGraph steps_;
};

}  // namespace

Finding why_apart(Inspection& inspection, NodeId first, NodeId second) {
  if (inspection.plan() == nullptr) {
    throw UserError(
        fmt::format("the graph has no plan ({}); `luminal debug-ops GRAPH --analyze` "
                    "finds what is in the way",
                    inspection.error()));
  }
  return WhyApart(inspection).answer(first, second);
}

}  // namespace luminal::search
