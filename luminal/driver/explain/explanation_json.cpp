// An explanation as JSON; docs/debugging.md lists the fields.
#include "luminal/base/text/json_text.h"
#include "luminal/driver/explain/explanation.h"

namespace luminal {
namespace {

using Layout = base::JsonText::Layout;

void write_library(base::JsonText& json, const KernelReport& kernel) {
  json.key("library");
  json.begin_object(Layout::OnOneLine);
  json.field("taken", kernel.by_library);
  json.field("routine", kernel.library);
  json.field("why_not", kernel.why_no_library);
  json.field("own_us", kernel.own_us);
  json.field("library_us", kernel.library_us);
  json.end_object();
}

void write_alternatives(base::JsonText& json, const ExplainedKernel& explained) {
  json.key("beat");
  json.begin_array();
  for (const Alternative& alternative : explained.beat) {
    json.begin_object(Layout::OnOneLine);
    json.field("value", alternative.value);
    json.field("move", alternative.stores ? "store" : "absorb");
    json.field("readers", alternative.readers);
    json.field("extra_us", alternative.extra_us);
    json.field("source", source({}));
    json.field("why", alternative.why);
    json.end_object();
  }
  json.end_array();
  json.key("must_store");
  json.begin_array();
  for (const StoredReport* value : explained.must_store) {
    json.begin_object(Layout::OnOneLine);
    json.field("value", value->value);
    json.field("readers", value->readers);
    json.field("because", value->because);
    json.end_object();
  }
  json.end_array();
}

void write_kernel(base::JsonText& json, const ExplainedKernel& explained) {
  const KernelReport& kernel = *explained.kernel;
  json.begin_object();
  json.field("name", kernel.name);
  json.field("title", explained.title);
  json.field("alike", explained.alike);
  json.field("result", kernel.result);
  json.field("ops", kernel.ops);
  json.field("nodes", kernel.nodes);
  json.field("rules", kernel.rules);
  json.field("us", explained.time.us);
  json.field("source", source(explained.time));
  json.field("model_us", kernel.model_us);
  json.field("measured_us", kernel.measured_us);
  json.field("measured_low_us", kernel.measured_low_us);
  json.field("measured_high_us", kernel.measured_high_us);
  json.field("share", explained.share);
  json.field("bytes", kernel.model_bytes);
  json.field("flops", kernel.model_flops);
  json.field("bytes_us", kernel.bytes_us);
  json.field("flops_us", kernel.flops_us);
  json.field("launch_us", kernel.launch_us);
  json.field("bound_by", explained.bound_by);
  json.field("bound_us", explained.bound_us);
  json.field("roofline_share", explained.roofline_share);
  json.field("launch", kernel.launch);
  json.field("slow_paths", kernel.slow_paths);
  write_library(json, kernel);
  write_alternatives(json, explained);
  json.field("text", kernel.text);
  json.end_object();
}

}  // namespace

std::string json(const Explanation& explanation) {
  base::JsonText json;
  json.begin_object();
  json.field("name", explanation.name);
  json.field("target", explanation.target);
  json.field("machine", explanation.machine);
  json.key("plans");
  json.begin_array();
  for (const ExplainedPlan& plan : explanation.plans) {
    json.begin_object();
    json.field("variant", plan.plan->variant);
    json.field("sizes", plan.plan->sizes);
    json.field("us", plan.us);
    json.field("model_us", plan.plan->model_us);
    json.field("n_kernels", plan.n_kernels);
    json.field("n_measured", plan.n_measured);
    json.field("n_packing", plan.n_packing);
    json.key("kernels");
    json.begin_array();
    for (const ExplainedKernel& kernel : plan.kernels) write_kernel(json, kernel);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.field("notes", explanation.notes);
  json.end_object();
  return json.text() + "\n";
}

}  // namespace luminal
