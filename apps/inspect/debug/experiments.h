// Experiments: what makes a fault of a checked run go away names its cause.
#pragma once

#include "apps/inspect/debug/debug_report.h"
#include "apps/inspect/debug/trial.h"

namespace luminal::debug {

// Adds the cause of a kernel that computes something wrong: where, and which of the stages before
// it is to blame.
void blame_kernel(const Subject& subject, const Trial& trial, const StepFault& fault,
                  DebugStage& stage);

}  // namespace luminal::debug
