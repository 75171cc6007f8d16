#include "luminal/driver/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace luminal {
namespace {

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

// Who else could have computed it, and what is to be known of a library that does.
std::string library_text(const KernelReport& kernel) {
  std::string lines;
  if (kernel.own_us > 0) {
    lines += fmt::format("    measured: {:.1f} µs compiled, {:.1f} µs by {}\n", kernel.own_us,
                         kernel.library_us, kernel.library);
  }
  if (!kernel.why_no_library.empty()) {
    lines += fmt::format("    not by the library: {}\n", kernel.why_no_library);
  }
  if (kernel.by_library) lines += "    its bits may depend on the number of threads\n";
  return lines;
}

std::string search_text(const SearchReport& search) {
  std::string lines = fmt::format(
      "search ({}): {:.1f} s, {} plans, {} kernels timed, {} known from records, {} plans compared "
      "whole\n",
      search.mode, search.seconds, search.candidates, search.timed, search.remembered,
      search.compared);
  lines +=
      fmt::format("  kernels together: {:.1f} µs, the model's choice {:.1f}, the roofline {:.1f}\n",
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
      lines += fmt::format("  {:<28} {:<22} {:>8} {:>9} {:>7} {:>9.2f}\n", rule.rule,
                           rule.group + "." + rule.numeric_class, rule.matches, rule.new_nodes,
                           rule.unions, rule.seconds * 1e3);
    }
  }
  lines += fmt::format(
      "search: {} values may be stored or not, {} plans and {} distinct kernels costed\n",
      search_bits, search_candidates, search_kernels);
  for (const SearchReport& search : searches) lines += search_text(search);
  lines += fmt::format("plan: {} kernels, {:.1f} µs by the model\n", kernels.size() - n_packing(),
                       model_us);
  if (n_packing() > 0) {
    lines +=
        fmt::format("weights in panels: {}, stored once by kernels of their own\n", n_packing());
  }
  if (!target.empty()) lines += fmt::format("target: {}\n", target);
  if (!machine.empty()) lines += fmt::format("machine: {}\n", machine);
  for (const KernelReport& kernel : kernels) {
    lines += fmt::format("  {}: {}, {:.1f} µs by the model ({:.3g} MB, {:.3g} MF), {}{}\n",
                         kernel.name, kernel.result, kernel.model_us, kernel.model_bytes / 1e6,
                         kernel.model_flops / 1e6, made_text(kernel),
                         kernel.launch < 0 ? "" : fmt::format(", launch {}", kernel.launch));
    if (kernel.measured_us > 0) {
      lines += fmt::format("    measured: {:.1f} µs ({:.1f} … {:.1f}){}\n", kernel.measured_us,
                           kernel.measured_low_us, kernel.measured_high_us,
                           kernel.schedule.empty() ? "" : ", " + kernel.schedule);
    }
    lines += fmt::format("    ops: {}\n", fmt::join(kernel.ops, ", "));
    if (!kernel.rules.empty())
      lines += fmt::format("    rules: {}\n", fmt::join(kernel.rules, ", "));
    lines += library_text(kernel);
    for (const std::string& slow : kernel.slow_paths) lines += fmt::format("    slow: {}\n", slow);
  }
  if (!stored.empty()) lines += "not fused\n";
  for (const StoredReport& value : stored) lines += "  " + stored_text(value);
  if (!fusion.empty()) lines += "patterns\n" + fusion_text();
  for (const MemoryReport& use : memory) {
    lines +=
        fmt::format("memory{}{}: {} bytes of working memory ({} without sharing), {} folded\n",
                    use.sizes.empty() ? "" : " at ", use.sizes, use.peak, use.unshared, use.folded);
    for (const std::string& value : use.kept) lines += fmt::format("  folded: {}\n", value);
  }
  for (const std::string& note : notes) lines += fmt::format("note: {}\n", note);
  return lines;
}

}  // namespace luminal
