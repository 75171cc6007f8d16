// The compile report as JSON.
#include "luminal/base/text/json_text.h"
#include "luminal/driver/report.h"

namespace luminal {
namespace {

using Layout = base::JsonText::Layout;

// A list of objects, one line each.
template <typename T, typename Write>
void objects(base::JsonText& json, const char* key, const std::vector<T>& items, Write write) {
  json.key(key);
  json.begin_array();
  for (const T& item : items) {
    json.begin_object(Layout::OnOneLine);
    write(item);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string CompileReport::json() const {
  base::JsonText json;
  json.begin_object();
  objects(json, "stages", stages, [&](const StageReport& stage) {
    json.field("name", stage.name);
    json.field("seconds", stage.seconds);
    json.field("summary", stage.summary);
  });
  json.field("egraph_nodes", egraph_nodes);
  json.field("egraph_classes", egraph_classes);
  objects(json, "rules", rules, [&](const RuleGrowth& rule) {
    json.field("rule", rule.rule);
    json.field("group", rule.group);
    json.field("class", rule.numeric_class);
    json.field("matches", rule.matches);
    json.field("new_nodes", rule.new_nodes);
    json.field("unions", rule.unions);
    json.field("seconds", rule.seconds);
  });
  json.field("search_bits", search_bits);
  json.field("search_candidates", search_candidates);
  json.field("search_kernels", search_kernels);
  json.field("model_us", model_us);
  json.field("target", target);
  json.field("machine", machine);
  json.field("graph", graph);
  objects(json, "searches", searches, [&](const SearchReport& search) {
    json.field("mode", search.mode);
    json.field("seconds", search.seconds);
    json.field("candidates", search.candidates);
    json.field("timed", search.timed);
    json.field("remembered", search.remembered);
    json.field("compared", search.compared);
    json.field("first_us", search.first_us);
    json.field("best_us", search.best_us);
    json.field("bound_us", search.bound_us);
    json.field("stopped", search.stopped);
    json.field("comparisons", search.comparisons);
  });
  objects(json, "plans", plans, [&](const PlanReport& plan) {
    json.field("variant", plan.variant);
    json.field("sizes", plan.sizes);
    json.field("first_kernel", plan.first_kernel);
    json.field("n_kernels", plan.n_kernels);
    json.field("model_us", plan.model_us);
  });
  objects(json, "kernels", kernels, [&](const KernelReport& kernel) {
    json.field("name", kernel.name);
    json.field("title", kernel.title);
    json.field("packs", kernel.packs);
    json.field("result", kernel.result);
    json.field("ops", kernel.ops);
    json.field("nodes", kernel.nodes);
    json.field("rules", kernel.rules);
    json.field("model_us", kernel.model_us);
    json.field("model_bytes", kernel.model_bytes);
    json.field("model_flops", kernel.model_flops);
    json.field("bytes_us", kernel.bytes_us);
    json.field("flops_us", kernel.flops_us);
    json.field("launch_us", kernel.launch_us);
    json.field("schedule", kernel.schedule);
    json.field("measured_us", kernel.measured_us);
    json.field("measured_low_us", kernel.measured_low_us);
    json.field("measured_high_us", kernel.measured_high_us);
    json.field("compile_ms", kernel.compile_ms);
    json.field("from_cache", kernel.from_cache);
    json.field("launch", kernel.launch);
    json.field("by_library", kernel.by_library);
    json.field("library", kernel.library);
    json.field("why_no_library", kernel.why_no_library);
    json.field("own_us", kernel.own_us);
    json.field("library_us", kernel.library_us);
    json.field("slow_paths", kernel.slow_paths);
    objects(json, "rivals", kernel.rivals, [&](const RivalReport& rival) {
      json.field("value", rival.value);
      json.field("extra_us", rival.extra_us);
      json.field("why", rival.why);
    });
    json.field("text", kernel.text);
  });
  objects(json, "stored", stored, [&](const StoredReport& value) {
    json.field("value", value.value);
    json.field("type", value.type);
    json.field("kernel", value.kernel);
    json.field("readers", value.readers);
    json.field("because", value.because);
    json.field("why", value.why);
    json.field("extra_us", value.extra_us);
  });
  objects(json, "fusion", fusion, [&](const FusionReport& decided) {
    json.field("variant", decided.variant);
    json.field("pattern", decided.pattern);
    json.field("places", decided.places);
    json.field("tokens", decided.tokens);
    json.field("hidden", decided.hidden);
    json.field("intermediate", decided.intermediate);
    json.field("dtype", decided.dtype);
    json.field("decision", decided.decision);
    json.field("source", decided.source);
    json.field("ratio", decided.ratio);
    json.field("low", decided.low);
    json.field("high", decided.high);
    json.field("rounds", decided.rounds);
    json.field("fused_kernels", decided.fused_kernels);
    json.field("unfused_kernels", decided.unfused_kernels);
    json.field("note", decided.note);
  });
  objects(json, "memory", memory, [&](const MemoryReport& use) {
    json.field("sizes", use.sizes);
    json.field("peak", use.peak);
    json.field("unshared", use.unshared);
    json.field("folded", use.folded);
    json.field("kept", use.kept);
  });
  json.field("notes", notes);
  json.end_object();
  return json.text() + "\n";
}

}  // namespace luminal
