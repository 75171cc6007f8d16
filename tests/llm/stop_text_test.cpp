#include "luminal/llm/stop_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace luminal::llm {
namespace {

// What is shown of a text that comes in pieces of `size` bytes.
std::string shown(const std::string& text, size_t size, const std::vector<std::string>& stops,
                  std::string* found = nullptr) {
  StopText stop(stops);
  std::string all;
  for (size_t at = 0; at < text.size() && stop.found().empty(); at += size) {
    all += stop.add(text.substr(at, size));
  }
  if (found != nullptr) *found = stop.found();
  if (stop.found().empty()) all += stop.finish();
  return all;
}

TEST(StopText, EndsBeforeTheStringHoweverItIsDivided) {
  for (size_t size = 1; size < 12; ++size) {
    std::string found;
    EXPECT_EQ(shown("one two three", size, {"two"}, &found), "one ") << size;
    EXPECT_EQ(found, "two");
    EXPECT_EQ(shown("aaab", size, {"aab"}, &found), "a") << size;
    EXPECT_EQ(shown("one two", size, {"twofold", ""}, &found), "one two") << size;
    EXPECT_EQ(found, "");
  }
}

TEST(StopText, HoldsBackWhatMayBeABeginning) {
  StopText stop({"\nUser:", "###"});
  EXPECT_EQ(stop.add("Hello.\nUs"), "Hello.");
  EXPECT_EQ(stop.add("e"), "");
  EXPECT_EQ(stop.add("less"), "\nUseless");
  EXPECT_EQ(stop.add(" #"), " ");
  EXPECT_EQ(stop.finish(), "#");
}

TEST(StopText, OfSeveralTheFirstInTheTextCounts) {
  std::string found;
  EXPECT_EQ(shown("a b c", 5, {"c", "b"}, &found), "a ");
  EXPECT_EQ(found, "b");
}

TEST(StopText, NothingFollowsWhatWasFound) {
  StopText stop({"x"});
  EXPECT_EQ(stop.add("ax"), "a");
  EXPECT_EQ(stop.add("b"), "");
  EXPECT_EQ(stop.finish(), "");
}

}  // namespace
}  // namespace luminal::llm
