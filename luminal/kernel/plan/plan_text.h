// The text of a plan: everything that its bytes hold (plan_bytes.h), for people, tests and diffs.
//
//   plan 1
//   var s 1 4096
//   source 0 "x" %0 : f32[s, 64]
//   class c0 : f32[s, 64]
//   class c1 : f32[s, 64]
//   term c0 load 0
//   term c1 exp2 c0
//   node %1 c1
//   step modelled 1.2e-05 strategy loops schedule unroll 2, streams off
//   params 0/c0 -/c1
//   computes c1
//   kernel
//   …
//   host 0
#pragma once

#include <string>
#include <string_view>

#include "luminal/kernel/plan/planned_graph.h"

namespace luminal::kernel {

std::string text(const PlannedGraph& planned);
// UserError with line and way out. Whether it is a plan of some graph is verify_plan's question.
PlannedGraph parse_plan(std::string_view text, std::string_view source = "plan");

}  // namespace luminal::kernel
