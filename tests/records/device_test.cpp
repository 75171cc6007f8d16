#include "luminal/records/device.h"

#include <gtest/gtest.h>

#include "luminal/base/os/cpu.h"
#include "tests/records/samples.h"

namespace luminal::records {
namespace {

TEST(Device, ItsNameTellsProcessorTargetAndThreadsApart) {
  const Device device = this_device("avx2", 2);
  EXPECT_EQ(device, this_device("avx2", 2));
  EXPECT_EQ(why_refused(device), "");
  EXPECT_NE(device.fingerprint, this_device("avx2", 1).fingerprint);
  EXPECT_NE(device.fingerprint, this_device("sse2", 2).fingerprint);
  EXPECT_TRUE(device.description.starts_with(base::cpu_info().name)) << device.description;
  EXPECT_TRUE(device.description.ends_with("target avx2; 2 threads")) << device.description;
  EXPECT_TRUE(this_device("", 1).description.ends_with("target best; 1 thread"));
}

TEST(Device, AnotherProcessorIsAnother) {
  EXPECT_TRUE(is_this_processor(this_device("avx2", 2)));
  EXPECT_TRUE(is_this_processor(this_device("sse2", 64)));
  EXPECT_FALSE(is_this_processor(device("an abacus; 2 threads")));
  EXPECT_FALSE(is_this_processor(Device{}));
}

}  // namespace
}  // namespace luminal::records
