// A graph's nodes, how they were rolled, and the e-graph around them, as JSON for the page.
#pragma once

#include "apps/inspect/view/plan_stages.h"
#include "luminal/base/text/json_text.h"

namespace luminal::view {

// An array by node id: `op`, `title`, `type`, `inputs`; `name` and `role` for leaves, `label` if
// there is one. Removed nodes are null.
void write_nodes(base::JsonText& json, const Graph& graph);

// Fields of an object: `rolled` (a description; empty if nothing repeats), `nodes` of the planned
// graph, `loops` (by node, from 1; 0: outside) and `trips` (iterations by loop), `places` (by node
// of the graph: the planned node's id, or −1), `markers` (`leaf`, the `first` node of the graph and
// the planned nodes `of` those it stands for), `class_of` (by planned node, or −1) and `classes`
// (`id`, `type`, `rules` and `terms` with `text`, the `rule` behind each and the classes it
// `reads`).
void write_stages(base::JsonText& json, const PlanStages& stages);

}  // namespace luminal::view
