// What an executable does with memory: sharing, states in place, folding, limits, variants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "luminal/base/os/memory.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CompileOptions reported(CompileReport& report, FusionPolicy fusion = FusionPolicy::Never) {
  return {.plan = {.fusion = fusion}, .storage = {.cache_folder = "none"}, .report = &report};
}

std::vector<float> counting(size_t count, float step = 0.25f) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = step * static_cast<float>(i % 37) - 2.0f;
  return values;
}

TEST(Memory, AChainOfElementwiseKernelsTakesOneBuffer) {
  Graph graph;
  Tensor x = graph.input("x", {1000});
  Tensor y = x;
  for (int i = 0; i < 6; ++i) y = sin(y) + 1.0;
  y.output("y");
  CompileReport report;
  Executable exe = compile(graph, reported(report));
  ASSERT_EQ(report.memory.size(), 1u);
  EXPECT_GE(report.kernels.size(), 6u);
  EXPECT_GT(report.memory[0].unshared, 5 * 4000u);
  // One buffer and, in each step, the spare bytes of a kernel.
  EXPECT_LT(report.memory[0].peak, 2 * 4000u);
  EXPECT_THAT(report.text(), HasSubstr("bytes of working memory"));
  exe.set(x, counting(1000));
  exe.run();
  Executable judge = compile(graph, {.backend = {.name = "interp"}});
  judge.set(x, counting(1000));
  judge.run();
  const auto ours = exe.get<float>(y), theirs = judge.get<float>(y);
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-5);
}

TEST(Memory, SoftmaxStepByStepIsTheSameAsFused) {
  Graph graph;
  Expr s = Expr::var("s", 1, 64);
  Tensor x = graph.input("x", {s, 40});
  Tensor z = softmax(softmax(x * 3.0, 1) * 5.0, 1).output("z");
  CompileReport report;
  Executable apart = compile(graph, reported(report));
  Executable fused = compile(
      graph, {.plan = {.fusion = FusionPolicy::Always}, .storage = {.cache_folder = "none"}});
  for (int64_t size : {9, 1, 33, 9}) {
    for (Executable* exe : {&apart, &fused}) {
      exe->set(x, counting(static_cast<size_t>(size) * 40));
      exe->run({{"s", size}});
    }
    const auto a = apart.get<float>(z), b = fused.get<float>(z);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
  }
}

TEST(Memory, InPlaceGivesTheSameBitsOnOneAndTwoThreads) {
  Graph graph;
  Tensor x = graph.input("x", {700, 300});
  Tensor total = graph.state("total", {700, 300});
  Tensor y = softmax(softmax(sin(x) * 3.0, 1) + total, 1);
  graph.update(total, total * 0.5 + y);
  for (FusionPolicy fusion : {FusionPolicy::Never, FusionPolicy::Always}) {
    std::vector<std::vector<float>> found;
    for (int threads : {1, 2}) {
      Executable exe = compile(graph, {.backend = {.threads = threads},
                                       .plan = {.fusion = fusion},
                                       .storage = {.cache_folder = "none"}});
      exe.set(x, counting(700 * 300));
      for (int run = 0; run < 3; ++run) exe.run();
      found.push_back(exe.get<float>(total));
    }
    EXPECT_EQ(found[0], found[1]);
  }
}

TEST(Memory, AStateIsUpdatedInPlaceWhenItsReadersComeFirst) {
  Graph graph;
  Tensor x = graph.input("x", {3});
  Tensor total = graph.state("total", {3});
  Tensor next = total + x;
  graph.update(total, next);
  Tensor old = (total * 10.0).output("old");  // must see the old value
  Tensor seen = (next * 100.0).output("new");
  for (FusionPolicy fusion : {FusionPolicy::Never, FusionPolicy::Always, FusionPolicy::Modelled}) {
    CompileReport report;
    Executable exe = compile(graph, reported(report, fusion));
    exe.set(x, {1.0f, 2.0f, 3.0f});
    exe.run();
    exe.run();
    EXPECT_THAT(exe.get<float>(old), ElementsAre(10, 20, 30));
    EXPECT_THAT(exe.get<float>(seen), ElementsAre(200, 400, 600));
    EXPECT_THAT(exe.get<float>(total), ElementsAre(2, 4, 6));
  }
}

TEST(Memory, AnUpdateInPlaceTakesNoMemoryOfItsOwn) {
  constexpr size_t kBytes = 4 << 20;
  Graph graph;
  Tensor x = graph.input("x", {1 << 20});
  Tensor total = graph.state("total", {1 << 20});
  graph.update(total, total * 0.5 + x);
  CompileReport in_place;
  compile(graph, reported(in_place, FusionPolicy::Always));
  EXPECT_LT(in_place.memory[0].peak, kBytes / 16);
  Tensor other = graph.state("other", {1 << 20});
  graph.update(other, other.flip({0}) + x);  // reads elsewhere than it writes
  CompileReport copied;
  compile(graph, reported(copied, FusionPolicy::Always));
  EXPECT_GE(copied.memory[0].peak, kBytes);
  EXPECT_LT(copied.memory[0].peak, 2 * kBytes);
}

