// run() allocates nothing once an executable has run with the same sizes. Custom ops that bring no
// kernel are left out: the interpreter allocates.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "luminal/luminal.h"
#include "tests/support/counted_allocations.h"

namespace luminal {
namespace {

int64_t count_in_run(Executable& exe, const Bindings& bindings) {
  tests::start_counting_allocations();
  exe.run(bindings);
  return tests::stop_counting_allocations().count;
}

TEST(Allocations, AreCounted) {
  tests::start_counting_allocations();
  int* volatile one = new int(1);
  delete one;
  ::operator delete(::operator new(256, std::align_val_t{64}), std::align_val_t{64});
  void* volatile memory = std::calloc(3, 5);
  const tests::Allocations found = tests::stop_counting_allocations();
  std::free(memory);
  EXPECT_EQ(found.count, 3);
  EXPECT_EQ(found.bytes, static_cast<int64_t>(sizeof(int)) + 256 + 15);
}

class AllocationsInRun : public testing::TestWithParam<int> {
 protected:
  Executable compile_here(const Graph& graph, FusionPolicy fusion = FusionPolicy::Modelled) {
    return compile(graph, {.backend = {.threads = GetParam()},
                           .plan = {.fusion = fusion},
                           .storage = {.cache_folder = "none"}});
  }
};

TEST_P(AllocationsInRun, NoneInSoftmax) {
  Graph graph;
  Tensor x = graph.input("x", {512, 512});
  softmax(x, 1).output("y");
  for (FusionPolicy fusion : {FusionPolicy::Modelled, FusionPolicy::Never}) {
    Executable exe = compile_here(graph, fusion);
    exe.set(x, std::vector<float>(512 * 512, 1.0f));
    EXPECT_GT(count_in_run(exe, {}), 0) << "the first run makes room";
    EXPECT_EQ(count_in_run(exe, {}), 0);
    exe.set(x, std::vector<float>(512 * 512, 2.0f));
    EXPECT_EQ(count_in_run(exe, {}), 0) << "new values, the same sizes";
  }
}

TEST_P(AllocationsInRun, NoneInAnMlpWhoseSizeIsBoundAgain) {
  Graph graph;
  Expr s = Expr::var("s", 1, 64);
  Tensor x = graph.input("x", {s, 96});
  Tensor w = graph.weight("w", {96, 128}).set(std::vector<float>(96 * 128, 0.01f));
  Tensor v = graph.weight("v", {128, 32}).set(std::vector<float>(128 * 32, 0.02f));
  matmul(gelu(matmul(x, w)), v).output("y");
  Executable exe = compile_here(graph);
  for (int64_t size : {48, 7, 48}) {
    const Bindings bindings = {{"s", size}};
    exe.set(x, std::vector<float>(static_cast<size_t>(size) * 96, 1.0f));
    exe.run(bindings);
    EXPECT_EQ(count_in_run(exe, bindings), 0);
  }
}

TEST_P(AllocationsInRun, NoneInUpdatesOfStates) {
  Graph graph;
  Tensor x = graph.input("x", {64, 64});
  Tensor a = graph.state("a", {64, 64});
  Tensor b = graph.state("b", {64, 64});
  Tensor c = graph.state("c", {64, 64});
  graph.update(a, a * 0.5 + x);  // in place
  graph.update(b, c);            // a swap
  graph.update(c, b);
  (a + b).output("y");
  Executable exe = compile_here(graph);
  exe.set(x, std::vector<float>(64 * 64, 1.0f));
  exe.run();
  EXPECT_EQ(count_in_run(exe, {}), 0);
}

TEST_P(AllocationsInRun, NoneInAGather) {
  Graph graph;
  Tensor table = graph.weight("table", {100, 64}).set(std::vector<float>(6400, 0.5f));
  Tensor index = graph.input("index", {32}, DType::I64);
  (embedding(table, index) * 2.0).output("y");
  Executable exe = compile_here(graph);
  exe.set(index, std::vector<int64_t>(32, 7));
  exe.run();
  EXPECT_EQ(count_in_run(exe, {}), 0);
}

TEST_P(AllocationsInRun, NoneInTheKernelOfACustomOp) {
  Graph graph;
  const Expr s = Expr::var("s", 1, 64);
  Tensor x = graph.input("x", {s, 96});
  CustomOp twice{.name = "twice",
                 .shape_rule = [](const std::vector<TensorType>& types) { return types[0]; },
                 .compute = [](const std::vector<TensorData>&, TensorData::Writable&) {},
                 .kernel = CustomKernel{.run = [](const KernelCall& call) {
                   for (int64_t i = call.begin * 96; i < call.end * 96; ++i) {
                     call.result.as<float>()[i] = 2 * call.operands[0].as<float>()[i];
                   }
                 }}};
  Tensor y = (custom_op(twice, {x * 2.0}) + 1.0).output("y");
  Executable exe = compile_here(graph);
  for (int64_t size : {48, 7, 48}) {
    const Bindings bindings = {{"s", size}};
    exe.set(x, std::vector<float>(static_cast<size_t>(size) * 96, 1.0f));
    exe.run(bindings);
    EXPECT_EQ(count_in_run(exe, bindings), 0);
    EXPECT_EQ(exe.get<float>(y).back(), 5.0f);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, AllocationsInRun, testing::Values(1, 2));

}  // namespace
}  // namespace luminal
