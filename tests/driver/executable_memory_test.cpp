// Views of outputs, and outputs in the caller's memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "luminal/luminal.h"

namespace luminal {
namespace {

// y = 2x with x [n, 4].
struct Doubled {
  explicit Doubled(const std::string& backend = "cpu") {
    x = graph.input("x", {Expr::var("n", 0, 1 << 24), 4});
    y = (x * 2.0).output("y");
    exe.emplace(
        compile(graph, {.backend = {.name = backend}, .storage = {.cache_folder = "none"}}));
  }
  void run(int64_t rows, float value) {
    exe->set(x, std::vector<float>(static_cast<size_t>(rows) * 4, value));
    exe->run({{"n", rows}});
  }
  Graph graph;
  Tensor x, y;
  std::optional<Executable> exe;
};

class MemoryOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Backends, MemoryOn, testing::Values("cpu", "interp"));

TEST_P(MemoryOn, AViewShowsTheElementsWhereTheyAre) {
  Doubled of(GetParam());
  of.run(2, 3);
  const std::span<const float> view = of.exe->view<float>("y");
  EXPECT_EQ(view.size(), 8u);
  EXPECT_EQ(view[7], 6.0f);
  EXPECT_EQ(static_cast<const void*>(view.data()), of.exe->view_data(of.y).bytes.data());
  EXPECT_NE(static_cast<const void*>(view.data()), of.exe->get_data(of.y).bytes.data());
  of.run(2, 4);
  EXPECT_EQ(view[7], 8.0f) << "the next run writes to the same place";
}

TEST_P(MemoryOn, OutputsAreWrittenToAlignedMemoryOfTheCaller) {
  Doubled of(GetParam());
  alignas(64) std::array<float, 12> memory = {};
  memory.fill(-1);
  of.exe->bind_output(of.y, memory);
  of.run(2, 3);
  EXPECT_EQ(memory[7], 6.0f);
  EXPECT_EQ(memory[8], -1.0f) << "what a run doesn't need stays as it was";
  EXPECT_EQ(of.exe->view<float>(of.y).data(), memory.data()) << "without a copy";
  of.run(3, 5);
  EXPECT_EQ(memory[11], 10.0f);
}

TEST_P(MemoryOn, OutputsAreCopiedToOtherMemoryOfTheCaller) {
  Doubled of(GetParam());
  alignas(64) std::array<float, 14> memory = {};
  const std::span<float> inside = std::span(memory).subspan(1, 12);
  of.exe->bind_output("y", inside);
  of.run(3, 5);
  EXPECT_EQ(memory[0], 0.0f);
  EXPECT_EQ(memory[1], 10.0f);
  EXPECT_EQ(memory[12], 10.0f);
  EXPECT_EQ(memory[13], 0.0f);
  EXPECT_EQ(of.exe->get<float>("y"), std::vector<float>(12, 10.0f));
}

TEST(ExecutableMemory, OutputsOfAnyDtypeGoToBytesOfTheCaller) {
  Graph graph;
  Tensor y = (graph.input("x", {4}, DType::BF16) * 2.0).output("y");
  Executable exe = compile(graph, {.storage = {.cache_folder = "none"}});
  exe.set("x", std::vector<float>(4, 3.0f));
  alignas(64) std::array<uint16_t, 4> memory = {};
  exe.bind_output(y, DType::BF16, std::as_writable_bytes(std::span(memory)));
  exe.run();
  EXPECT_EQ(memory[3], 0x40c0) << "6 in bf16";
  EXPECT_THROW(exe.bind_output(y, DType::F16, std::as_writable_bytes(std::span(memory))),
               UserError);
}

TEST_P(MemoryOn, AnInputThatWasUnsetMustBeSetAgain) {
  Doubled of(GetParam());
  of.run(2, 3);
  of.exe->unset("x");
  EXPECT_THROW(of.exe->run({{"n", 2}}), UserError);
  EXPECT_THROW(of.exe->unset("y"), UserError);
  of.run(2, 4);
  EXPECT_EQ(of.exe->get<float>("y")[7], 8.0f);
}

TEST(ExecutableMemory, ALargeOutputGoesToAnyMemoryOfTheCaller) {
  const size_t count = 2 << 20;  // large enough to bypass the caches
  Graph graph;
  Tensor y = (graph.input("x", {count}) * 2.0).output("y");
  Executable exe = compile(graph, {.storage = {.cache_folder = "none"}});
  exe.set("x", std::vector<float>(count, 3.0f));
  alignas(64) static std::array<float, count + 16> memory = {};
  for (const size_t start : {0, 1, 16}) {
    memory.fill(0);
    exe.bind_output(y, memory.data() + start, count);
    exe.run();
    EXPECT_EQ(std::count(memory.begin(), memory.end(), 6.0f), static_cast<int64_t>(count));
    EXPECT_EQ(memory[start], 6.0f);
  }
}

TEST_P(MemoryOn, AnUnboundOutputAndAClonesOwnAreTheExecutables) {
  Doubled of(GetParam());
  alignas(64) std::array<float, 4> memory = {};
  of.exe->bind_output(of.y, memory.data(), memory.size());
  of.run(1, 1);
  Executable clone = of.exe->clone();
  clone.set("x", std::vector<float>(4, 5.0f));
  clone.run({{"n", 1}});
  EXPECT_EQ(clone.get<float>("y")[0], 10.0f);
  of.exe->unbind_output(of.y);
  EXPECT_THROW(of.exe->get<float>(of.y), UserError) << "its elements were the caller's";
  of.run(1, 7);
  EXPECT_EQ(of.exe->get<float>(of.y)[0], 14.0f);
  EXPECT_EQ(memory[0], 2.0f);
}

}  // namespace
}  // namespace luminal
