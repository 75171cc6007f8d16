// The machine that plans are made for: what it does at most, from a file, measured or assumed.
#pragma once

#include "luminal/driver/compile.h"
#include "luminal/machine/peaks.h"
#include "luminal/runtime/thread_speed.h"
#include "luminal/search/cost/cost_model.h"

namespace luminal {

// Those of CompileOptions::machine, else those kept in the user's cache folder, else the defaults;
// without a cache folder ("none") the defaults. But for given ones, limited to the instruction set
// of the target.
machine::Peaks machine_peaks(const CompileOptions& options);

// As reports have it: the figures, where they are from, and how to measure those that are assumed.
std::string machine_text(const machine::Peaks& peaks);

// For all threads of the machine, not the option's: the plan, and with it the order of every sum,
// is the same for any number of threads.
search::MachineModel machine_model(const machine::Peaks& peaks);

// For who decides how many threads a launch is worth.
runtime::ThreadSpeed thread_speed(const machine::Peaks& peaks);

}  // namespace luminal
