#include "luminal/driver/compile/report_code.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal {

void report_code(backends::LoadReport loaded, double seconds, const InspectOptions& inspect,
                 CompileReport& report) {
  int cached = 0, by_library = 0;
  for (size_t i = 0; i < loaded.kernels.size(); ++i) {
    backends::KernelListing& listing = loaded.kernels[i];
    KernelReport& kernel = report.kernels[i];
    kernel.compile_ms = listing.compile_ms;
    kernel.from_cache = listing.from_cache;
    kernel.launch = listing.launch;
    kernel.slow_paths = std::move(listing.slow_paths);
    kernel.low_level = std::move(listing.low_level);
    kernel.assembly = std::move(listing.assembly);
    cached += kernel.from_cache;
    by_library += kernel.by_library;
  }
  report.notes.insert(report.notes.end(), loaded.notes.begin(), loaded.notes.end());
  end_stage(inspect, report, "kernels", seconds,
            fmt::format("{} compiled, {} from the cache{}",
                        loaded.kernels.size() - static_cast<size_t>(cached + by_library), cached,
                        by_library > 0 ? fmt::format(", {} by a library", by_library) : ""),
            [&] {
              std::string text;
              for (const KernelReport& kernel : report.kernels) {
                if (kernel.low_level) text += kernel.low_level();
              }
              return text;
            });
}

void report_memory(runtime::Program& program, const Bindings& sizes, CompileReport& report) {
  MemoryReport entry{.sizes = text(sizes), .kept = {}};
  try {
    const runtime::MemoryUse use = program.plan_memory(sizes, true);
    entry.peak = use.arena;
    entry.unshared = use.unshared;
    entry.folded = use.folded;
    for (const auto& value : use.kept) {
      entry.kept.push_back(fmt::format("{}, {} bytes", value.name, value.bytes));
    }
    report.memory.push_back(std::move(entry));
  } catch (const UserError& error) {
    report.notes.push_back(
        fmt::format("memory at {} can't be planned: {}", entry.sizes, error.what()));
  }
}

}  // namespace luminal
