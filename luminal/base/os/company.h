// Company: what other programs take of the cores that this process may run on. Times that were
// measured beside them say little about the machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace luminal::base {

// Cores that others took on average, the hypervisor's other machines among them: 0 … the number of
// cores. Looked at over the last half second or more, since the kernel counts in hundredths.
class Company {
 public:
  struct Moment {
    std::chrono::steady_clock::time_point at;
    double others = 0;  // seconds that others took of the cores so far
  };
  using Now = std::function<std::optional<Moment>()>;

  Company();                  // by the kernel's counts
  explicit Company(Now now);  // none: it isn't known

  // 0 where the kernel doesn't say.
  double cores();

 private:
  Now now_;
  std::deque<Moment> moments_;
};

// Seconds in which `cpus` were busy or taken away, by a text of /proc/stat.
double busy_seconds(std::string_view stat, const std::vector<int>& cpus, double ticks_per_second);

}  // namespace luminal::base
