#include "luminal/base/os/process.h"

#include <gtest/gtest.h>

namespace luminal::base {
namespace {

TEST(OsProcess, GivesTheExitCode) {
  EXPECT_EQ(run_program("true", {}), 0);
  EXPECT_EQ(run_program("sh", {"-c", "exit 7"}), 7);
}

TEST(OsProcess, ArgumentsPassWithoutAShell) {
  EXPECT_EQ(run_program("test", {"a b; exit 3", "=", "a b; exit 3"}), 0);
}

TEST(OsProcess, AKilledProgramGivesTheSignal) {
  EXPECT_EQ(run_program("sh", {"-c", "kill -9 $$"}), 128 + 9);
}

TEST(OsProcess, AProgramThatIsNotThereIsNothing) {
  EXPECT_EQ(run_program("no-such-program-anywhere", {}), std::nullopt);
}

}  // namespace
}  // namespace luminal::base
