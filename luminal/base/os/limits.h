// How much of the machine this process may use: affinity and cgroup limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace luminal::base {

// The limits that this process's control groups set; empty where nothing is limited.
struct CgroupLimits {
  int version = 0;                 // of cgroups: 1 or 2; 0 for none
  std::optional<double> cpus;      // processor time per second of wall clock
  std::optional<uint64_t> memory;  // bytes
};

// The limits of this process, read anew at each call: they can change while it runs.
CgroupLimits cgroup_limits();

// The same from a given mount point and a given text of /proc/self/cgroup. A group's limit binds
// the groups below it, so the smallest on the way up to the root counts.
CgroupLimits read_cgroup_limits(const std::filesystem::path& mount, std::string_view self_cgroup);

// Logical cores this process may be scheduled on; at least 1.
unsigned affinity_threads();

// Threads worth starting: the affinity, or the CPU quota rounded up where that is less.
unsigned usable_threads();
unsigned usable_threads(unsigned affinity, const CgroupLimits& limits);

}  // namespace luminal::base
