// An explanation for people: at most about ten short lines a kernel.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "luminal/driver/explain/explanation.h"
#include "luminal/driver/explain/wrapped_lines.h"

namespace luminal {
namespace {

constexpr size_t kMostExplainedNames = 6;
constexpr size_t kMostBeaten = 3;
constexpr size_t kMostOthers = 2;

std::string plural(size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string source_text(const ExplainedPlan& plan) {
  if (plan.n_measured == 0) return "by the model";
  if (plan.n_measured == plan.n_kernels) return "measured";
  return fmt::format("{} of them measured, the others by the model", plan.n_measured);
}

std::string heading(const ExplainedPlan& plan) {
  std::string line = plan.plan->variant.empty() ? "the plan" : "the plan for " + plan.plan->variant;
  line += fmt::format(": {}, {:.1f} µs {}", plural(plan.n_kernels, "kernel"), plan.us,
                      source_text(plan));
  if (!plan.plan->sizes.empty()) line += " at " + plan.plan->sizes;
  if (plan.n_packing > 0) {
    line += fmt::format("; {} packed into panels once", plural(plan.n_packing, "weight"));
  }
  return line + "\n";
}

std::string heading(const ExplainedKernel& explained) {
  const size_t others = explained.alike.size();
  std::string line = explained.kernel->name;
  if (others > 0) line += fmt::format(" and {} alike", others);
  if (!explained.title.empty()) line += ", " + explained.title;
  return line + "\n";
}

std::string takes(const ExplainedKernel& explained) {
  std::string line = fmt::format("{:.1f} µs {}", explained.time.us, source(explained.time));
  if (explained.kernel->measured_us > 0 && explained.kernel->measured_high_us > 0) {
    line += fmt::format(" ({:.1f} … {:.1f})", explained.kernel->measured_low_us,
                        explained.kernel->measured_high_us);
  }
  return line + fmt::format("{}, {:.0f} % of the plan", explained.alike.empty() ? "" : " each",
                            100 * explained.share);
}

std::string roofline(const ExplainedKernel& explained) {
  const KernelReport& kernel = *explained.kernel;
  std::string line = fmt::format(
      "{:.0f} %, bound by {}: {:.1f} µs for {:.3g} MB, {:.1f} for {:.3g} MF, {:.1f} for the launch",
      100 * explained.roofline_share, explained.bound_by, kernel.bytes_us, kernel.model_bytes / 1e6,
      kernel.flops_us, kernel.model_flops / 1e6, kernel.launch_us);
  if (explained.time.measured)
    line += fmt::format("; the cost model says {:.1f} µs", kernel.model_us);
  return line;
}

std::string rival(const Alternative& alternative) {
  if (!alternative.other.empty()) {
    const std::string terms = fmt::format("{} by {} instead of {}", alternative.value,
                                          alternative.other, alternative.taken);
    if (!alternative.why.empty()) return fmt::format("{}: {}", terms, alternative.why);
    return fmt::format("{}: {} µs by the model", terms, signed_us(alternative.extra_us));
  }
  const std::string move =
      alternative.stores ? "stored"
                         : "computed by " + shortened(alternative.readers, kMostExplainedNames);
  if (!alternative.why.empty()) {
    return fmt::format("{} {}: no kernel can hold it: {}", alternative.value, move,
                       alternative.why);
  }
  return fmt::format("{} {}: {} µs by the model", alternative.value, move,
                     signed_us(alternative.extra_us));
}

// A label, then its lines; omitted ones are counted.
template <typename Items, typename Line>
std::string section(const char* label, const Items& items, size_t most, Line line) {
  std::string lines;
  for (size_t i = 0; i < items.size() && i < most; ++i) {
    lines += labelled(i == 0 ? label : "", line(items[i]));
  }
  if (items.size() > most) lines += labelled("", fmt::format("and {} more", items.size() - most));
  return lines;
}

std::string library(const KernelReport& kernel) {
  std::string lines;
  if (kernel.own_us > 0) {
    lines += labelled("library", fmt::format("{}: {:.1f} µs, compiled code {:.1f}, both measured",
                                             kernel.library, kernel.library_us, kernel.own_us));
  } else if (kernel.by_library) {
    lines += labelled("library", "by " + kernel.library);
  }
  if (!kernel.why_no_library.empty()) lines += labelled("library", "no: " + kernel.why_no_library);
  return lines;
}

std::string kernel_text(const ExplainedKernel& explained) {
  const KernelReport& kernel = *explained.kernel;
  std::string lines = heading(explained) + labelled("takes", takes(explained));
  lines += labelled("computes", fmt::format("{}: {}", kernel.result, fmt::join(kernel.ops, ", ")));
  if (!kernel.nodes.empty()) {
    lines += labelled("of", fmt::format("{}{}", shortened(kernel.nodes, kMostExplainedNames),
                                        kernel.nodes.size() > kMostExplainedNames
                                            ? fmt::format(" ({} nodes)", kernel.nodes.size())
                                            : ""));
  }
  if (!explained.rules.empty())
    lines += labelled("rules", fmt::format("{}", fmt::join(explained.rules, ", ")));
  lines += labelled("roofline", roofline(explained));
  std::vector<Alternative> terms, others;
  for (const Alternative& beaten : explained.beat) {
    (beaten.other.empty() ? others : terms).push_back(beaten);
  }
  lines += section("terms", terms, kMostBeaten, rival);
  lines += section("beat", others, kMostBeaten, rival);
  lines += section("stores", explained.must_store, kMostOthers, [](const StoredReport* value) {
    return fmt::format("{} for {}: {}", value->value,
                       shortened(value->readers, kMostExplainedNames), value->because);
  });
  lines += section("slow", kernel.slow_paths, kMostOthers,
                   [](const std::string& slow) -> const std::string& { return slow; });
  return lines + library(kernel);
}

}  // namespace

std::string text(const Explanation& explanation) {
  std::string lines = explanation.name;
  if (!explanation.target.empty()) lines += ", for " + explanation.target;
  lines += "\n";
  if (!explanation.machine.empty()) lines += labelled("peaks", explanation.machine);
  for (const ExplainedPlan& plan : explanation.plans) {
    lines += heading(plan);
    if (plan.plan->origin != PlanReport::kCostModel) {
      lines += labelled("origin", plan.plan->origin);
    }
    for (const ExplainedKernel& kernel : plan.kernels) lines += "\n" + kernel_text(kernel);
    if (&plan != &explanation.plans.back()) lines += "\n";
  }
  for (const std::string& note : explanation.notes) lines += fmt::format("\nnote: {}", note);
  return lines + (explanation.notes.empty() ? "" : "\n");
}

}  // namespace luminal