TEST(Memory, AStateReadElsewhereThanWrittenIsNotOverwrittenEarly) {
  Graph graph;
  Tensor x = graph.state("x", {4});
  graph.update(x, x.flip({0}) + 1.0);
  Executable exe = compile(graph, {.storage = {.cache_folder = "none"}});
  exe.set(x, {1.0f, 2.0f, 3.0f, 4.0f});
  exe.run();
  EXPECT_THAT(exe.get<float>(x), ElementsAre(5, 4, 3, 2));
  exe.run();
  EXPECT_THAT(exe.get<float>(x), ElementsAre(3, 4, 5, 6));
}

TEST(Memory, StatesThatReadEachOther) {
  // Each new value needs both old ones, so at most one of them may be written early.
  Graph graph;
  Tensor a = graph.state("a", {2});
  Tensor b = graph.state("b", {2});
  Tensor new_a = a + b;
  graph.update(a, new_a);
  graph.update(b, (a - b) * 1.0);
  for (FusionPolicy fusion : {FusionPolicy::Never, FusionPolicy::Always}) {
    Executable exe =
        compile(graph, {.plan = {.fusion = fusion}, .storage = {.cache_folder = "none"}});
    exe.set(a, {5.0f, 7.0f});
    exe.set(b, {1.0f, 2.0f});
    exe.run();
    EXPECT_THAT(exe.get<float>(a), ElementsAre(6, 9));
    EXPECT_THAT(exe.get<float>(b), ElementsAre(4, 5));
  }
}

TEST(Memory, ThreeStatesRotateAndOneIsAlsoAnOutput) {
  Graph graph;
  Tensor a = graph.state("a", {1}), b = graph.state("b", {1}), c = graph.state("c", {1});
  graph.update(a, b);
  graph.update(b, c);
  graph.update(c, a);
  a.output("seen");
  Executable exe = compile(graph, {.storage = {.cache_folder = "none"}});
  exe.set(a, {1.0f});
  exe.set(b, {2.0f});
  exe.set(c, {3.0f});
  exe.run();
  EXPECT_THAT(exe.get<float>(a), ElementsAre(2));
  EXPECT_THAT(exe.get<float>(b), ElementsAre(3));
  EXPECT_THAT(exe.get<float>(c), ElementsAre(1));
}

TEST(Memory, ValuesOfWeightsAloneAreComputedOnceAndAgainAfterASet) {
  Graph graph;
  Tensor x = graph.input("x", {4});
  Tensor w = graph.weight("w", {4}).set({1.0f, 2.0f, 3.0f, 4.0f});
  Tensor y = ((w * 2.0 + 1.0) * x).output("y");
  CompileReport report;
  Executable exe = compile(graph, reported(report));
  EXPECT_EQ(report.memory[0].folded, 16u) << "only w * 2 + 1 is kept, not w * 2";
  ASSERT_EQ(report.memory[0].kept.size(), 1u);
  EXPECT_THAT(report.memory[0].kept[0], HasSubstr("f32[4]"));
  exe.set(x, {1.0f, 1.0f, 1.0f, 1.0f});
  exe.run();
  EXPECT_THAT(exe.get<float>(y), ElementsAre(3, 5, 7, 9));
  std::ostringstream steps;
  exe.run({.debug = true, .out = &steps});
  EXPECT_THAT(steps.str(), HasSubstr("step 1/1")) << "the rest was done before";
  Executable copy = exe.clone();
  exe.set(w, {0.0f, 0.0f, 0.0f, 0.0f});
  exe.run();
  EXPECT_THAT(exe.get<float>(y), ElementsAre(1, 1, 1, 1));
  copy.set(x, {1.0f, 1.0f, 1.0f, 1.0f});
  copy.run();
  EXPECT_THAT(copy.get<float>(y), ElementsAre(3, 5, 7, 9)) << "a clone keeps its weights";
}

// All that is computed of w alone is folded; v is read in every run.
struct FoldedWeight : testing::Test {
  FoldedWeight() { exe.set(x, {1.0f, 1.0f}); }

  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor w = graph.weight("w", {2}).set({1.0f, 2.0f});
  Tensor v = graph.weight("v", {2}).set({3.0f, 4.0f});
  Tensor y = (sin(w) * 0.0 + w + x * v).output("y");
  CompileReport report;
  Executable exe = compile(graph, reported(report));
};

