// Measures what this machine does at most.
#pragma once

#include "luminal/machine/peaks.h"

namespace luminal::machine {

// With so many threads, and memory with one thread too. Takes about two seconds. Each figure is the
// best of many short rounds: other programs only ever take away.
Peaks measure_peaks(int threads);

// Of cores that other programs take while peaks are measured: beyond that they say little.
inline constexpr double kMostOthers = 0.2;

// Those measured before, else measured now, and kept for the next process where no other programs
// ran and there is a folder for it. Once per process, with as many threads as it may use.
const Peaks& measured_peaks();

}  // namespace luminal::machine
