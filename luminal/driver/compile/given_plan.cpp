#include "luminal/driver/compile/given_plan.h"

#include <fmt/format.h>

#include <chrono>

#include "luminal/base/seconds_since.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/traverse.h"
#include "luminal/kernel/plan/plan_bytes.h"
#include "luminal/kernel/plan/verify_plan.h"

namespace luminal {

std::shared_ptr<const kernel::PlannedGraph> read_given_plan(const CompiledParts& given,
                                                            const Graph& graph,
                                                            const InspectOptions& inspect,
                                                            CompileReport& report) {
  const auto start = std::chrono::steady_clock::now();
  shape::ExprReader reader(given.plan);
  auto planned = std::make_shared<kernel::PlannedGraph>(kernel::read_plan(reader));
  reader.in.finish();
  if (const std::string why = kernel::verify_plan(*planned, graph, roots(graph)); !why.empty()) {
    throw base::ByteError(why);
  }
  for (int k = 0; k < planned->plan.n_kernels(); ++k) {
    KernelReport kernel;
    kernel.name = fmt::format("kernel {}", k);
    report.kernels.push_back(std::move(kernel));
  }
  end_stage(inspect, report, "plan", base::seconds_since(start),
            plan_summary(*planned) + ", as given", [&] { return plan_text(*planned); });
  return planned;
}

}  // namespace luminal
