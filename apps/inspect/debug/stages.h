// The stages that a subject is taken through. Each adds itself to the report; false ends the way.
#pragma once

#include "apps/inspect/debug/debug_report.h"
#include "apps/inspect/debug/subject.h"
#include "apps/inspect/debug/trial.h"

namespace luminal::debug {

// The graph as it was given: what it promises, and the sizes of its dims.
bool look_at_graph(const Subject& subject, DebugReport& report);
// What leaves hold, and whether indices point to rows that there are.
bool look_at_data(const Subject& subject, DebugReport& report);
// What repeats, and what stands for what in each trip.
bool look_at_rolled(const Subject& subject, DebugReport& report);
// The e-graph: rules that fired, and what is known of each class.
bool look_at_terms(const Subject& subject, DebugReport& report);
// The kernels in order, what they read, and why they are what they are.
bool look_at_plan(const Subject& subject, Trial& trial, DebugReport& report);
// What each kernel was compiled to.
bool look_at_code(const Subject& subject, Trial& trial, DebugReport& report);
// What each step computed, against its loops, the graph and other runs of itself.
bool look_at_run(const Subject& subject, Trial& trial, DebugReport& report);

// All of them, up to and with `until`; empty: to the end.
void debug(const Subject& subject, const std::string& until, DebugReport& report,
           const std::function<void(const std::string& stage)>& progress = {});

}  // namespace luminal::debug
