// Company: the load that other programs put on the cores that this process may run on. Timings
// taken under such load say little about the machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace luminal::base {

// Average number of cores that others used, steal time of the hypervisor included: 0 … the number
// of cores. Averaged over the last half second or more, since the kernel counts in ticks of 10 ms.
class Company {
 public:
  struct Moment {
    std::chrono::steady_clock::time_point at;
    double others = 0;  // CPU seconds that others used so far
  };
  using Now = std::function<std::optional<Moment>()>;

  Company();                  // reads /proc/stat
  explicit Company(Now now);  // `now` returns none if the load is unknown

  // 0 if the load is unknown.
  double cores();

 private:
  Now now_;
  std::deque<Moment> moments_;
};

// CPU seconds in which `cpus` were busy or stolen, from the text of /proc/stat.
double busy_seconds(std::string_view stat, const std::vector<int>& cpus, double ticks_per_second);

}  // namespace luminal::base
