// Company: what other programs take of the cores that this process may run on. Times that were
// measured beside them say little about the machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

namespace luminal::base {

// Cores that others took on average, the hypervisor's other machines among them: 0 … the number of
// cores. Looked at over the last half second or more, since the kernel counts in hundredths.
class Company {
 public:
  Company();

  // 0 where the kernel doesn't say.
  double cores();

 private:
  struct Moment {
    std::chrono::steady_clock::time_point at;
    double others = 0;  // seconds
  };
  std::optional<Moment> now() const;

  std::vector<int> cpus_;  // that this process may run on
  std::deque<Moment> moments_;
};

// Seconds in which `cpus` were busy or taken away, by a text of /proc/stat.
double busy_seconds(std::string_view stat, const std::vector<int>& cpus, double ticks_per_second);

}  // namespace luminal::base
