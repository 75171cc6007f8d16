// The stages of debug-ops. Each adds itself to the report; false stops at that stage.
#pragma once

#include "apps/inspect/debug/debug_report.h"
#include "apps/inspect/debug/subject.h"
#include "apps/inspect/debug/trial.h"

namespace luminal::debug {

// The graph as given: its verification, and the sizes of its dims.
bool look_at_graph(const Subject& subject, DebugReport& report);
// The data of leaves, and whether indices are in bounds.
bool look_at_data(const Subject& subject, DebugReport& report);
// The loops found, and what each marker stands for in each iteration.
bool look_at_rolled(const Subject& subject, DebugReport& report);
// The e-graph: rules that fired, and the facts about each class.
bool look_at_terms(const Subject& subject, DebugReport& report);
// The kernels in order, what they read, and why they were chosen.
bool look_at_plan(const Subject& subject, Trial& trial, DebugReport& report);
// What each kernel was compiled to.
bool look_at_code(const Subject& subject, Trial& trial, DebugReport& report);
// What each step computed, compared with its loops, the graph and other runs.
bool look_at_run(const Subject& subject, Trial& trial, DebugReport& report);

// Runs all stages up to and including `until`; empty: all.
void debug(const Subject& subject, const std::string& until, DebugReport& report,
           const std::function<void(const std::string& stage)>& progress = {});

}  // namespace luminal::debug
