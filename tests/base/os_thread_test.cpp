#include "luminal/base/os/thread.h"

#include "luminal/base/errors.h"
#include "luminal/base/os/limits.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

namespace luminal::base {
namespace {

// Uses about 1 KiB of stack per level.
uint64_t descend(int levels) {
  volatile char room[1024];
  room[0] = static_cast<char>(levels);
  if (levels == 0) return 0;
  return descend(levels - 1) + (room[0] == static_cast<char>(levels) ? 1 : 0);
}

TEST(OsThread, DeepRecursionFitsABigStack) {
  uint64_t depth = 0;
  run_with_stack(size_t{256} << 20, [&] { depth = descend(60'000); });
  EXPECT_EQ(depth, 60'000u);
}

TEST(OsThread, RunsOnAnotherThreadAndWaits) {
  std::thread::id inside;
  run_with_stack(0, [&] { inside = std::this_thread::get_id(); });
  EXPECT_NE(inside, std::this_thread::get_id());
  EXPECT_NE(inside, std::thread::id());
}

TEST(OsThread, RethrowsWhatTheFunctionThrew) {
  try {
    run_with_stack(1 << 20, [] { throw UserError("from inside"); });
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "from inside");
  }
}

TEST(OsThread, APinnedThreadStaysOnItsCore) {
  std::thread([] {
    ASSERT_TRUE(pin_to_core(0));
    const int core = current_core();
    EXPECT_TRUE(pin_to_core(5)) << "one core is left, whatever the position";
    EXPECT_EQ(current_core(), core);
    EXPECT_EQ(affinity_threads(), 1u);
  }).join();
}

TEST(OsThread, AnImpossibleStackIsTheMachinesError) {
  EXPECT_THROW(run_with_stack(size_t{1} << 60, [] {}), DeviceError);
}

}  // namespace
}  // namespace luminal::base
