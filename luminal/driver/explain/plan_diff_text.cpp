// A difference of plans, for people and as JSON; docs/debugging.md lists the fields.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "luminal/base/text/json_text.h"
#include "luminal/driver/explain/explanation.h"
#include "luminal/driver/explain/plan_diff.h"
#include "luminal/driver/explain/wrapped_lines.h"
#include "luminal/driver/report/report_json.h"

namespace luminal {
namespace {

constexpr size_t kMostRegions = 20;
constexpr size_t kMostStored = 10;
constexpr size_t kMostDiffedNames = 8;

using Layout = base::JsonText::Layout;

// "kernel 3 2.1 µs (exp2, mul)": what it computes tells kernels of two plans apart.
std::vector<std::string> described(const std::vector<const KernelReport*>& kernels) {
  std::vector<std::string> list;
  for (const KernelReport* kernel : kernels) {
    const Figure time = time_of(*kernel);
    list.push_back(
        fmt::format("{} {:.1f} µs{}", kernel->name, time.us, time.measured ? " measured" : ""));
  }
  return list;
}

std::string side(const std::string& name, const std::string& target, const PlanReport* plan,
                 size_t kernels, double us, bool measured) {
  if (plan == nullptr) return name + ": no such plan";
  return fmt::format("{}{}{}: {} kernel{}, {:.1f} µs {}", name, target.empty() ? "" : ", for ",
                     target, kernels, kernels == 1 ? "" : "s", us,
                     measured ? "measured" : "by the model");
}

std::string difference_text(double a_us, double b_us) {
  std::string line = fmt::format("{} µs", signed_us(b_us - a_us));
  if (a_us > 0) line += fmt::format(" ({}%)", signed_us(100 * (b_us - a_us) / a_us) + " ");
  return line;
}

std::string region_text(const DiffedRegion& region) {
  std::string line = fmt::format("{:>9} µs", signed_us(region.difference()));
  if (region.count > 1) {
    line += fmt::format(", {} times {}", region.count, signed_us(region.b_us - region.a_us));
  }
  if (region.same) line += ", the same kernel";
  line += "\n";
  if (!region.a.empty()) line += labelled("  a", shortened(described(region.a), kMostDiffedNames));
  if (!region.b.empty()) line += labelled("  b", shortened(described(region.b), kMostDiffedNames));
  const KernelReport& first = *(region.a.empty() ? region.b : region.a).front();
  if (region.a.empty() || region.b.empty()) {
    line += labelled("  ops", fmt::format("{}", fmt::join(first.ops, ", ")));
  }
  return line;
}

std::string stored_text(const char* which, const std::vector<const StoredReport*>& values) {
  if (values.empty()) return {};
  std::string lines = fmt::format("stored only in {}\n", which);
  for (size_t i = 0; i < std::min(values.size(), kMostStored); ++i) {
    const StoredReport& value = *values[i];
    lines += fmt::format("  {} {}, from {} to {}: {}", value.value, value.type, value.kernel,
                         shortened(value.readers, kMostDiffedNames), value.because);
    if (!value.why.empty()) lines += ": " + value.why;
    if (value.extra_us != 0) lines += fmt::format(" ({} µs)", signed_us(value.extra_us));
    lines += "\n";
  }
  if (values.size() > kMostStored) {
    lines += fmt::format("  and {} more\n", values.size() - kMostStored);
  }
  return lines;
}

std::string diffed_plan_text(const PlanDiff& diff, const DiffedPlan& plan) {
  const PlanReport& any = *(plan.a != nullptr ? plan.a : plan.b);
  std::string lines;
  if (!any.variant.empty()) lines += "the plan for " + any.variant + "\n";
  // Where both have the same target there is nothing to tell them apart by it.
  const bool same_target = diff.a_target == diff.b_target;
  lines += labelled("a", side(diff.a_name, same_target ? "" : diff.a_target, plan.a, plan.a_kernels,
                              plan.a_us, plan.a_measured));
  lines += labelled("b", side(diff.b_name, same_target ? "" : diff.b_target, plan.b, plan.b_kernels,
                              plan.b_us, plan.b_measured));
  lines += labelled("b − a", difference_text(plan.a_us, plan.b_us));
  lines += labelled("same", fmt::format("{} kernel{}, {:.1f} µs in a", plan.n_same,
                                        plan.n_same == 1 ? "" : "s", plan.same_us));
  if (!plan.regions.empty()) {
    lines += diff.same_graph ? "kernels that compute the same nodes, by difference in time\n"
                             : "other kernels, by time\n";
  }
  for (size_t i = 0; i < std::min(plan.regions.size(), kMostRegions); ++i) {
    lines += region_text(plan.regions[i]);
  }
  if (plan.regions.size() > kMostRegions) {
    lines += fmt::format("  and {} more\n", plan.regions.size() - kMostRegions);
  }
  return lines + stored_text("a", plan.stored_in_a) + stored_text("b", plan.stored_in_b);
}

void write_kernels(base::JsonText& json, const char* key,
                   const std::vector<const KernelReport*>& kernels) {
  json.key(key);
  json.begin_array();
  for (const KernelReport* kernel : kernels) {
    const Figure time = time_of(*kernel);
    json.begin_object(Layout::OnOneLine);
    json.field("name", kernel->name);
    json.field("us", time.us);
    json.field("source", source(time));
    write_members(json, *kernel, &KernelReport::ops, &KernelReport::nodes);
    json.end_object();
  }
  json.end_array();
}

void write_stored(base::JsonText& json, const char* key,
                  const std::vector<const StoredReport*>& values) {
  json.key(key);
  json.begin_array();
  for (const StoredReport* value : values) write_report_object(json, *value);
  json.end_array();
}

void write_side(base::JsonText& json, const char* key, size_t kernels, double us, bool measured) {
  json.key(key);
  json.begin_object(Layout::OnOneLine);
  json.field("n_kernels", kernels);
  json.field("us", us);
  json.field("source", source({us, measured}));
  json.end_object();
}

void write_plan(base::JsonText& json, const DiffedPlan& plan) {
  json.begin_object();
  json.field("variant", (plan.a != nullptr ? plan.a : plan.b)->variant);
  write_side(json, "a", plan.a_kernels, plan.a_us, plan.a_measured);
  write_side(json, "b", plan.b_kernels, plan.b_us, plan.b_measured);
  json.field("n_same", plan.n_same);
  json.field("same_us", plan.same_us);
  json.key("regions");
  json.begin_array();
  for (const DiffedRegion& region : plan.regions) {
    json.begin_object();
    json.field("count", region.count);
    json.field("same", region.same);
    json.field("a_us", region.a_us);
    json.field("b_us", region.b_us);
    json.field("difference_us", region.difference());
    write_kernels(json, "a", region.a);
    write_kernels(json, "b", region.b);
    json.end_object();
  }
  json.end_array();
  write_stored(json, "stored_in_a", plan.stored_in_a);
  write_stored(json, "stored_in_b", plan.stored_in_b);
  json.end_object();
}

}  // namespace

std::string text(const PlanDiff& diff) {
  std::string lines;
  for (const DiffedPlan& plan : diff.plans) {
    lines += (lines.empty() ? "" : "\n") + diffed_plan_text(diff, plan);
  }
  return lines;
}

std::string json(const PlanDiff& diff) {
  base::JsonText json;
  json.begin_object();
  json.field("a", diff.a_name);
  json.field("b", diff.b_name);
  json.field("a_target", diff.a_target);
  json.field("b_target", diff.b_target);
  json.field("same_graph", diff.same_graph);
  json.key("plans");
  json.begin_array();
  for (const DiffedPlan& plan : diff.plans) write_plan(json, plan);
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

}  // namespace luminal
