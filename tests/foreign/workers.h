// Work in processes of their own: what crashes or hangs ends one of them, is counted, and the rest
// goes on.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "luminal/graph/op.h"
#include "luminal/shape/dtype.h"

namespace luminal::tests::foreign {

// Plain counts: it lies in memory that processes share.
struct Tally {
  uint64_t judged = 0, checked = 0, elements = 0, unknown = 0;
  uint64_t wrong = 0, crashed = 0, false_alarms = 0, refused = 0;
  std::array<uint64_t, 64> ops = {}, dtypes = {};
};

// Does `work` for 0 … count - 1 in `jobs` processes (0: one per core). `on_crash` gets the number
// that a process died of, and how.
Tally run_in_processes(int jobs, uint64_t count, const std::function<void(uint64_t, Tally&)>& work,
                       const std::function<void(uint64_t, const std::string&)>& on_crash);

}  // namespace luminal::tests::foreign
