#include "apps/inspect/view/plan_data.h"

#include <fmt/format.h>

#include <span>

#include "luminal/driver/report/report_json.h"

namespace luminal::view {
namespace {

using Layout = base::JsonText::Layout;

std::string shortened(std::string text, size_t most) {
  if (text.size() <= most) return text;
  const size_t end = text.rfind('\n', most);
  const size_t kept = end == std::string::npos ? most : end + 1;
  const size_t left = text.size() - kept;
  text.resize(kept);
  return text +
         fmt::format("… {} more bytes: `luminal compile --dump-kernels` has all of it\n", left);
}

void write_code(base::JsonText& json, const KernelReport& kernel, const CodeOptions& code) {
  json.field("text", shortened(kernel.text, 4 * code.most_bytes));
  if (!code.wanted) return;
  if (kernel.low_level) json.field("low_level", shortened(kernel.low_level(), code.most_bytes));
  if (kernel.assembly) json.field("assembly", shortened(kernel.assembly(), code.most_bytes));
}

void write_beat(base::JsonText& json, const ExplainedKernel& explained) {
  json.key("beat");
  json.begin_array(Layout::OnOneLine);
  for (const Alternative& rival : explained.beat) {
    json.begin_object(Layout::OnOneLine);
    json.field("value", rival.value);
    json.field("taken", rival.taken);
    json.field("other", rival.other);
    json.field("stores", rival.stores);
    json.field("readers", rival.readers);
    json.field("extra_us", rival.extra_us);
    json.field("why", rival.why);
    json.end_object();
  }
  json.end_array();
  json.key("must_store");
  json.begin_array(Layout::OnOneLine);
  for (const StoredReport* value : explained.must_store) {
    json.begin_object(Layout::OnOneLine);
    write_members(json, *value, &StoredReport::value, &StoredReport::readers,
                  &StoredReport::because);
    json.end_object();
  }
  json.end_array();
}

void write_kind(base::JsonText& json, const ExplainedKernel& explained, const CodeOptions& code) {
  const KernelReport& kernel = *explained.kernel;
  json.begin_object();
  json.field("name", kernel.name);
  json.field("title", explained.title);
  write_members(json, kernel, &KernelReport::result, &KernelReport::ops, &KernelReport::rules);
  json.field("us", explained.time.us);
  json.field("source", source(explained.time));
  json.field("share", explained.share);
  json.field("bytes", kernel.model_bytes);
  json.field("flops", kernel.model_flops);
  write_members(json, kernel, &KernelReport::bytes_us, &KernelReport::flops_us,
                &KernelReport::launch_us);
  json.field("bound_by", explained.bound_by);
  json.field("bound_us", explained.bound_us);
  json.field("roofline_share", explained.roofline_share);
  write_members(json, kernel, &KernelReport::slow_paths, &KernelReport::library,
                &KernelReport::by_library, &KernelReport::why_no_library, &KernelReport::compile_ms,
                &KernelReport::from_cache);
  write_beat(json, explained);
  write_code(json, kernel, code);
  json.end_object();
}

void write_kernels(base::JsonText& json, std::span<const KernelReport> kernels,
                   const std::map<std::string, size_t>& kind_of) {
  json.key("kernels");
  json.begin_array();
  for (const KernelReport& kernel : kernels) {
    if (kernel.packs) continue;
    json.begin_object(Layout::OnOneLine);
    json.field("name", kernel.name);
    json.field("title", kernel.title);
    json.field("kind", kind_of.at(kernel.name));
    write_members(json, kernel, &KernelReport::launch, &KernelReport::nodes);
    json.end_object();
  }
  json.end_array();
  json.key("packing");
  json.begin_array();
  for (const KernelReport& kernel : kernels) {
    if (kernel.packs) json.value(kernel.name);
  }
  json.end_array();
}

}  // namespace

void write_plan(base::JsonText& json, const CompileReport& report, const ExplainedPlan& plan,
                const CodeOptions& code, const std::function<void(const std::string&)>& progress) {
  write_members(json, *plan.plan, &PlanReport::variant, &PlanReport::sizes);
  json.field("us", plan.us);
  json.field("model_us", plan.plan->model_us);
  std::map<std::string, size_t> kind_of;
  json.key("kinds");
  json.begin_array();
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const ExplainedKernel& explained = plan.kernels[k];
    if (progress) progress(fmt::format("code of kernel {} of {}", k + 1, plan.kernels.size()));
    kind_of[explained.kernel->name] = k;
    for (const std::string& name : explained.alike) kind_of[name] = k;
    write_kind(json, explained, code);
  }
  json.end_array();
  write_kernels(json,
                std::span(report.kernels).subspan(plan.plan->first_kernel, plan.plan->n_kernels),
                kind_of);
}

}  // namespace luminal::view
