#include "luminal/base/os/company.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace luminal::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWindow(500);
constexpr std::chrono::milliseconds kApart(50);  // minimum distance of stored samples

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

double own_seconds() {
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

double busy_seconds(std::string_view stat, const std::vector<int>& cpus, double ticks_per_second) {
  std::istringstream lines{std::string(stat)};
  std::string line;
  double ticks = 0;
  while (std::getline(lines, line)) {  // "cpu1 user nice system idle iowait irq softirq steal …"
    std::istringstream words(line);
    std::string name;
    words >> name;
    const bool wanted =
        std::ranges::any_of(cpus, [&](int cpu) { return name == "cpu" + std::to_string(cpu); });
    if (!wanted) continue;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft_irq = 0, steal = 0;
    words >> user >> nice >> system >> idle >> waiting >> irq >> soft_irq >> steal;
    ticks += user + nice + system + irq + soft_irq + steal;
  }
  return ticks / ticks_per_second;
}

Company::Company()
    : Company([cpus = allowed_cpus()]() -> std::optional<Moment> {
        std::ifstream file("/proc/stat");
        std::ostringstream text;
        text << file.rdbuf();
        const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
        if (!file || ticks <= 0) return std::nullopt;
        return Moment{Clock::now(), busy_seconds(text.str(), cpus, ticks) - own_seconds()};
      }) {}

Company::Company(Now now) : now_(std::move(now)) {
  if (const auto first = now_()) moments_.push_back(*first);
}

double Company::cores() {
  const std::optional<Moment> last = now_();
  if (!last || moments_.empty()) return 0;
  // The newest sample that is at least kWindow old, or else the oldest.
  while (moments_.size() > 1 && last->at - moments_[1].at >= kWindow) moments_.pop_front();
  const std::chrono::duration<double> taken = last->at - moments_.front().at;
  const double others = last->others - moments_.front().others;
  if (last->at - moments_.back().at >= kApart) moments_.push_back(*last);
  if (taken < kApart) return 0;
  return std::max(0.0, others / taken.count());
}

}  // namespace luminal::base
