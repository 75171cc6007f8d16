#include "luminal/base/os/limits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace luminal::base {
namespace {

// cgroup v1 writes "no limit" as the largest multiple of a page, near 2^63.
constexpr uint64_t kUnlimitedMemory = uint64_t{1} << 60;

std::optional<std::string> read_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <typename T>
void lower(std::optional<T>& limit, std::optional<T> found) {
  if (found && (!limit || *found < *limit)) limit = found;
}

std::optional<double> quota(std::optional<int64_t> time, std::optional<int64_t> period) {
  if (!time || !period || *time <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*time) / static_cast<double>(*period);
}

std::optional<uint64_t> memory(std::optional<int64_t> bytes) {
  if (!bytes || *bytes < 0 || static_cast<uint64_t>(*bytes) >= kUnlimitedMemory) {
    return std::nullopt;
  }
  return static_cast<uint64_t>(*bytes);
}

// v2: one file "cpu.max" with "200000 100000" or "max 100000", one "memory.max".
void read_v2(const std::filesystem::path& folder, CgroupLimits& limits) {
  if (auto line = read_line(folder / "cpu.max")) {
    std::istringstream words(*line);
    std::string time, period;
    words >> time >> period;
    lower(limits.cpus, quota(parse_int(time), parse_int(period)));
  }
  if (auto line = read_line(folder / "memory.max")) lower(limits.memory, memory(parse_int(*line)));
}

void read_v1(const std::filesystem::path& folder, CgroupLimits& limits) {
  auto number = [&](const char* name) {
    auto line = read_line(folder / name);
    return line ? parse_int(*line) : std::nullopt;
  };
  lower(limits.cpus, quota(number("cpu.cfs_quota_us"), number("cpu.cfs_period_us")));
  lower(limits.memory, memory(number("memory.limit_in_bytes")));
}

// Calls `visit` on mount/path and on every folder above it up to the mount. Inside a container the
// path may name folders of the host that aren't there: visiting them finds no file and no limit.
template <typename Visit>
void for_each_group(const std::filesystem::path& mount, std::string_view path, Visit visit) {
  std::filesystem::path group = std::filesystem::path(path).relative_path();
  while (!group.empty()) {
    visit(mount / group);
    group = group.parent_path();
  }
  visit(mount);
}

bool has_controller(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

CgroupLimits read_cgroup_limits(const std::filesystem::path& mount, std::string_view self_cgroup) {
  CgroupLimits limits;
  std::istringstream lines{std::string(self_cgroup)};
  std::string line;
  while (std::getline(lines, line)) {  // "4:cpu,cpuacct:/path", or "0::/path" for version 2
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      // On a hybrid system, with version 1 mounted too, version 2 is mounted at "unified".
      const bool pure = std::filesystem::exists(mount / "cgroup.controllers");
      if (pure) limits.version = 2;
      for_each_group(pure ? mount : mount / "unified", path,
                     [&](const auto& folder) { read_v2(folder, limits); });
    } else if (has_controller(controllers, "cpu") || has_controller(controllers, "memory")) {
      if (limits.version == 0) limits.version = 1;
      for_each_group(mount / controllers, path,
                     [&](const auto& folder) { read_v1(folder, limits); });
    }
  }
  return limits;
}

CgroupLimits cgroup_limits() {
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream text;
  text << file.rdbuf();
  return read_cgroup_limits("/sys/fs/cgroup", text.str());
}

unsigned affinity_threads() {
  // A machine may have more cores than the fixed cpu_set_t holds: grow until the call succeeds.
  for (size_t cores = 1024; cores <= (size_t{1} << 20); cores *= 2) {
    cpu_set_t* set = CPU_ALLOC(cores);
    if (set == nullptr) break;
    const size_t size = CPU_ALLOC_SIZE(cores);
    CPU_ZERO_S(size, set);
    const bool known = sched_getaffinity(0, size, set) == 0;
    const int count = known ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return static_cast<unsigned>(count);
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<unsigned>(online) : 1u;
}

unsigned usable_threads(unsigned affinity, const CgroupLimits& limits) {
  double threads = std::max(affinity, 1u);
  if (limits.cpus) threads = std::min(threads, std::max(1.0, std::ceil(*limits.cpus)));
  return static_cast<unsigned>(threads);
}

unsigned usable_threads() { return usable_threads(affinity_threads(), cgroup_limits()); }

}  // namespace luminal::base