TEST_F(FoldedWeight, AllThatIsFoldedCanBeReleasedAtOnce) {
  exe.release_folded();  // nothing yet
  exe.run();
  EXPECT_THAT(exe.get<float>(w), ElementsAre(1, 2));
  exe.release_folded();
  exe.run();
  EXPECT_THAT(exe.get<float>(y), ElementsAre(4, 6));
  EXPECT_THAT(exe.get<float>(v), ElementsAre(3, 4));
  EXPECT_THROW(exe.get<float>(w), UserError);
}

TEST_F(FoldedWeight, AWeightWhoseValuesAreFoldedCanBeReleased) {
  EXPECT_THROW(exe.release(w), UserError) << "nothing is folded before the first run";
  exe.run();
  EXPECT_THROW(exe.release(v), UserError) << "each run multiplies by it";
  EXPECT_THROW(exe.release(x), UserError);
  exe.release(w);
  exe.run();
  EXPECT_THAT(exe.get<float>(y), ElementsAre(4, 6));
  EXPECT_THROW(exe.get<float>(w), UserError);
  exe.clone();
  exe.set(v, {5.0f, 5.0f});
  EXPECT_THROW(exe.run(), UserError) << "folding again takes all weights";
  exe.set(w, {1.0f, 2.0f});
  exe.run();
  EXPECT_THAT(exe.get<float>(y), ElementsAre(6, 7));
}

TEST(Memory, PagesOfAMappedWeightLeaveWithItsLastFold) {
  const std::string path = testing::TempDir() + "mapped_weight.bin";
  constexpr size_t kBytes = 64 << 20;
  std::ofstream(path, std::ios::binary) << std::string(kBytes, '\0');
  auto file = std::make_shared<const base::MappedFile>(path);
  constexpr int64_t kRows = kBytes / 4 / 1024;
  Graph graph;
  Tensor x = graph.input("x", {kRows});
  Tensor w = graph.weight("w", {kRows, 1024});
  Tensor y = (x + sum(w, 1).materialize()).output("y");
  Executable exe = compile(graph, {.storage = {.cache_folder = "none"}});
  exe.set(w,
          TensorData{
              .dtype = DType::F32, .dims = {kRows, 1024}, .bytes = file->bytes(), .owner = file});
  exe.set(x, std::vector<float>(kRows, 1.0f));
  const uint64_t before = base::resident_bytes();
  exe.run();
  EXPECT_LT(base::resident_bytes(), before + kBytes / 2);
  EXPECT_EQ(exe.get<float>(y), std::vector<float>(kRows, 1.0f));
  std::filesystem::remove(path);
}

TEST(Memory, ABroadcastOfAWeightIsNotFolded) {
  Graph graph;
  Tensor x = graph.input("x", {64, 8});
  Tensor w = graph.weight("w", {8}).set(std::vector<float>(8, 2.0f));
  ((w.unsqueeze(0).expand({64, 8}) * 2.0).keep() * x).output("y");
  Tensor large = (w.unsqueeze(0).expand({64, 8}) + 1.0);
  (sin(large) * x).output("z");
  CompileReport report;
  compile(graph, reported(report));
  for (const std::string& kept : report.memory[0].kept) {
    EXPECT_EQ(kept.find("[64, 8]"), std::string::npos) << kept;
  }
}

TEST(Memory, ALimitIsToldBeforeAnythingIsAllocated) {
  Graph graph;
  Expr s = Expr::var("s", 1, 1 << 20);
  Tensor x = graph.input("x", {s, 1024});
  sum(sin(x), 1).output("y");
  Executable exe = compile(graph, {.backend = {.memory_limit = 1 << 20},
                                   .plan = {.fusion = FusionPolicy::Never},
                                   .storage = {.cache_folder = "none"}});
  exe.set(x, std::vector<float>(4 * 1024, 1.0f));
  exe.run({{"s", 4}});
  try {
    exe.run({{"s", 1 << 20}});
    FAIL() << "4 GB within 1 MB";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is 1048576"));
    EXPECT_THAT(error.what(), HasSubstr("f32[1048576, 1024]"));
  }
  exe.run({{"s", 4}});  // still fine
  Graph fixed;
  exp(fixed.input("x", {1 << 20})).output("y");
  EXPECT_THROW(
      compile(fixed, {.backend = {.memory_limit = 1000}, .storage = {.cache_folder = "none"}}),
      UserError);
}

TEST(Memory, OutputsKeepTheirMemoryWhenSizesShrink) {
  Graph graph;
  Expr s = Expr::var("s", 1, 100);
  Tensor x = graph.input("x", {s});
  Tensor y = (x * 2.0).output("y");
  Executable exe = compile(graph, {.storage = {.cache_folder = "none"}});
  for (int64_t size : {100, 3, 50, 100}) {
    exe.set(x, std::vector<float>(static_cast<size_t>(size), 1.5f));
    exe.run({{"s", size}});
    EXPECT_EQ(exe.get<float>(y), std::vector<float>(static_cast<size_t>(size), 3.0f));
  }
}

}  // namespace
}  // namespace luminal
