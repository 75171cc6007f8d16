#include "luminal/pytorch/pt2/source_lines.h"

#include <gtest/gtest.h>

namespace luminal::pytorch {
namespace {

TEST(SourceLines, TheInnermostLineOfTheUserIsFound) {
  EXPECT_EQ(
      user_line("  File \"/home/u/main.py\", line 3, in <module>\n    model(x)\n"
                "  File \"/home/u/model.py\", line 12, in forward\n    y = self.first(x)\n"
                "  File \"/usr/lib/python3/site-packages/torch/nn/linear.py\", line 9, in forward\n"
                "    return linear(x)\n"),
      "/home/u/model.py:12: y = self.first(x)");
  EXPECT_EQ(user_line("File \"torch/fx/passes/runtime_assert.py\", line 24, in insert\n"), "");
  EXPECT_EQ(user_line("File \"<eval_with_key>.73\", line 8, in forward\n"), "");
}

TEST(SourceLines, ALineWithoutItsTextIsItsPlace) {
  EXPECT_EQ(user_line("File \"a.py\", line 7, in f\nFile \"b.py\", line 8, in g"), "b.py:8");
  EXPECT_EQ(user_line("File \"a.py\", line 7"), "a.py:7");
}

TEST(SourceLines, AnythingElseIsNoLine) {
  for (const char* trace :
       {"", "\n\n", "File \"", "File \"a.py", "File \"a.py\"", "line 3", "File \"a.py\", line"}) {
    EXPECT_EQ(user_line(trace), "") << trace;
  }
}

TEST(SourceLines, TheModuleIsTheLastOfTheStack) {
  EXPECT_EQ(module_path("L['self'],,model.Model;L['self'].first,first,torch.nn.Linear"), "first");
  EXPECT_EQ(module_path("L['self'],,model.Model"), "");
  EXPECT_EQ(module_path("_empty_nn_module_stack,_empty_nn_module_stack,_empty"), "");
  for (const char* stack : {"", ";", ",", ";;,,;", "a,b"})
    EXPECT_EQ(module_path(stack), "") << stack;
}

}  // namespace
}  // namespace luminal::pytorch
