#include "luminal/driver/explain/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "luminal/base/errors.h"
#include "luminal/driver/report/kernel_titles.h"

namespace luminal {
namespace {

// A key for kernels that share one explanation.
std::string kind_of(const KernelReport& kernel) {
  std::string key = kernel.text + kernel.library;
  for (const auto* list : {&kernel.ops, &kernel.rules}) {
    key += '\n';
    for (const std::string& item : *list) key += item + ";";
  }
  // Kernels of one code may compute values of which only some have other terms.
  const auto terms = std::ranges::count_if(
      kernel.rivals, [](const RivalReport& rival) { return !rival.other.empty(); });
  return fmt::format("{}\nterms {}", key, terms);
}

void add_bound(ExplainedKernel& explained) {
  const KernelReport& kernel = *explained.kernel;
  const double work = std::max(kernel.bytes_us, kernel.flops_us);
  explained.bound_us = kernel.bound_us();
  explained.bound_by = work < kernel.launch_us             ? "the launch"
                       : kernel.flops_us > kernel.bytes_us ? "arithmetic"
                                                           : "memory";
  if (explained.time.us > 0) explained.roofline_share = explained.bound_us / explained.time.us;
}

bool nearer_alternative(const Alternative& a, const Alternative& b) {
  const auto rank = [](const Alternative& rival) {
    return std::make_tuple(!rival.why.empty(), rival.extra_us, rival.stores, rival.value,
                           rival.other);
  };
  return rank(a) < rank(b);
}

// The values it stores that its readers could compute instead, and the ones it could store.
void add_alternatives(const CompileReport& report, ExplainedKernel& explained) {
  for (const StoredReport& value : report.stored) {
    if (value.kernel != explained.kernel->name) continue;
    if (value.extra_us != 0 || !value.why.empty()) {
      explained.beat.push_back({.value = value.value,
                                .taken = {},
                                .other = {},
                                .stores = false,
                                .readers = value.readers,
                                .extra_us = value.extra_us,
                                .why = value.why});
    } else {
      explained.must_store.push_back(&value);
    }
  }
  for (const RivalReport& rival : explained.kernel->rivals) {
    explained.beat.push_back({.value = rival.value,
                              .taken = rival.taken,
                              .other = rival.other,
                              .stores = rival.other.empty(),
                              .readers = {},
                              .extra_us = rival.extra_us,
                              .why = rival.why});
  }
  std::sort(explained.beat.begin(), explained.beat.end(), nearer_alternative);
}

// "exponents-add (mine.egg)"; embedded ones by their name alone.
std::vector<std::string> rules_with_origin(const CompileReport& report,
                                           const KernelReport& kernel) {
  std::vector<std::string> rules;
  for (const std::string& rule : kernel.rules) {
    const auto known = std::ranges::find(report.rules, rule, &RuleGrowth::rule);
    const bool is_added = known != report.rules.end() && !known->origin.empty();
    rules.push_back(is_added ? fmt::format("{} ({})", rule, known->origin) : rule);
  }
  return rules;
}

ExplainedKernel explained(const CompileReport& report, const KernelReport& kernel) {
  ExplainedKernel result;
  result.kernel = &kernel;
  result.title = kernel.title;
  result.rules = rules_with_origin(report, kernel);
  result.time = time_of(kernel);
  add_bound(result);
  add_alternatives(report, result);
  return result;
}

ExplainedPlan totals(const CompileReport& report, const PlanReport& plan) {
  ExplainedPlan result;
  result.plan = &plan;
  for (size_t k = plan.first_kernel; k < plan.first_kernel + plan.n_kernels; ++k) {
    const KernelReport& kernel = report.kernels[k];
    if (kernel.packs) {
      ++result.n_packing;
      continue;
    }
    const Figure time = time_of(kernel);
    ++result.n_kernels;
    result.n_measured += time.measured;
    result.us += time.us;
  }
  return result;
}

std::span<const KernelReport> kernels_of(const CompileReport& report, const PlanReport& plan) {
  return std::span(report.kernels).subspan(plan.first_kernel, plan.n_kernels);
}

// Each kind of kernel once, where it first appears.
ExplainedPlan explained(const CompileReport& report, const PlanReport& plan) {
  ExplainedPlan result = totals(report, plan);
  std::map<std::string, size_t> known;
  for (const KernelReport& kernel : kernels_of(report, plan)) {
    if (kernel.packs) continue;
    const auto [at, is_new] = known.emplace(kind_of(kernel), result.kernels.size());
    if (is_new) {
      result.kernels.push_back(explained(report, kernel));
    } else {
      ExplainedKernel& first = result.kernels[at->second];
      first.alike.push_back(kernel.name);
      first.title = common_title({first.title, kernel.title});
    }
    if (result.us > 0) result.kernels[at->second].share += time_of(kernel).us / result.us;
  }
  return result;
}

void check(const CompileReport& report, const std::string& name) {
  if (report.plans.empty()) {
    throw UserError(
        fmt::format("'{}' has no plan to explain: the backend runs the graph as it is, or the "
                    "report is of an older version; compile it with the backend 'cpu'",
                    name));
  }
}

}  // namespace

const char* source(const Figure& figure) { return figure.measured ? "measured" : "by the model"; }

// A time that was measured to choose between a library and compiled code counts as well.
Figure time_of(const KernelReport& kernel) {
  if (kernel.measured_us > 0) return {kernel.measured_us, true};
  const double tried = kernel.by_library ? kernel.library_us : kernel.own_us;
  return tried > 0 ? Figure{tried, true} : Figure{kernel.model_us, false};
}

Explanation explain(const CompileReport& report, std::string name) {
  check(report, name);
  Explanation result{std::move(name), report.target, report.machine, {}, report.notes};
  for (const PlanReport& plan : report.plans) result.plans.push_back(explained(report, plan));
  return result;
}

Explanation explain_kernel(const CompileReport& report, std::string name, int number) {
  check(report, name);
  const std::string asked = fmt::format("kernel {}", number);
  Explanation result{std::move(name), report.target, report.machine, {}, {}};
  for (const PlanReport& plan : report.plans) {
    const auto kernels = kernels_of(report, plan);
    const auto found = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const KernelReport& k) { return k.name == asked; });
    if (found == kernels.end()) continue;
    ExplainedPlan of_plan = totals(report, plan);
    ExplainedKernel kernel = explained(report, *found);
    for (const KernelReport& other : kernels) {
      if (kind_of(other) != kind_of(*found)) continue;
      kernel.title = common_title({kernel.title, other.title});
      if (&other != &*found) kernel.alike.push_back(other.name);
      if (of_plan.us > 0) kernel.share += time_of(other).us / of_plan.us;
    }
    of_plan.kernels.push_back(std::move(kernel));
    result.plans.push_back(std::move(of_plan));
    return result;
  }
  const size_t count = report.kernels.size() - report.n_packing();
  throw UserError(fmt::format("'{}' has no kernel {}: {}", result.name, number,
                              count == 0 ? "its plan has none"
                              : count == 1
                                  ? "kernel 0 is the only one"
                                  : fmt::format("they are numbered from 0 to {}", count - 1)));
}

}  // namespace luminal
