// An explanation as JSON; docs/debugging.md lists the fields.
#include "luminal/base/text/json_text.h"
#include "luminal/driver/explain/explanation.h"
#include "luminal/driver/report/report_json.h"

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
    json.field("move", !alternative.other.empty() ? "term"
                       : alternative.stores       ? "store"
                                                  : "absorb");
    json.field("taken", alternative.taken);
    json.field("other", alternative.other);
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
    write_members(json, *value, &StoredReport::value, &StoredReport::readers,
                  &StoredReport::because);
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
  write_members(json, kernel, &KernelReport::result, &KernelReport::ops, &KernelReport::nodes,
                &KernelReport::rules);
  json.field("us", explained.time.us);
  json.field("source", source(explained.time));
  write_members(json, kernel, &KernelReport::model_us, &KernelReport::measured_us,
                &KernelReport::measured_low_us, &KernelReport::measured_high_us);
  json.field("share", explained.share);
  json.field("bytes", kernel.model_bytes);
  json.field("flops", kernel.model_flops);
  write_members(json, kernel, &KernelReport::bytes_us, &KernelReport::flops_us,
                &KernelReport::launch_us);
  json.field("bound_by", explained.bound_by);
  json.field("bound_us", explained.bound_us);
  json.field("roofline_share", explained.roofline_share);
  write_members(json, kernel, &KernelReport::launch, &KernelReport::slow_paths);
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
    write_members(json, *plan.plan, &PlanReport::variant, &PlanReport::sizes, &PlanReport::origin);
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
