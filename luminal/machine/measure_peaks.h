// Measures this machine's peaks.
#pragma once

#include "luminal/machine/peaks.h"

namespace luminal::machine {

// Measures with `threads` threads, memory also with one. Takes about two seconds. Each figure is
// the best of many short rounds, since other programs can only make a round slower.
Peaks measure_peaks(int threads);

// Maximum load of other programs, in cores, at which measured peaks are still trusted.
inline constexpr double kMostOthers = 0.2;

// The cached peaks, else newly measured ones, which are cached if no other programs ran and there
// is a cache folder. Done once per process, with as many threads as it may use.
const Peaks& measured_peaks();

}  // namespace luminal::machine
