#include "luminal/driver/report/kernel_facts.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "luminal/driver/report/kernel_titles.h"
#include "luminal/search/inspect/value_name.h"

namespace luminal {
namespace {

using kernel::ClassId;

// Of a kernel, those that a report has: the nearest say why it is as it is.
constexpr size_t kMostRivals = 3;
constexpr size_t kMostTerms = 6;  // other terms of what it computes

// Views, leaves, constants and index values are how kernels read, not what they compute.
bool is_computed(const Node& node) {
  return node.op != Op::View && node.op != Op::Input && node.op != Op::Constant &&
         node.op != Op::Iota;
}

// Other terms come first; of either kind, plans that aren't any come last.
bool nearer_rival(const search::AbsorbedValue* a, const search::AbsorbedValue* b) {
  const auto rank = [](const search::AbsorbedValue& value) {
    return std::make_tuple(!value.term, !value.why.empty(), value.extra_seconds, value.value,
                           value.term);
  };
  return rank(*a) < rank(*b);
}

}  // namespace

void add_kernel_facts(const Graph& graph, const kernel::PlannedGraph& planned,
                      const std::vector<search::AbsorbedValue>& absorbed, CompileReport& report) {
  std::map<ClassId, std::vector<NodeId>> nodes;
  for (uint32_t id = 0; id < planned.class_of.size(); ++id) {
    const ClassId value = planned.class_of[id];
    if (value.valid() && is_computed(graph.node(NodeId{id}))) nodes[value].push_back(NodeId{id});
  }
  std::map<ClassId, std::vector<const search::AbsorbedValue*>> rivals;  // by what a kernel stores
  for (const search::AbsorbedValue& value : absorbed) {
    for (ClassId kernel : value.kernels) rivals[kernel].push_back(&value);
  }
  const search::ValueNames names(graph, planned.class_of, planned.terms);
  const KernelTitles titles(graph, planned);
  size_t next = report.kernels.size() - static_cast<size_t>(planned.plan.n_kernels());
  for (kernel::StepId step : planned.plan.step_ids()) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&planned.plan.at(step));
    if (kernel == nullptr) continue;
    KernelReport& entry = report.kernels[next++];
    entry.title = titles.of(step);
    if (entry.packs) continue;
    std::vector<NodeId> computed;
    for (ClassId id : kernel->lowered.classes) {
      const auto found = nodes.find(id);
      if (found == nodes.end()) continue;
      computed.insert(computed.end(), found->second.begin(), found->second.end());
    }
    std::sort(computed.begin(), computed.end());
    for (NodeId id : computed) entry.nodes.push_back(graph.describe(id));
    auto& near = rivals[kernel::stored_by(kernel->lowered).front()];
    std::sort(near.begin(), near.end(), nearer_rival);
    const auto terms_end =
        std::ranges::find_if(near, [](const auto* value) { return !value->term.has_value(); });
    const auto n_terms =
        std::min<size_t>(static_cast<size_t>(terms_end - near.begin()), kMostTerms);
    near.erase(near.begin() + static_cast<ptrdiff_t>(n_terms), terms_end);
    if (near.size() > n_terms + kMostRivals) near.resize(n_terms + kMostRivals);
    for (const search::AbsorbedValue* value : near) {
      entry.rivals.push_back({.value = names.of(value->value),
                              .extra_us = value->extra_seconds * 1e6,
                              .why = value->why,
                              .taken = {},
                              .other = {}});
      if (!value->term) continue;
      const auto& terms = planned.terms.at(value->value).terms;
      entry.rivals.back().taken = names.of(terms[static_cast<size_t>(value->taken)]);
      entry.rivals.back().other = names.of(terms[static_cast<size_t>(*value->term)]);
    }
  }
}

}  // namespace luminal
