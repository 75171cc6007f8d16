#include "luminal/search/fusion/force_fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace luminal::search {
namespace {

using kernel::ClassId;

// Not valid for values that nothing needs.
ClassId class_of(const FusionForce& force, const RolledGraph* rolled,
                 const ExtractedTerms& extracted) {
  const NodeId node = rolled != nullptr ? rolled->places[force.node.index()].node : force.node;
  return node.valid() ? extracted.class_of[node.index()] : ClassId{};
}

}  // namespace

void force_fusion(const std::vector<FusionForce>& forces, const RolledGraph* rolled,
                  const ExtractedTerms& extracted, PlanRequest& request) {
  std::set<ClassId> apart, inside;
  for (const FusionForce& force : forces) {
    const ClassId id = class_of(force, rolled, extracted);
    if (id.valid()) (force.stored ? apart : inside).insert(id);
  }
  // Values of two patterns may be one class: storing it wins.
  std::erase_if(inside, [&](ClassId id) { return apart.contains(id); });
  request.apart.assign(apart.begin(), apart.end());
  request.inside.assign(inside.begin(), inside.end());
}

std::vector<std::string> notes_on_fusion(const Graph& graph, const std::vector<FusionForce>& forces,
                                         const RolledGraph* rolled, const ExtractedTerms& extracted,
                                         const FoundPlan& found) {
  std::vector<std::string> notes;
  std::set<ClassId> seen;
  for (const FusionForce& force : forces) {
    const ClassId id = class_of(force, rolled, extracted);
    if (!id.valid() || found.choice.cut[id.index()] == force.stored || !seen.insert(id).second)
      continue;
    const std::string value = graph.describe(force.node);
    if (force.stored) {
      notes.push_back(fmt::format(
          "{} was to be stored, but no kernel needs it: rules replaced it by other terms", value));
      continue;
    }
    const auto why = std::ranges::find(found.report.not_held, id, &NotHeld::value);
    notes.push_back(
        why != found.report.not_held.end()
            ? fmt::format("{} was to be fused, but no kernel can hold it: {}", value, why->why)
            : fmt::format("{} was to be fused, but must be in memory: an iteration of a rolled "
                          "loop passes it to the next, or it is a result",
                          value));
  }
  return notes;
}

}  // namespace luminal::search
