// Attention computed in blocks of rows, or split over keys, with every buffer against an unmapped
// page: sizes around blocks, panels and tiles, lengths known and not, on each target of this
// machine.
#include <gtest/gtest.h>

#include "luminal/driver/plan/planning.h"
#include "luminal/graph/traverse.h"
#include "luminal/kernel/recognise/forms.h"
#include "luminal/luminal.h"
#include "tests/guard_pages/guarded_launch.h"

namespace luminal::tests {
namespace {

struct Sizes {
  Expr queries, keys;
  int64_t size, value_size;
};

void expect_no_escape(const Sizes& sizes, DType dtype, const AttentionOptions& options,
                      const std::vector<int64_t>& lengths) {
  SCOPED_TRACE(sizes.queries.text() + " queries, " + sizes.keys.text() + " keys of " +
               std::to_string(sizes.size) + " " + std::string(name(dtype)));
  Graph graph;
  Tensor q = graph.input("q", {2, sizes.queries, sizes.size}, dtype);
  Tensor k = graph.input("k", {2, sizes.keys, sizes.size}, dtype);
  Tensor v = graph.input("v", {2, sizes.keys, sizes.value_size}, dtype);
  scaled_dot_product_attention(q, k, v, options).output("y");
  CompileReport report;
  const auto planned = plan_graph(graph, roots(graph),
                                  {.backend = {.threads = 1},
                                   .plan = {.fusion = FusionPolicy::Always},
                                   .storage = {.cache_folder = "none"}},
                                  report);
  ASSERT_EQ(planned->plan.steps.size(), 1u);
  const auto& kernel = std::get<kernel::KernelStep>(planned->plan.steps[0]).lowered.kernel;
  GuardedMemory memory;
  RandomSource random(1);
  for (const backends::cpu::Target& target : backends::cpu::Target::here()) {
    backends::cpu::Jit jit({.target = target, .cache_folder = {}});
    const auto compiled = jit.compile(kernel);
    ASSERT_TRUE(compiled->schedule().row_blocks);
    for (int64_t length : lengths) {
      std::vector<int64_t> variables(kernel.variables.size(), length);
      const auto escape = escape_of(guarded_launch(*compiled, variables), memory, random,
                                    std::vector{GuardedSide::End, GuardedSide::Start});
      EXPECT_FALSE(escape) << target.name << " at " << length << ": the kernel " << *escape;
    }
  }
}

TEST(RowBlocksInGuardedMemory, KeepToTheirBuffers) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    expect_no_escape({33, 33, 17, 19}, dtype, {.causal = true}, {0});
    expect_no_escape({9, 70, 32, 16}, dtype, {}, {0});
  }
}

TEST(RowBlocksInGuardedMemory, KeepToThemWhateverTheLength) {
  const Expr s = Expr::var("s", 1, 100);
  for (DType dtype : {DType::F32, DType::BF16}) {
    expect_no_escape({s, s, 16, 16}, dtype, {.causal = true, .window = Expr(20)}, {1, 31, 65, 100});
  }
}

// Of keys and values that a mask hides from all rows there need be no memory: a cache may have room
// for far more than is in it.
TEST(RowBlocksInGuardedMemory, LeaveAloneWhatAMaskHides) {
  const Expr p = Expr::var("p", 0, 900);
  for (DType dtype : {DType::F32, DType::BF16}) {
    Graph graph;
    Tensor q = graph.input("q", {3, 40, 16}, dtype);
    Tensor k = graph.input("k", {1, 1000, 16}, dtype), v = graph.input("v", {1, 1000, 24}, dtype);
    scaled_dot_product_attention(q, k, v, {.causal = true, .past = p}).output("y");
    CompileReport report;
    const auto planned = plan_graph(graph, roots(graph),
                                    {.backend = {.threads = 1},
                                     .plan = {.fusion = FusionPolicy::Always},
                                     .storage = {.cache_folder = "none"}},
                                    report);
    ASSERT_EQ(planned->plan.steps.size(), 1u);
    const auto& kernel = std::get<kernel::KernelStep>(planned->plan.steps[0]).lowered.kernel;
    GuardedMemory memory;
    RandomSource random(1);
    for (const backends::cpu::Target& target : backends::cpu::Target::here()) {
      backends::cpu::Jit jit({.target = target, .cache_folder = {}});
      const auto compiled = jit.compile(kernel);
      ASSERT_TRUE(compiled->schedule().row_blocks);
      for (int64_t past : {0, 100}) {
        GuardedLaunch launch = guarded_launch(*compiled, std::vector<int64_t>{past});
        kernel::Kernel meant = kernel;
        for (kernel::Param& param : meant.params) {
          if (param.dims[1].is(1000)) param.dims[1] = past == 0 ? 64 : 192;
        }
        launch.kernel = &meant;
        const auto escape = escape_of(launch, memory, random, std::vector{GuardedSide::End});
        EXPECT_FALSE(escape) << target.name << " at " << past << ": the kernel " << *escape;
      }
    }
  }
}

TEST(SplitAttentionInGuardedMemory, KeepsToItsBuffers) {
  const Expr p = Expr::var("p", 0, 700);
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (int64_t size : {16, 20, 64}) {
      Graph graph;
      Tensor q = graph.input("q", {6, 1, size}, dtype);
      Tensor k = graph.input("k", {2, p + 1, size}, dtype);
      Tensor v = graph.input("v", {2, p + 1, size}, dtype);
      scaled_dot_product_attention(q, k, v, {.causal = true, .past = p}).output("y");
      CompileReport report;
      const auto planned = plan_graph(graph, roots(graph),
                                      {.backend = {.threads = 1},
                                       .plan = {.fusion = FusionPolicy::Always},
                                       .storage = {.cache_folder = "none"}},
                                      report);
      ASSERT_EQ(planned->plan.steps.size(), 1u);
      const auto split =
          kernel::forms_of(std::get<kernel::KernelStep>(planned->plan.steps[0]).lowered.kernel)
              .split;
      ASSERT_TRUE(split);
      GuardedMemory memory;
      RandomSource random(1);
      for (const backends::cpu::Target& target : backends::cpu::Target::here()) {
        backends::cpu::Jit jit({.target = target, .cache_folder = {}});
        for (const kernel::Kernel* half : {&split->ranges, &split->together}) {
          const auto compiled = jit.compile(*half);
          for (int64_t past : {0, 16, 255, 256, 258, 700}) {
            const auto escape =
                escape_of(guarded_launch(*compiled, std::vector<int64_t>{past}), memory, random,
                          std::vector{GuardedSide::End, GuardedSide::Start});
            EXPECT_FALSE(escape) << target.name << " at " << past << ": the kernel " << *escape;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace luminal::tests
