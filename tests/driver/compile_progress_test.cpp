#include <gtest/gtest.h>

#include <vector>

#include "luminal/driver/compile.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/softmax.h"

namespace luminal {
namespace {

TEST(CompileProgress, CountsPlansThenKernels) {
  Graph graph;
  Tensor x = graph.input("x", {32, 32});
  matmul(softmax(matmul(x, x), 1), x + 1.0).output("y");
  CompileReport report;
  int plans = 0;
  std::vector<int> kernels;
  compile(graph, {.plan = {.fusion = FusionPolicy::Modelled},
                  .storage = {.cache_folder = "none"},
                  .report = &report,
                  .progress = [&](const CompileProgress& now) {
                    if (now.stage == "plan") {
                      EXPECT_TRUE(kernels.empty());
                      EXPECT_GT(now.done, plans);
                      plans = now.done;
                    } else {
                      EXPECT_EQ(now.stage, "kernels");
                      EXPECT_EQ(now.total, static_cast<int>(report.kernels.size()));
                      kernels.push_back(now.done);
                    }
                  }});
  EXPECT_EQ(plans, report.search_candidates);
  ASSERT_EQ(kernels.size(), report.kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) EXPECT_EQ(kernels[i], static_cast<int>(i) + 1);
}

}  // namespace
}  // namespace luminal
