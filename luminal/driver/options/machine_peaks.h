// Peak rates of the machine that plans are made for: from a file, measured or assumed.
#pragma once

#include <limits>
#include <string>

#include "luminal/driver/storage_options.h"
#include "luminal/machine/peaks.h"
#include "luminal/runtime/thread_speed.h"
#include "luminal/search/cost/cost_model.h"

namespace luminal {

// From StorageOptions::machine, else from the user's cache folder, else defaults; without a cache
// folder ("none") the defaults. Unless given by the option, limited to the instruction set of the
// target, as BackendOptions name it.
machine::Peaks machine_peaks(const StorageOptions& storage, const std::string& target);

// For reports: the figures, their origin, and how to measure assumed ones.
std::string machine_text(const machine::Peaks& peaks);

// Which cache holds that many bytes from run to run.
search::DataIn data_in(const machine::Peaks& peaks, double working_set);

// For all threads of the machine, not the option's: the plan, and with it the order of every sum,
// is the same for any number of threads.
//
// `working_set`: bytes that each run reads and writes; a cache that holds them is read faster than
// memory.
search::MachineModel machine_model(const machine::Peaks& peaks,
                                   double working_set = std::numeric_limits<double>::infinity());

// The speed of a thread, to decide how many threads a launch is worth.
runtime::ThreadSpeed thread_speed(const machine::Peaks& peaks);

}  // namespace luminal
