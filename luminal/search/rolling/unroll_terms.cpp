#include "luminal/search/rolling/unroll_terms.h"

#include <algorithm>

#include "luminal/base/check.h"

namespace luminal::search {

using kernel::ClassId;
using kernel::Term;

UnrolledTerms::UnrolledTerms(const Graph& graph, const std::vector<NodeId>& order,
                             const RolledGraph& rolled, const PlanLoops& loops,
                             const PlannedTerms& of_rolled)
    : graph_(graph), rolled_(rolled), loops_(loops), of_rolled_(of_rolled) {
  std::map<NodeId, const LoopMarker*> markers;
  for (const LoopMarker& marker : rolled.markers) markers.emplace(marker.leaf, &marker);
  std::map<NodeId, bool> host_steps;  // by rolled node that is a source
  for (const SourceTensor& source : of_rolled.sources) {
    const auto marker = markers.find(source.node);
    marker_of_source_.push_back(marker == markers.end() ? nullptr : marker->second);
    host_steps.emplace(source.node, source.host_step);
  }
  for (NodeId id : order) {
    const RolledPlace& place = rolled.places[id.index()];
    const auto rolled_source = host_steps.find(place.node);
    const bool on_host = rolled_source != host_steps.end() && rolled_source->second;
    if (graph.node(id).op != Op::Input && !on_host) continue;
    source_of_node_.emplace(id, sources.next());
    node_of_source_.emplace(std::make_pair(place.node, place.trip), id);
    sources.push_back({id, on_host});
    const Node& node = graph.node(id);
    extracted.graph.sources.push_back({node.dims, node.dtype, graph.describe(id)});
  }
}

const LoopMarker* UnrolledTerms::marker_of(ClassId id) const {
  for (const Term& term : of_rolled_.extracted.graph.at(id).terms) {
    const auto* load = std::get_if<kernel::LoadTerm>(&term);
    if (load == nullptr) continue;
    const LoopMarker* marker = marker_of_source_[load->source];
    if (marker != nullptr) return marker;
  }
  return nullptr;
}

ClassId UnrolledTerms::add(const kernel::TermClass& like, ClassId of, Trip trip) {
  const ClassId made{static_cast<uint32_t>(extracted.graph.classes.size())};
  extracted.graph.classes.push_back({like.dims, like.dtype, {}});
  extracted.rules.push_back(of.valid() ? of_rolled_.extracted.rules[of.index()]
                                       : std::vector<std::string>());
  chosen.push_back(of.valid() ? of_rolled_.chosen[of.index()] : 0);
  rolled_class.push_back(of);
  trip_of_.push_back(trip);
  return made;
}

ClassId UnrolledTerms::class_in(ClassId id, Trip trip) {
  const int loop = loops_.of(id);
  if (loop == 0) trip = {};
  LUMINAL_CHECK(loop == trip.loop, "a class of another loop");
  auto& known = known_[{trip.loop, trip.number}];
  const auto found = known.find(id.value);
  if (found != known.end()) return found->second;
  const LoopMarker* marker = marker_of(id);
  const ClassId made = marker != nullptr ? class_of(marker->stands_for[trip.number])
                                         : add(of_rolled_.extracted.graph.at(id), id, trip);
  known_[{trip.loop, trip.number}].emplace(id.value, made);
  return made;
}

ClassId UnrolledTerms::class_of(NodeId id) {
  const RolledPlace& place = rolled_.places[id.index()];
  const auto& classes = of_rolled_.extracted.class_of;
  if (place.node.valid() && classes[place.node.index()].valid()) {
    return class_in(classes[place.node.index()], {place.loop, place.trip});
  }
  return graph_.node(id).op == Op::Input ? leaf_class(id) : ClassId{};
}

// The class of a leaf that the rolled graph doesn't have.
ClassId UnrolledTerms::leaf_class(NodeId id) {
  const auto found = leaves_.find(id);
  if (found != leaves_.end()) return found->second;
  const Node& node = graph_.node(id);
  const ClassId made = add({node.dims, node.dtype, {}}, ClassId{}, {});
  extracted.graph.classes[made.index()].terms = {kernel::LoadTerm{source_of_node_.at(id)}};
  leaves_.emplace(id, made);
  return made;
}

kernel::SourceId UnrolledTerms::source_in(kernel::SourceId source, Trip trip) const {
  const NodeId node = of_rolled_.sources[source].node;
  const size_t number = rolled_.loop_of[node.index()] == 0 ? 0 : trip.number;
  return source_of_node_.at(node_of_source_.at({node, number}));
}

Term UnrolledTerms::term_in(const Term& term, Trip trip) {
  Term result = term;
  auto rename = [&](ClassId& id) { id = class_in(id, trip); };
  struct Rename {
    decltype(rename)& operand;
    UnrolledTerms& terms;
    Trip trip;
    void operator()(kernel::LoadTerm& t) { t.source = terms.source_in(t.source, trip); }
    void operator()(kernel::ConstTerm&) {}
    void operator()(kernel::IotaTerm&) {}
    void operator()(kernel::ReindexTerm& t) { operand(t.operand); }
    void operator()(kernel::ReduceTerm& t) { operand(t.operand); }
    void operator()(kernel::ScanTerm& t) { operand(t.operand); }
    void operator()(kernel::GatherTerm& t) {
      operand(t.data);
      operand(t.index);
    }
    void operator()(kernel::StoreAtTerm& t) {
      operand(t.dest);
      operand(t.index);
      operand(t.values);
    }
    void operator()(kernel::OpTerm& t) {
      for (ClassId& id : t.operands) operand(id);
    }
  };
  std::visit(Rename{rename, *this, trip}, result);
  return result;
}

void UnrolledTerms::finish() {
  for (; finished_ < rolled_class.size(); ++finished_) {
    const ClassId of = rolled_class[finished_];
    if (!of.valid()) continue;
    const Trip trip = trip_of_[finished_];
    std::vector<Term> terms;
    for (const Term& term : of_rolled_.extracted.graph.at(of).terms) {
      terms.push_back(term_in(term, trip));
    }
    extracted.graph.classes[finished_].terms = std::move(terms);
  }
}

// Call after finish(): a class's terms tell whether it is a source.
kernel::LoweredKernel UnrolledTerms::kernel_in(const kernel::LoweredKernel& lowered, Trip trip) {
  kernel::LoweredKernel result = lowered;
  for (kernel::ParamOrigin& origin : result.origins) {
    const bool was_source = origin.source.valid();
    origin.value = class_in(origin.value, trip);
    origin.source = {};
    if (!was_source) continue;
    for (const Term& term : extracted.graph.at(origin.value).terms) {
      const auto* load = std::get_if<kernel::LoadTerm>(&term);
      if (load == nullptr) continue;
      origin.source = load->source;
      break;
    }
  }
  for (ClassId& id : result.classes) id = class_in(id, trip);
  std::ranges::sort(result.classes);
  return result;
}

}  // namespace luminal::search
