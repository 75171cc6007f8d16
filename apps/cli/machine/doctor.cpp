// luminal doctor: what this machine offers, as lines or as JSON.
#include "apps/cli/machine/doctor_verdict.h"
#include "apps/cli/options/command.h"
#include "apps/cli/terminal/colours.h"
#include "apps/cli/terminal/editline_lines.h"
#include "luminal/backends/cpu/onednn/library_matmul.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/cpu.h"
#include "luminal/base/os/limits.h"
#include "luminal/base/os/memory.h"
#include "luminal/base/os/paths.h"
#include "luminal/base/os/terminal.h"
#include "luminal/driver/options/calibration_file.h"
#include "luminal/machine/kept_peaks.h"
#include "luminal/machine/measure_peaks.h"
#include "luminal/records/sqlite.h"
#include "luminal/version.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace luminal::cli {
namespace {

struct DoctorOptions {
  bool json = false;
  bool measure = false;     // again
  bool may_measure = true;  // if nothing was measured yet
};

struct MachineFinding {
  base::CpuInfo cpu;
  unsigned affinity = 0;
  unsigned threads = 0;
  base::CgroupLimits cgroup;
  base::MemoryInfo memory;
  base::HugePages huge_pages;
  machine::Peaks peaks;
  FoundCalibration calibration;
  std::string cache_folder;  // empty if there is none
  std::string cache_error;
  bool cache_writable = false;
};

MachineFinding examine(const DoctorOptions& options) {
  MachineFinding found;
  found.cpu = base::cpu_info();
  found.affinity = base::affinity_threads();
  found.cgroup = base::cgroup_limits();
  found.threads = base::usable_threads(found.affinity, found.cgroup);
  found.memory = base::memory_info();
  found.huge_pages = base::huge_pages();
  try {
    const auto folder = base::cache_folder();
    found.cache_folder = folder.string();
    found.cache_writable = base::is_writable_folder(folder);
  } catch (const UserError& error) {
    found.cache_error = error.what();
  }
  found.peaks = machine::peaks_of_this_machine();
  const bool known = found.peaks.origin == machine::PeaksOrigin::Measured;
  if (options.measure || (options.may_measure && !known)) {
    if (base::error_is_terminal()) {
      std::cerr << "measuring this machine's peaks, about 2 s ..." << std::endl;
    }
    found.peaks = machine::measure_peaks(static_cast<int>(found.threads));
    try {
      machine::keep(found.peaks);
    } catch (const UserError& error) {
      std::cerr << "luminal: " << error.what() << "\n";
    }
  }
  found.calibration = find_calibration({}, found.peaks, "");
  return found;
}

HealthFacts facts_of(const MachineFinding& found) {
  return {.cache_folder = found.cache_folder,
          .cache_writable = found.cache_writable,
          .cache_not_private = found.cache_folder.empty()
                                   ? ""
                                   : base::why_not_private(base::cache_folder() / "kernels"),
          .transparent_huge_pages = found.huge_pages.transparent,
          .has_avx2 = found.cpu.features.avx2,
          .available_memory = found.memory.available,
          .line_editing = edits_lines()};
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string fmt_version() {
  return fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
}

std::string json_version() {
  return fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                     NLOHMANN_JSON_VERSION_PATCH);
}

std::string bytes_text(uint64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == static_cast<double>(static_cast<uint64_t>(value));
  return fmt::format("{:.{}f} {}", value, whole ? 0 : 1, units[unit]);
}

std::string size_text(size_t bytes) { return bytes == 0 ? "unknown" : bytes_text(bytes); }

std::string cgroup_text(const base::CgroupLimits& cgroup) {
  if (cgroup.version == 0 && !cgroup.cpus && !cgroup.memory) return "none";
  return fmt::format("version {}, cpu {}, memory {}", cgroup.version,
                     cgroup.cpus ? fmt::format("{:.2f}", *cgroup.cpus) : "unlimited",
                     cgroup.memory ? bytes_text(*cgroup.memory) : "unlimited");
}

std::string huge_pages_text(const base::HugePages& pages) {
  std::string text = fmt::format("transparent: {}; reserved: {} of {}",
                                 pages.transparent.empty() ? "unknown" : pages.transparent,
                                 pages.reserved, size_text(pages.page_bytes));
  if (pages.transparent == "never") {
    text +=
        "; reading large weights is slower: 'echo madvise' into "
        "/sys/kernel/mm/transparent_hugepage/enabled";
  }
  return text;
}

// "13.1 GB/s read, 11.9 copied on 1 thread; 23.9 and 21.5 on 2"
std::string memory_text(const machine::Peaks& peaks) {
  std::string text;
  for (const machine::Bandwidth& bandwidth : peaks.memory) {
    text += fmt::format("{}{:.1f} GB/s read, {:.1f} copied on {} thread{}",
                        text.empty() ? "" : "; ", bandwidth.read * 1e-9, bandwidth.copy * 1e-9,
                        bandwidth.threads, bandwidth.threads == 1 ? "" : "s");
  }
  return text;
}

// "96 GB/s from L2, 31 from L3, threads: 2"
std::string caches_text(const machine::Peaks& peaks) {
  if (peaks.l2_bytes == 0 || peaks.l3_bytes == 0) return "not measured: run doctor --measure";
  return fmt::format("{:.0f} GB/s from L2, {:.0f} from L3, threads: {}", peaks.l2_bytes * 1e-9,
                     peaks.l3_bytes * 1e-9, peaks.threads);
}

std::string arithmetic_text(const machine::Peaks& peaks) {
  return fmt::format(
      "{:.0f} GF/s element-wise; products: f32 {:.0f}, bf16 {:.0f}, int8 {:.0f} GF/s, threads: {}",
      peaks.elementwise * 1e-9, peaks.f32_products * 1e-9, peaks.bf16_products * 1e-9,
      peaks.i8_products * 1e-9, peaks.threads);
}

std::string origin_text(const machine::Peaks& peaks) {
  if (peaks.others > machine::kMostOthers) {
    return fmt::format(
        "measured {} while other programs used {:.1f} cores: run doctor --measure again when they "
        "have ended",
        peaks.source, peaks.others);
  }
  if (peaks.origin == machine::PeaksOrigin::Measured) {
    return fmt::format("measured {}; --measure measures again", peaks.source);
  }
  return fmt::format("default figures for {}, not measured: run doctor --measure", peaks.source);
}

std::string model_text(const FoundCalibration& found) {
  const std::string calibrated = text(found);
  if (found.calibration != nullptr) return calibrated;
  return (calibrated.empty() ? "not calibrated" : calibrated) + ": run luminal tune calibrate";
}

std::string cache_text(const MachineFinding& found) {
  if (found.cache_folder.empty()) return found.cache_error;
  return found.cache_folder + (found.cache_writable
                                   ? " (writable)"
                                   : " (NOT writable: set XDG_CACHE_HOME to a folder that is)");
}

void print_lines(const MachineFinding& found) {
  auto line = [](const char* label, const std::string& text) {
    std::cout << fmt::format("{:<16}{}\n", label, text);
  };
  const base::CpuCaches& caches = found.cpu.caches;
  line("luminal", LUMINAL_VERSION);
  line("cpu", fmt::format("{}, cores: {}", found.cpu.name, found.cpu.online_cores));
  line("isa", fmt::format("{}", fmt::join(base::feature_names(found.cpu.features), " ")));
  line("caches", fmt::format("L1d {}, L2 {}, L3 {}, line {}", size_text(caches.l1_data),
                             size_text(caches.l2), size_text(caches.l3), size_text(caches.line)));
  line("threads", fmt::format("{} usable (affinity: {})", found.threads, found.affinity));
  line("cgroup", cgroup_text(found.cgroup));
  line("memory", fmt::format("{}, {} available", bytes_text(found.memory.total),
                             bytes_text(found.memory.available)));
  line("huge pages", huge_pages_text(found.huge_pages));
  line("peaks", origin_text(found.peaks));
  line("  memory", memory_text(found.peaks));
  line("  caches", caches_text(found.peaks));
  line("  arithmetic", arithmetic_text(found.peaks));
  line("  launch",
       fmt::format("{:.1f} µs on one thread, {:.1f} µs on all", found.peaks.launch_seconds * 1e6,
                   found.peaks.barrier_seconds * 1e6));
  line("cost model", model_text(found.calibration));
  line("libraries", fmt::format("LLVM {}, fmt {}, nlohmann-json {}, CLI11 {}, SQLite {}, {}, {}",
                                LUMINAL_LLVM_VERSION, fmt_version(), json_version(), CLI11_VERSION,
                                records::sqlite_version(), backends::cpu::library_text(),
                                edits_lines() ? "libedit" : "no libedit"));
  line("compiler", compiler());
  line("cache folder", cache_text(found));
  std::cout << "\n" << verdict_text(what_to_mend(facts_of(found)), output_has_colours());
}

template <typename T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

void print_json(const MachineFinding& found) {
  using Json = nlohmann::ordered_json;
  const base::CpuCaches& caches = found.cpu.caches;
  Json json;
  json["luminal"] = LUMINAL_VERSION;
  json["cpu"] = {{"name", found.cpu.name}, {"cores", found.cpu.online_cores}};
  json["cpu"]["isa"] = base::feature_names(found.cpu.features);
  json["cpu"]["caches"] = {
      {"l1_data", caches.l1_data}, {"l2", caches.l2}, {"l3", caches.l3}, {"line", caches.line}};
  json["threads"] = {{"usable", found.threads}, {"affinity", found.affinity}};
  json["cgroup"] = {{"version", found.cgroup.version},
                    {"cpus", or_null(found.cgroup.cpus)},
                    {"memory", or_null(found.cgroup.memory)}};
  json["memory"] = {{"total", found.memory.total}, {"available", found.memory.available}};
  json["huge_pages"] = {{"transparent", found.huge_pages.transparent},
                        {"page_bytes", found.huge_pages.page_bytes},
                        {"reserved", found.huge_pages.reserved},
                        {"free", found.huge_pages.free}};
  json["peaks"] = Json::parse(machine::to_json(found.peaks));
  json["peaks"]["is_measured"] = found.peaks.origin == machine::PeaksOrigin::Measured;
  json["calibration"] = nullptr;
  if (const auto& calibration = found.calibration.calibration) {
    json["calibration"] = {{"kernels", calibration->samples},
                           {"median_ratio", calibration->after.median_ratio},
                           {"rank_correlation", calibration->after.rank_correlation}};
  }
  json["libraries"] = {{"llvm", LUMINAL_LLVM_VERSION},        {"fmt", fmt_version()},
                       {"nlohmann_json", json_version()},     {"cli11", CLI11_VERSION},
                       {"sqlite", records::sqlite_version()}, {"onednn", nullptr}};
  if (backends::cpu::library_available()) {
    json["libraries"]["onednn"] = backends::cpu::library_version();
  }
  json["libraries"]["libedit"] = edits_lines();
  json["compiler"] = compiler();
  json["cache_folder"] = nullptr;
  if (!found.cache_folder.empty()) {
    json["cache_folder"] = {{"path", found.cache_folder}, {"writable", found.cache_writable}};
  }
  const std::vector<HealthFinding> findings = what_to_mend(facts_of(found));
  json["verdict"] = {{"well", findings.empty()}, {"findings", Json::array()}};
  for (const HealthFinding& finding : findings) {
    json["verdict"]["findings"].push_back(
        {{"problem", finding.problem}, {"remedy", finding.remedy}});
  }
  // Paths and names come from the system and may not be UTF-8.
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace

void define_doctor(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  app.add_flag("--json", options->json, "Print the result as JSON");
  auto* measure = app.add_flag("--measure", options->measure,
                               "Measure this machine's peaks again, in about 2 s");
  app.add_flag("!--no-measure", options->may_measure,
               "Measure nothing, even if this machine was never measured")
      ->excludes(measure);
  app.callback([options] {
    const MachineFinding found = examine(*options);
    options->json ? print_json(found) : print_lines(found);
  });
}

}  // namespace luminal::cli
