#include "luminal/driver/trace.h"

#include <algorithm>

#include "luminal/base/text/json_text.h"
#include "luminal/machine/measure_peaks.h"

namespace luminal {
namespace {

using Layout = base::JsonText::Layout;

// The row of the viewer that shows it: runs above the steps they consist of.
int lane(const TraceEvent& event) { return event.kind == "run" ? 0 : 1; }

void write_work(base::JsonText& json, const TraceEvent& event, const Roofline& roofline) {
  json.field("bytes", event.bytes);
  json.field("flops", event.flops);
  const double seconds = event.us * 1e-6;
  if (seconds <= 0) return;
  json.field("GB/s", event.bytes / seconds * 1e-9);
  json.field("GF/s", event.flops / seconds * 1e-9);
  const double memory = event.bytes / roofline.bytes_per_second;
  const double compute = event.flops / roofline.flops_per_second;
  json.field("bound", memory >= compute ? "memory" : "compute");
  json.field("bound_us", std::max(memory, compute) * 1e6);
  json.field("roofline_share", std::max(memory, compute) / seconds);
}

void write_event(base::JsonText& json, const TraceEvent& event, const Roofline& roofline) {
  json.begin_object(Layout::OnOneLine);
  json.field("name", event.title.empty() ? event.name : event.title);
  json.field("cat", event.kind);
  json.field("ph", "X");
  json.field("pid", 1);
  json.field("tid", lane(event));
  json.field("ts", event.start_us);
  json.field("dur", event.us);
  json.key("args");
  json.begin_object(Layout::OnOneLine);
  json.field("step", event.name);
  json.field("run", event.run);
  json.field("threads", event.threads);
  if (!event.ops.empty()) json.field("ops", event.ops);
  if (!event.rules.empty()) json.field("rules", event.rules);
  if (!event.library.empty()) json.field("library", event.library);
  if (!event.reads.empty()) json.field("reads", event.reads);
  if (!event.writes.empty()) json.field("writes", event.writes);
  if (event.kind == "kernel") write_work(json, event, roofline);
  json.end_object();
  json.end_object();
}

void name_lane(base::JsonText& json, int number, const char* name) {
  json.begin_object(Layout::OnOneLine);
  json.field("name", "thread_name");
  json.field("ph", "M");
  json.field("pid", 1);
  json.field("tid", number);
  json.key("args");
  json.begin_object(Layout::OnOneLine);
  json.field("name", name);
  json.end_object();
  json.end_object();
}

}  // namespace

const Roofline& measured_roofline() {
  static const Roofline measured = [] {
    const machine::Peaks& peaks = machine::measured_peaks();
    return Roofline{.bytes_per_second = peaks.read_bytes(peaks.threads),
                    .flops_per_second = peaks.elementwise};
  }();
  return measured;
}

std::string Trace::json() const {
  const bool given = roofline.bytes_per_second > 0 && roofline.flops_per_second > 0;
  const Roofline& bound = given ? roofline : measured_roofline();
  base::JsonText json;
  json.begin_object();
  json.key("traceEvents");
  json.begin_array();
  name_lane(json, 0, "runs");
  name_lane(json, 1, "steps");
  for (const TraceEvent& event : events) write_event(json, event, bound);
  json.end_array();
  json.field("displayTimeUnit", "ns");
  json.key("otherData");
  json.begin_object();
  json.field("bytes_per_second", bound.bytes_per_second);
  json.field("flops_per_second", bound.flops_per_second);
  json.field("roofline", given ? "given" : "measured");
  json.end_object();
  json.end_object();
  return json.text() + "\n";
}

}  // namespace luminal
