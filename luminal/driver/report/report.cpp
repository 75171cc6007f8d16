#include "luminal/driver/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "luminal/driver/report/report_fields.h"

namespace luminal {
namespace {

// What stands after the labels of a field's lines: nothing where the value is empty or 0.
template <typename Value>
std::vector<std::string> line_texts(const Value& value, bool per_item) {
  if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    if (per_item || value.empty()) return value;
    return {fmt::format("{}", fmt::join(value, ", "))};
  } else if constexpr (std::is_same_v<Value, std::string>) {
    if (!value.empty()) return {value};
  } else if constexpr (std::is_arithmetic_v<Value>) {
    if (value != 0) return {fmt::format("{}", value)};
  }
  return {};
}

// The fields that have lines of their own.
template <typename Report>
std::string field_lines(const Report& report, size_t indent) {
  std::string lines;
  for_each_field<Report>([&](const auto& field) {
    if (field.line.label == nullptr) return;
    for (const std::string& text : line_texts(report.*field.member, field.line.per_item)) {
      lines += fmt::format("{:{}}{}: {}\n", "", indent, field.line.label, text);
    }
  });
  return lines;
}

std::string stored_text(const StoredReport& value) {
  std::string line = fmt::format("{} {}, from {} to {}: {}", value.value, value.type, value.kernel,
                                 fmt::join(value.readers, ", "), value.because);
  if (!value.why.empty()) line += ": " + value.why;
  if (value.extra_us != 0) line += fmt::format(" ({:+.1f} µs)", value.extra_us);
  return line + "\n";
}

std::string made_text(const KernelReport& kernel) {
  if (kernel.by_library) return "by " + kernel.library;
  return kernel.from_cache ? "from the cache"
                           : fmt::format("compiled in {:.1f} ms", kernel.compile_ms);
}

// Which of the two was measured to be faster, and what is to be known of a library's results.
std::string library_text(const KernelReport& kernel) {
  std::string lines;
  if (kernel.own_us > 0) {
    lines += fmt::format("    measured: {:.1f} µs compiled, {:.1f} µs by {}\n", kernel.own_us,
                         kernel.library_us, kernel.library);
  }
  if (kernel.by_library)
    lines += "    the bits of its result may depend on the number of threads\n";
  return lines;
}

std::string search_text(const SearchReport& search) {
  std::string lines = fmt::format(
      "search ({}): {:.1f} s, {} plans, {} kernels timed, {} known from records, {} whole plans "
      "compared\n",
      search.mode, search.seconds, search.candidates, search.timed, search.remembered,
      search.compared);
  lines += fmt::format(
      "  kernels together: {:.1f} µs, the cost model's choice {:.1f}, the roofline {:.1f}\n",
      search.best_us, search.first_us, search.bound_us);
  for (const std::string& line : search.comparisons) lines += fmt::format("  {}\n", line);
  return lines + fmt::format("  stopped: {}\n", search.stopped);
}

}  // namespace

size_t CompileReport::n_packing() const {
  return static_cast<size_t>(std::count_if(
      kernels.begin(), kernels.end(), [](const KernelReport& kernel) { return kernel.packs; }));
}

std::string CompileReport::text() const {
  std::string lines = "stages\n";
  for (const StageReport& stage : stages) {
    lines +=
        fmt::format("  {:<10} {:>9.2f} ms  {}\n", stage.name, stage.seconds * 1e3, stage.summary);
  }
  lines += fmt::format("e-graph: {} nodes, {} classes\n", egraph_nodes, egraph_classes);
  if (!rules.empty()) {
    lines += fmt::format("  {:<28} {:<22} {:>8} {:>9} {:>7} {:>9}\n", "rule", "group and class",
                         "matches", "new nodes", "unions", "ms");
    for (const RuleGrowth& rule : rules) {
      lines += fmt::format("  {:<28} {:<22} {:>8} {:>9} {:>7} {:>9.2f}{}{}\n", rule.rule,
                           rule.group + "." + rule.numeric_class, rule.matches, rule.new_nodes,
                           rule.unions, rule.seconds * 1e3, rule.origin.empty() ? "" : "  from ",
                           rule.origin);
    }
  }
  lines += fmt::format(
      "search: {} values may be stored or not, {} plans and {} distinct kernels costed\n",
      search_bits, search_candidates, search_kernels);
  for (const SearchReport& search : searches) lines += search_text(search);
  lines += fmt::format("plan: {} kernels, {:.1f} µs by the model\n", kernels.size() - n_packing(),
                       model_us);
  for (const PlanReport& plan : plans) {
    if (plan.origin == PlanReport::kCostModel) continue;
    lines += fmt::format("plan{}{} from {}\n", plan.variant.empty() ? "" : " for ", plan.variant,
                         plan.origin);
  }
  if (n_packing() > 0) {
    lines +=
        fmt::format("weights packed into panels: {}, once, by kernels of their own\n", n_packing());
  }
  lines += field_lines(*this, 0);
  for (const KernelReport& kernel : kernels) {
    lines += fmt::format("  {}: {}, {:.1f} µs by the model ({:.3g} MB, {:.3g} MF), {}{}\n",
                         kernel.name, kernel.result, kernel.model_us, kernel.model_bytes / 1e6,
                         kernel.model_flops / 1e6, made_text(kernel),
                         kernel.launch < 0 ? "" : fmt::format(", launch {}", kernel.launch));
    if (kernel.measured_us > 0) {
      lines += fmt::format("    measured: {:.1f} µs ({:.1f} … {:.1f}){}\n", kernel.measured_us,
                           kernel.measured_low_us, kernel.measured_high_us,
                           fmt::format(", {}{}{}", kernel.strategy,
                                       kernel.schedule.empty() ? "" : ", ", kernel.schedule));
    }
    lines += field_lines(kernel, 4) + library_text(kernel);
  }
  if (!stored.empty()) lines += "not fused\n";
  for (const StoredReport& value : stored) lines += "  " + stored_text(value);
  if (!fusion.empty()) lines += "patterns\n" + fusion_text();
  for (const MemoryReport& use : memory) {
    lines +=
        fmt::format("memory{}{}: {} bytes of working memory ({} without sharing), {} folded\n",
                    use.sizes.empty() ? "" : " at ", use.sizes, use.peak, use.unshared, use.folded);
    lines += field_lines(use, 2);
  }
  for (const std::string& note : notes) lines += fmt::format("note: {}\n", note);
  return lines;
}

}  // namespace luminal
