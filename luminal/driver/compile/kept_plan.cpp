#include "luminal/driver/compile/kept_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/kernel/plan/plan_bytes.h"
#include "luminal/kernel/plan/verify_plan.h"

namespace luminal {

std::string key_of(const PlanAsked& asked, bool explained, bool with_rivals, size_t first_kernel) {
  return plan_key({.place = asked.place,
                   .graph = asked.graph,
                   .roots = asked.roots,
                   .planning = asked.planning,
                   .packing = asked.packing,
                   .explained = explained,
                   .with_rivals = with_rivals,
                   .first_kernel = first_kernel});
}

std::string entry_of(std::string_view key, std::string_view report,
                     const kernel::PlannedGraph& planned) {
  shape::ExprWriter plan;
  kernel::write_plan(plan, planned);
  base::ByteWriter entry;
  entry.text(key);
  entry.text(report);
  entry.text(plan.bytes());
  return entry.bytes();
}

std::string entry_of(std::string_view key, const CompileReport& report, const ReportMark& mark,
                     const kernel::PlannedGraph& planned) {
  base::ByteWriter added;
  write_report(added, report, mark);
  return entry_of(key, added.bytes(), planned);
}

bool has_key(std::string_view entry, std::string_view key) {
  base::ByteReader in(entry);
  return in.text() == key;
}

KeptPlan read_entry(std::string_view entry, std::string_view key, const Graph& graph,
                    const std::vector<NodeId>& roots) {
  base::ByteReader in(entry);
  if (in.text() != key) throw base::ByteError("it has another key");
  const std::string_view report = in.text();
  shape::ExprReader plan(in.text());
  in.finish();
  auto planned = std::make_shared<kernel::PlannedGraph>(kernel::read_plan(plan));
  plan.in.finish();
  if (const std::string why = kernel::verify_plan(*planned, graph, roots); !why.empty()) {
    throw base::ByteError(why);
  }
  base::ByteReader report_in(report);
  CompileReport alone;
  read_report(report_in, alone);
  report_in.finish();
  if (static_cast<int>(alone.kernels.size()) != planned->plan.n_kernels()) {
    throw base::ByteError("its report lists another number of kernels");
  }
  return {.planned = std::move(planned), .report = report};
}

bool has_custom_ops(const Graph& graph) {
  for (uint32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(NodeId{id});
    if (!node.removed && node.op == Op::Custom) return true;
  }
  return false;
}

bool wants_stages(const InspectOptions& inspect) {
  constexpr std::string_view kStages[] = {"rolled", "terms", "saturated", "all"};
  return std::any_of(std::begin(kStages), std::end(kStages), [&](std::string_view stage) {
    return inspect.print_after == stage || inspect.stop_after == stage;
  });
}

void report_kept(const KeptPlan& kept, const std::string& from, double seconds,
                 const PlanAsked& asked) {
  CompileReport& report = asked.report;
  const kernel::Plan& plan = kept.planned->plan;
  size_t next = report.kernels.size();
  base::ByteReader in(kept.report);
  read_report(in, report);
  for (const auto& step : plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    if (asked.options.report != nullptr) {
      report.kernels[next].text = kernel::text(kernel->lowered.kernel);
    }
    ++next;
  }
  end_stage(asked.options.inspect, report, "plan", seconds,
            fmt::format("{}, from {}", plan_summary(*kept.planned), from),
            [&] { return plan_text(*kept.planned); });
}

}  // namespace luminal
