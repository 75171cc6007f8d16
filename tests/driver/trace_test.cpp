// A trace has an event per step, with the work of each kernel, and changes nothing.
#include "luminal/driver/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/luminal.h"

namespace luminal {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Roofline kRoofline{.bytes_per_second = 1e9, .flops_per_second = 1e9};

std::vector<TraceEvent> of_kind(const Trace& trace, const std::string& kind) {
  std::vector<TraceEvent> events;
  for (const TraceEvent& event : trace.events) {
    if (event.kind == kind) events.push_back(event);
  }
  return events;
}

TEST(Trace, HasAnEventPerStepAndRun) {
  Graph graph;
  const Expr s = Expr::var("s", 1, 100);
  Tensor x = graph.input("x", {s, 8});
  Tensor y = softmax(x, -1);
  Tensor z = cumsum(y, -1);
  z.output("z");
  Executable executable = compile(graph, {.storage = {.cache_folder = "none"}});
  Trace trace{.events = {}, .roofline = kRoofline};
  for (int64_t size : {3, 5}) {
    executable.set(x, std::vector<float>(static_cast<size_t>(size) * 8, 0.5f));
    executable.run({{"s", size}}, {.trace = &trace});
  }
  EXPECT_EQ(of_kind(trace, "run").size(), 2u);
  EXPECT_EQ(of_kind(trace, "copy").size(), 2u);
  const std::vector<TraceEvent> kernels = of_kind(trace, "kernel");
  ASSERT_GE(kernels.size(), 2u);
  const TraceEvent& first = kernels.front();
  EXPECT_EQ(first.name, "kernel 0");
  EXPECT_EQ(first.run, 0);
  EXPECT_THAT(first.reads, ElementsAre("f32[3, 8]"));
  EXPECT_THAT(first.writes, ElementsAre("f32[3, 8]"));
  EXPECT_THAT(first.ops, Contains("exp2"));
  EXPECT_EQ(first.bytes, 2 * 3 * 8 * 4);
  EXPECT_GT(first.flops, 3 * 8 * 8);
  EXPECT_GT(first.us, 0);
  EXPECT_THAT(kernels.back().writes, ElementsAre("f32[5, 8]"));
  // Steps lie within their run, in order.
  const std::vector<TraceEvent> runs = of_kind(trace, "run");
  EXPECT_GE(first.start_us, runs[0].start_us);
  EXPECT_LE(first.start_us + first.us, runs[0].start_us + runs[0].us);
  EXPECT_GT(runs[1].start_us, runs[0].start_us + runs[0].us);
}

TEST(Trace, JsonHasRatesAndTheShareOfTheRoofline) {
  Trace trace{.events = {}, .roofline = kRoofline};
  trace.events.push_back(
      {.kind = "kernel", .name = "kernel 7", .us = 100, .bytes = 50e3, .flops = 1e3});
  const std::string json = trace.json();
  for (const char* part :
       {"\"traceEvents\"", "\"ph\": \"X\"", "\"name\": \"kernel 7\"", "\"dur\": 100.0",
        "\"GB/s\": 0.5", "\"GF/s\": 0.01", "\"bound\": \"memory\"", "\"bound_us\": 50.0",
        "\"roofline_share\": 0.5"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
}

TEST(Trace, AnInterpretedRunIsOneEvent) {
  Graph graph;
  Tensor x = graph.input("x", {4});
  (x + x).output("y");
  Executable executable = compile(graph, {.backend = {.name = "interp"}});
  executable.set(x, {1, 2, 3, 4});
  Trace trace;
  executable.run({.trace = &trace});
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].kind, "run");
}

TEST(Roofline, IsMeasuredOnce) {
  const Roofline& roofline = measured_roofline();
  EXPECT_GT(roofline.bytes_per_second, 1e8);
  EXPECT_GT(roofline.flops_per_second, 1e8);
  EXPECT_EQ(&roofline, &measured_roofline());
}

}  // namespace
}  // namespace luminal
