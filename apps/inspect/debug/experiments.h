// Experiments: varies the options of a faulty run; what makes the fault disappear names its cause.
#pragma once

#include "apps/inspect/debug/debug_report.h"
#include "apps/inspect/debug/trial.h"

namespace luminal::debug {

// Adds the cause of a wrong kernel result: the location, and the stage that is to blame.
void blame_kernel(const Subject& subject, const Trial& trial, const StepFault& fault,
                  DebugStage& stage);

}  // namespace luminal::debug
