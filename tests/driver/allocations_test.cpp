// run() allocates nothing once an executable has run with the same sizes. Custom ops that bring no
// kernel are left out: the interpreter allocates.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>
#include <span>
#include <string>

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

// As PyTorch's tensors are given: other memory in every call, by port, and states where they are.
TEST_P(AllocationsInRun, NoneInACallThatBindsItsMemory) {
  Graph graph;
  const Expr n = Expr::var("n", 1, 64);
  (graph.input("a", {n, 16}) + graph.input("b", {n, 16})).output("y");
  Tensor sum = graph.state("sum", {16});
  graph.update(sum, sum + 1.0);
  Executable exe = compile_here(graph);
  alignas(64) static std::array<float, 16 * 64> memory = {};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(memory));
  alignas(64) static std::array<float, 17 * 64> results = {};
  alignas(64) std::array<float, 16> state = {};
  const ExecutablePort a = exe.leaf_port("a"), b = exe.leaf_port("b"), y = exe.result_port("y"),
                       s = exe.leaf_port(sum);
  const auto call = [&](const Bindings& sizes, TensorData& given, size_t start) {
    exe.set(a, given);
    exe.set(b, given);
    exe.bind_output(y, DType::F32, std::as_writable_bytes(std::span(results).subspan(start)));
    exe.bind_state(s, DType::F32, std::as_writable_bytes(std::span(state)));
    exe.run(sizes);
    exe.unset(a);
    exe.unset(b);
    exe.unbind_output(y);
    exe.unbind_state(s);
  };
  for (int64_t size : {48, 7, 48}) {
    const Bindings sizes = {{"n", size}};
    TensorData given{.dtype = DType::F32,
                     .dims = {size, 16},
                     .bytes = bytes.first(static_cast<size_t>(size) * 64),
                     .owner = nullptr};
    for (size_t start : {0, 1, 16}) {
      call(sizes, given, start);
      if (start == 0) continue;  // of this size; then the first that isn't aligned
      call(sizes, given, start);
      tests::start_counting_allocations();
      call(sizes, given, start);
      EXPECT_EQ(tests::stop_counting_allocations().count, 0) << size << " at " << start;
    }
  }
  EXPECT_EQ(state[0], 21.0f);
}

TEST_P(AllocationsInRun, NoneWithHundredsOfWeights) {
  constexpr int64_t kLayers = 150, kWidth = 16;
  Graph graph;
  Tensor x = graph.input("x", {4, kWidth});
  Tensor y = x;
  for (int64_t i = 0; i < kLayers; ++i) {
    Tensor w = graph.weight("w" + std::to_string(i), {kWidth, kWidth});
    Tensor bias = graph.weight("b" + std::to_string(i), {kWidth});
    y = relu(matmul(y, w) + bias);
  }
  y.output("y");
  Executable exe = compile_here(graph);
  const std::vector<float> values(kWidth * kWidth, 0.01f);
  for (int64_t i = 0; i < kLayers; ++i) {
    exe.set("w" + std::to_string(i), values);
    exe.set("b" + std::to_string(i), values.data(), kWidth);
  }
  const ExecutablePort in = exe.leaf_port("x"), out = exe.result_port("y");
  alignas(64) static std::array<float, 4 * kWidth> given = {}, results = {};
  const TensorData data{.dtype = DType::F32,
                        .dims = {4, kWidth},
                        .bytes = std::as_bytes(std::span(given)),
                        .owner = nullptr};
  const auto call = [&] {
    exe.set(in, data);
    exe.bind_output(out, DType::F32, std::as_writable_bytes(std::span(results)));
    exe.run();
    exe.unbind_output(out);
    exe.unset(in);
  };
  call();
  tests::start_counting_allocations();
  call();
  EXPECT_EQ(tests::stop_counting_allocations().count, 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, AllocationsInRun, testing::Values(1, 2));

}  // namespace
}  // namespace luminal
