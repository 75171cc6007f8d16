#include "luminal/base/os/paths.h"

#include "luminal/base/errors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace luminal::base {
namespace {

// Sets a variable for a scope; no value unsets it.
class WithVariable {
 public:
  WithVariable(const char* name, const char* value) : name_(name), before_(environment(name)) {
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~WithVariable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(OsPaths, CacheFolderFollowsXdg) {
  WithVariable xdg("XDG_CACHE_HOME", "/some/cache");
  EXPECT_EQ(cache_folder(), "/some/cache/luminal");
}

TEST(OsPaths, CacheFolderIsUnderHomeWithoutXdg) {
  WithVariable xdg("XDG_CACHE_HOME", nullptr);
  WithVariable home("HOME", "/home/someone");
  EXPECT_EQ(cache_folder(), "/home/someone/.cache/luminal");
}

TEST(OsPaths, ARelativeXdgPathIsIgnored) {
  WithVariable xdg("XDG_CACHE_HOME", "cache");
  WithVariable home("HOME", "/home/someone");
  EXPECT_EQ(cache_folder(), "/home/someone/.cache/luminal");
}

TEST(OsPaths, NoHomeIsAnErrorThatNamesTheWayOut) {
  WithVariable xdg("XDG_CACHE_HOME", nullptr);
  WithVariable home("HOME", "");
  try {
    cache_folder();
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("set XDG_CACHE_HOME"), std::string::npos);
  }
}

TEST(OsPaths, AFolderThatCanBeCreatedIsWritable) {
  EXPECT_TRUE(is_writable_folder(testing::TempDir()));
  EXPECT_TRUE(is_writable_folder(testing::TempDir() + "not/there/yet"));
  EXPECT_FALSE(is_writable_folder("/proc/luminal"));
  EXPECT_FALSE(is_writable_folder("/dev/null"));
  EXPECT_FALSE(is_writable_folder("/dev/null/below"));
}

TEST(OsPaths, AFolderIsPrivateUnlessOthersMayWrite) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("luminal_private_" + std::to_string(getpid()));
  EXPECT_EQ(why_not_private(folder), "") << "there is none yet";
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
  EXPECT_EQ(why_not_private(folder), "") << "others may read it";
  std::filesystem::permissions(folder, std::filesystem::perms(0770));
  EXPECT_NE(why_not_private(folder), "");
  std::filesystem::permissions(folder, std::filesystem::perms(0707));
  EXPECT_NE(why_not_private(folder), "");
  std::filesystem::remove(folder);
}

}  // namespace
}  // namespace luminal::base
