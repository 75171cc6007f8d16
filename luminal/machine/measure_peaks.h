// Measures what this machine does at most.
#pragma once

#include "luminal/machine/peaks.h"

namespace luminal::machine {

// With so many threads, and memory with one thread too. Takes about two seconds. Each figure is the
// best of many short rounds: other programs only ever take away.
Peaks measure_peaks(int threads);

// Those measured before, else measured now and kept for the next process where there is a folder
// for it. Once per process, with as many threads as it may use.
const Peaks& measured_peaks();

}  // namespace luminal::machine
