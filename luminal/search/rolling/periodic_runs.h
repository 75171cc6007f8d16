// periodic_runs: where a sequence repeats itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace luminal::search {

// symbols[i] == symbols[i + period] wherever both lie in [start, start + length), and the run is as
// long as that allows.
struct PeriodicRun {
  size_t start, period, length;

  size_t trips() const { return length / period; }
  size_t saved() const { return (trips() - 1) * period; }  // symbols that repeat earlier ones
  friend bool operator==(const PeriodicRun&, const PeriodicRun&) = default;
};

// Runs of two trips or more, sorted by what they save, then by shorter period, then by start. Of a
// run with several periods (p, 2p, 3p) not all need be listed, but p is. Takes n log n.
std::vector<PeriodicRun> periodic_runs(std::span<const uint32_t> symbols);

}  // namespace luminal::search
