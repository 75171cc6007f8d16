#include "luminal/base/os/limits.h"

#include "luminal/base/os/process.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace luminal::base {
namespace {

namespace fs = std::filesystem;

// A made-up /sys/fs/cgroup.
class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    mount_ = fs::path(testing::TempDir()) /
             ("luminal_cgroup_" + std::to_string(process_id()) + test->name());
    fs::remove_all(mount_);
    fs::create_directories(mount_);
  }
  void TearDown() override { fs::remove_all(mount_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((mount_ / path).parent_path());
    std::ofstream(mount_ / path) << text << "\n";
  }

  fs::path mount_;
};

TEST_F(CgroupTest, NothingMountedIsNoLimit) {
  const CgroupLimits limits = read_cgroup_limits(mount_, "");
  EXPECT_EQ(limits.version, 0);
  EXPECT_FALSE(limits.cpus);
  EXPECT_FALSE(limits.memory);
}

TEST_F(CgroupTest, Version2TakesTheSmallestLimitOnTheWayUp) {
  write("cgroup.controllers", "cpu memory");
  write("a/cpu.max", "150000 100000");
  write("a/memory.max", "1048576");
  write("a/b/cpu.max", "400000 100000");
  write("a/b/memory.max", "max");
  const CgroupLimits limits = read_cgroup_limits(mount_, "0::/a/b\n");
  EXPECT_EQ(limits.version, 2);
  EXPECT_DOUBLE_EQ(limits.cpus.value(), 1.5);
  EXPECT_EQ(limits.memory.value(), 1048576u);
}

TEST_F(CgroupTest, Version2MaxIsNoLimit) {
  write("cgroup.controllers", "cpu memory");
  write("cpu.max", "max 100000");
  write("memory.max", "max");
  const CgroupLimits limits = read_cgroup_limits(mount_, "0::/\n");
  EXPECT_FALSE(limits.cpus);
  EXPECT_FALSE(limits.memory);
}

TEST_F(CgroupTest, Version1ReadsQuotaAndMemoryFromTheirControllers) {
  write("cpu,cpuacct/g/cpu.cfs_quota_us", "50000");
  write("cpu,cpuacct/g/cpu.cfs_period_us", "100000");
  write("memory/g/memory.limit_in_bytes", "2097152");
  const CgroupLimits limits =
      read_cgroup_limits(mount_, "7:pids:/g\n4:memory:/g\n3:cpu,cpuacct:/g\n0::/\n");
  EXPECT_EQ(limits.version, 1);
  EXPECT_DOUBLE_EQ(limits.cpus.value(), 0.5);
  EXPECT_EQ(limits.memory.value(), 2097152u);
}

TEST_F(CgroupTest, Version1UnlimitedValuesAreNoLimit) {
  write("cpu/cpu.cfs_quota_us", "-1");
  write("cpu/cpu.cfs_period_us", "100000");
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  const CgroupLimits limits = read_cgroup_limits(mount_, "4:memory:/\n1:cpu:/\n");
  EXPECT_FALSE(limits.cpus);
  EXPECT_FALSE(limits.memory);
}

TEST_F(CgroupTest, APathOfTheHostFallsBackToTheMountedRoot) {
  write("cgroup.controllers", "cpu");
  write("cpu.max", "200000 100000");
  EXPECT_DOUBLE_EQ(read_cgroup_limits(mount_, "0::/docker/abc\n").cpus.value(), 2.0);
}

TEST_F(CgroupTest, GarbageIsNoLimit) {
  write("cgroup.controllers", "");
  write("cpu.max", "lots");
  write("memory.max", "-5");
  const CgroupLimits limits = read_cgroup_limits(mount_, "nonsense\n0:/\n0::/\n");
  EXPECT_FALSE(limits.cpus);
  EXPECT_FALSE(limits.memory);
}

TEST(OsLimits, UsableThreadsIsTheLesserOfAffinityAndQuota) {
  EXPECT_EQ(usable_threads(8, {}), 8u);
  EXPECT_EQ(usable_threads(8, {.version = 2, .cpus = 1.5, .memory = {}}), 2u);
  EXPECT_EQ(usable_threads(8, {.version = 2, .cpus = 0.1, .memory = {}}), 1u);
  EXPECT_EQ(usable_threads(2, {.version = 2, .cpus = 64.0, .memory = {}}), 2u);
  EXPECT_EQ(usable_threads(0, {}), 1u);
}

TEST(OsLimits, ThisProcessHasAtLeastOneThread) {
  EXPECT_GE(usable_threads(), 1u);
  EXPECT_LE(usable_threads(), affinity_threads());
  EXPECT_LE(affinity_threads(), std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace luminal::base
