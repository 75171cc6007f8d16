// Kernels and plans as text: what is read is what was printed, and what is none is refused with its
// line.
#include "luminal/kernel/ir/kernel_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/base/errors.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/traverse.h"
#include "luminal/kernel/plan/plan_bytes.h"
#include "luminal/kernel/plan/plan_text.h"
#include "luminal/kernel/recognise/work.h"
#include "luminal/luminal.h"
#include "tests/support/random_graph.h"

namespace luminal::kernel {
namespace {

using testing::HasSubstr;

std::string bytes_of(const PlannedGraph& planned) {
  shape::ExprWriter writer;
  write_plan(writer, planned);
  return writer.bytes();
}

std::string bytes_of(const Kernel& kernel) {
  KernelStep step;
  step.lowered.kernel = kernel;
  PlannedGraph planned;
  planned.plan.steps.emplace_back(std::move(step));
  return bytes_of(planned);
}

void expect_round_trip(const Graph& graph, FusionPolicy fusion) {
  CompileReport report;
  const auto planned =
      plan_graph(graph, roots(graph), {.plan = {.fusion = fusion}}, report, Packing{});
  const std::string printed = text(*planned);
  const PlannedGraph again = parse_plan(printed);
  EXPECT_EQ(text(again), printed);
  EXPECT_EQ(bytes_of(again), bytes_of(*planned)) << printed;
  for (const auto& step : planned->plan.steps) {
    const auto* made = std::get_if<KernelStep>(&step);
    if (made == nullptr) continue;
    Kernel read = parse_kernel(text(made->lowered.kernel));
    finish(read);
    EXPECT_EQ(bytes_of(read), bytes_of(made->lowered.kernel)) << text(made->lowered.kernel);
  }
}

TEST(PlanText, ReadsWhatItPrints) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    tests::RandomSource random(seed);
    const tests::RandomGraph made = tests::random_graph(random);
    for (FusionPolicy fusion : {FusionPolicy::Modelled, FusionPolicy::Never}) {
      expect_round_trip(*made.graph, fusion);
    }
  }
}

constexpr const char* kSum = R"(kernel
var s 1 4096
param p0 in f32[s, 64]
param p1 out f32[s]
loop i0 s outer
loop i1 64
stage s0 f32 sum over i1
  %0 = load p0[i0, i1] : f32
  store p1[i0] %0
)";

std::string fault_of(std::string part, const std::string& other) {
  std::string text = kSum;
  text.replace(text.find(part), part.size(), other);
  try {
    parse_kernel(text, "sum");
  } catch (const UserError& error) {
    return error.what();
  }
  return "it was read";
}

TEST(KernelText, NamesTheLineOfWhatItCantRead) {
  EXPECT_EQ(text(parse_kernel(kSum)), kSum);
  EXPECT_EQ(fault_of("kernel", "kernels"), "sum:1: nothing may follow here, but there is 's'");
  EXPECT_THAT(fault_of("var s 1 4096", "var s 9 1"),
              HasSubstr("sum:2: variable 's' has no values"));
  EXPECT_THAT(fault_of("f32[s, 64]", "g32[s, 64]"), HasSubstr("sum:3: 'g32' is not a dtype"));
  EXPECT_THAT(fault_of("p1 out", "p3 out"), HasSubstr("sum:4: there is no 'p3'"));
  EXPECT_THAT(fault_of("over i1", "over i2"), HasSubstr("sum:7: there is no 'i2'"));
  EXPECT_THAT(fault_of("load p0", "load p7"), HasSubstr("sum:8: there is no 'p7'"));
  EXPECT_THAT(fault_of("load p0[i0, i1]", "add %0"), HasSubstr("sum:8: there is no '%0'"));
  EXPECT_THAT(fault_of("load p0[i0, i1]", "hop %0"),
              HasSubstr("sum:8: 'hop' is not an instruction"));
  EXPECT_THAT(fault_of("store p1[i0] %0", "store p1[j0] %0"), HasSubstr("'j0'"));
  EXPECT_THAT(fault_of("store p1[i0] %0\n", "store p1[i0] %0\nend\n"),
              HasSubstr("sum:10: this is not a line of a kernel"));
}

TEST(PlanText, NamesTheLineOfWhatItCantRead) {
  const auto fault = [](const std::string& text) {
    try {
      parse_plan(text);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("it was read");
  };
  EXPECT_THAT(fault("plan 2\n"), HasSubstr("plan:1: this library reads version 1 of plans"));
  EXPECT_THAT(fault("plan 1\nhost 0\n"), HasSubstr("plan:2: there is no '0'"));
  EXPECT_THAT(fault("plan 1\nclass c0 : f32[]\nterm c0 hop c0\n"),
              HasSubstr("plan:3: 'hop' is not a term"));
  EXPECT_THAT(fault("plan 1\nsteps\n"),
              HasSubstr("plan:2: 'steps' doesn't start any line of a plan"));
}

}  // namespace
}  // namespace luminal::kernel
