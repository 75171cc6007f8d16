#include "apps/inspect/view/view_data.h"

#include <fmt/format.h>

#include "apps/inspect/view/plan_stages.h"
#include "apps/inspect/view/stages_data.h"
#include "luminal/driver/explain/explanation.h"
#include "luminal/driver/options/variants.h"
#include "luminal/driver/report/report_json.h"
#include "luminal/graph/verify.h"
#include "luminal/version.h"

namespace luminal::view {
namespace {

using Layout = base::JsonText::Layout;

void write_report(base::JsonText& json, const CompileReport& report) {
  json.key("stages");
  json.begin_array();
  for (const StageReport& stage : report.stages) {
    json.begin_object(Layout::OnOneLine);
    json.field("name", stage.name);
    json.field("ms", stage.seconds * 1e3);
    json.field("summary", stage.summary);
    json.end_object();
  }
  json.end_array();
  json.key("rules");
  json.begin_array();
  for (const RuleGrowth& rule : report.rules) {
    json.begin_object(Layout::OnOneLine);
    write_members(json, rule, &RuleGrowth::rule, &RuleGrowth::group, &RuleGrowth::numeric_class,
                  &RuleGrowth::origin, &RuleGrowth::matches, &RuleGrowth::new_nodes,
                  &RuleGrowth::unions);
    json.end_object();
  }
  json.end_array();
  write_members(json, report, &CompileReport::notes);
  json.key("memory");
  json.begin_array();
  for (const MemoryReport& memory : report.memory) {
    json.begin_object(Layout::OnOneLine);
    write_members(json, memory, &MemoryReport::sizes, &MemoryReport::peak, &MemoryReport::unshared,
                  &MemoryReport::folded);
    json.end_object();
  }
  json.end_array();
  write_members(json, report, &CompileReport::stored);
}

void write_graph(base::JsonText& json, const Graph& graph) {
  json.key("nodes");
  write_nodes(json, graph);
  json.key("outputs");
  json.begin_array();
  const auto add = [&](const std::string& name, NodeId node) {
    json.begin_object(Layout::OnOneLine);
    json.field("name", name);
    json.field("node", node.value);
    json.end_object();
  };
  for (const Output& output : graph.outputs()) {
    add(output.name.empty() ? "kept" : "output " + output.name, output.node);
  }
  for (const StateUpdate& update : graph.updates()) {
    add("state " + graph.describe(update.state), update.value);
  }
  json.end_array();
}

void write_trace(base::JsonText& json, const Compiled& compiled) {
  const Roofline& given = compiled.trace.roofline;
  const bool is_given = given.bytes_per_second > 0 && given.flops_per_second > 0;
  const bool wanted = !compiled.trace.events.empty();
  const Roofline roofline = is_given ? given : wanted ? measured_roofline() : Roofline{};
  json.key("trace");
  json.begin_object();
  json.field("bytes_per_second", roofline.bytes_per_second);
  json.field("flops_per_second", roofline.flops_per_second);
  json.key("plan_of_run");
  json.begin_array(Layout::OnOneLine);
  for (size_t plan : compiled.plan_of_run) json.value(plan);
  json.end_array();
  json.field("sizes_of_run", compiled.sizes_of_run);
  json.key("events");
  json.begin_array();
  for (const TraceEvent& event : compiled.trace.events) {
    json.begin_object(Layout::OnOneLine);
    json.field("kind", event.kind);
    json.field("name", event.name);
    json.field("run", event.run);
    json.field("start_us", event.start_us);
    json.field("us", event.us);
    json.field("threads", event.threads);
    json.field("bytes", event.bytes);
    json.field("flops", event.flops);
    json.field("reads", event.reads);
    json.field("writes", event.writes);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string view_data(const Compiled& compiled, const CodeOptions& code,
                      const std::function<void(const std::string&)>& progress) {
  const CompileReport& report = compiled.report;
  const Explanation explanation = explain(report, compiled.name);
  const std::shared_ptr<const Graph> snapshot = compiled.graph.clone();
  const Variants variants(variables(*snapshot), compiled.options.plan.variants);
  const std::vector<size_t> rotations = rotations_of(report);

  base::JsonText json;
  json.begin_object();
  json.field("name", explanation.name);
  json.field("version", LUMINAL_VERSION);
  json.field("target", explanation.target);
  write_report(json, report);
  write_graph(json, *snapshot);
  json.key("plans");
  json.begin_array();
  for (size_t v = 0; v < explanation.plans.size(); ++v) {
    if (progress) progress("rules on the graph once more");
    CompileOptions of_variant = compiled.options;
    of_variant.plan.typical_sizes = variants.sizes(v, compiled.options.plan.typical_sizes);
    const PlanStages stages(variants.narrowed(v, snapshot), of_variant, rotations[v]);
    json.begin_object();
    write_plan(json, report, explanation.plans[v], code, progress);
    write_stages(json, stages);
    json.end_object();
  }
  json.end_array();
  write_trace(json, compiled);
  json.end_object();
  return json.text() + "\n";
}

}  // namespace luminal::view
