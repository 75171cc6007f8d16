#include "apps/bench/kernels/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/bench/harness/files.h"
#include "apps/bench/harness/page.h"
#include "apps/bench/kernels/report.h"
#include "luminal/base/errors.h"

namespace luminal::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPage = "bench.html";

fs::path file_in(const fs::path& folder, Level level, const char* what) {
  return folder / fmt::format("{}_{}.json", file_stem(level), what);
}

std::string content_if_there(const fs::path& file) {
  return fs::exists(file) ? read_file(file) : "";
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) {
    throw UserError(fmt::format("--out {}: can't make this folder{}", folder.string(),
                                error ? ": " + error.message() : ""));
  }
}

// From all files in the folder, so that both suites are on one page.
void write_page(const fs::path& folder) {
  std::map<std::string, LevelDocuments> levels;
  for (Level level : {Level::Micro, Level::Patterns}) {
    levels[name(level)] = {.report = content_if_there(file_in(folder, level, "report")),
                           .history = content_if_there(file_in(folder, level, "history")),
                           .compare = content_if_there(file_in(folder, level, "compare"))};
  }
  write_file(folder / kPage, make_page(levels));
}

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  if (seconds >= 1e-6) return fmt::format("{:.2f} µs", seconds * 1e6);
  return fmt::format("{:.0f} ns", seconds * 1e9);
}

int64_t n_busy(const Report& report) {
  return std::ranges::count_if(report.cases, [&](const Measured& measured) {
    return metrics_of(measured, report.peaks).spread > kBusySpread;
  });
}

void print_summary(const Report& report, std::ostream& text) {
  text << fmt::format("{:<34} {:>11} {:>7} {:>8} {:>9} {:>6} {:>6}  {}\n", "case", "median",
                      "spread", "GB/s", "GF/s", "MBU", "MFU", "fits");
  for (const Measured& measured : report.cases) {
    const Metrics metrics = metrics_of(measured, report.peaks);
    // µ takes two bytes and one column.
    const std::string median = time_text(metrics.median);
    const int width = median.find("µ") == std::string::npos ? 11 : 12;
    text << fmt::format("{:<34} {:>{}} {:>6.0f}% {:>8.1f} {:>9.1f} {:>5.0f}% {:>5.0f}%  {}\n",
                        measured.name(), median, width, metrics.spread * 100, metrics.gb_per_second,
                        metrics.gflop_per_second, metrics.mbu * 100, metrics.mfu * 100,
                        metrics.fits);
  }
  if (const int64_t busy = n_busy(report); busy > 0) {
    text << fmt::format(
        "{} of {} cases spread by more than {:.0f} %: the machine was busy with something else, "
        "don't trust their medians\n",
        busy, report.cases.size(), kBusySpread * 100);
  }
  for (const Bandwidth& peak : report.peaks.bandwidths) {
    text << fmt::format("peak: {} {:.1f} GB/s, {} threads ({})\n", peak.where, peak.gb_per_second,
                        peak.threads, peak.by);
  }
  for (const Compute& peak : report.peaks.computes) {
    text << fmt::format("peak: {} {:.1f} GF/s, {} threads ({})\n", luminal::name(peak.dtype),
                        peak.gflop_per_second, peak.threads, peak.by);
  }
  if (!report.left_out.empty()) {
    text << fmt::format("{} cases were left out, the first: {}: {}\n", report.left_out.size(),
                        report.left_out.front().name, report.left_out.front().why);
  }
}

std::string verdict_text(const Compared& of) {
  if (!of.why_not.empty()) return fmt::format("{:<34} not compared: {}\n", of.name, of.why_not);
  const auto& [verdict, ratio, interval] = of.judgement;
  return fmt::format("{:<34} {:<11}  {:.3f} ({:.3f} … {:.3f}), {} rounds{}\n", of.name,
                     name(verdict), ratio, interval.low, interval.high, of.ratios.size(),
                     of.results_differ ? ", RESULTS DIFFER" : "");
}

}  // namespace

void run_suite(const SuiteOptions& options, std::ostream& text, const Progress& progress) {
  const std::vector<Task> list = tasks(options.selection);
  make_folder(options.out);
  Report report{.level = options.selection.level,
                .command = options.command,
                .when = utc_now(),
                .min_seconds = options.run.min_seconds,
                .peaks = {},
                .cases = {},
                .left_out = {}};
  // Detects an unreadable history before minutes of measuring.
  const fs::path history = file_in(options.out, report.level, "history");
  history_json(content_if_there(history), report);
  std::vector<int> threads;
  for (const Task& task : list) {
    if (std::ranges::find(threads, task.threads) == threads.end()) threads.push_back(task.threads);
  }
  report.peaks = measure_peaks(threads, options.peak_seconds, progress);
  int64_t done = 0;
  for (const Task& task : list) {
    progress({"cases", task.name(), done++, std::ssize(list)});
    if (std::string why = why_left_out(task); !why.empty()) {
      report.left_out.push_back({task.name(), std::move(why)});
    } else {
      report.cases.push_back(run_task(task, options.run));
    }
  }
  if (report.cases.empty()) {
    throw UserError(fmt::format("all {} cases were left out, the first: {}: {}",
                                report.left_out.size(), report.left_out.front().name,
                                report.left_out.front().why));
  }
  report.peaks.improve_by(measure_peaks(threads, options.peak_seconds, progress));
  write_file(file_in(options.out, report.level, "metrics"), metrics_json(report));
  const std::string json = report_json(report);
  write_file(file_in(options.out, report.level, "report"), json);
  write_file(history, history_json(content_if_there(history), report));
  write_page(options.out);
  if (options.json) {
    text << json;
    return;
  }
  print_summary(report, text);
  text << fmt::format("{}: the figures as a page; {} and {} hold them as JSON\n",
                      (options.out / kPage).string(), file_in({}, report.level, "report").string(),
                      file_in({}, report.level, "metrics").string());
}

void run_baseline(const SuiteOptions& options, const fs::path& folder, std::ostream& text,
                  const Progress& progress) {
  const Level level = options.selection.level;
  const Baseline baseline = write_baseline(folder, level, tasks(options.selection), progress);
  if (options.json) {
    text << nlohmann::ordered_json{{"folder", folder.string()},
                                   {"cases", baseline.cases.size()},
                                   {"made_by", baseline.made_by}}
                .dump(2)
         << "\n";
    return;
  }
  text << fmt::format(
      "{}: plans and code of {} cases, by luminal {}\ncompare a later build with it: luminal bench "
      "{} --compare {}\n",
      folder.string(), baseline.cases.size(), baseline.made_by, name(level), folder.string());
}

bool run_compare(const SuiteOptions& options, const fs::path& folder,
                 const CompareSettings& settings, std::ostream& text, const Progress& progress) {
  const Level level = options.selection.level;
  const Baseline baseline = read_baseline(folder, level);
  make_folder(options.out);
  Comparison comparison{.level = level,
                        .command = options.command,
                        .when = utc_now(),
                        .baseline = &baseline,
                        .settings = settings,
                        .cases = {}};
  comparison.cases = compare(baseline, options.selection.filter, settings, progress);
  const std::string json = comparison_json(comparison);
  write_file(file_in(options.out, level, "compare"), json);
  write_page(options.out);
  const bool fine = std::ranges::all_of(comparison.cases, [](const Compared& of) {
    return !of.results_differ && of.judgement.verdict != Verdict::Slower;
  });
  if (options.json) {
    text << json;
    return fine;
  }
  if (settings.planted_share > 0) {
    text << fmt::format("for a test, {} runs {:.0f} % longer than it would\n",
                        settings.planted_case, settings.planted_share * 100);
  }
  std::map<std::string, int> counts;
  for (const Compared& of : comparison.cases) {
    text << verdict_text(of);
    ++counts[of.why_not.empty() ? name(of.judgement.verdict) : "not compared"];
  }
  text << fmt::format("against luminal {}:", baseline.made_by);
  const char* before = " ";
  for (const auto& [what, count] : counts) {
    text << before << count << " " << what;
    before = ", ";
  }
  text << fmt::format("; ratios are now / then, {} has them as a plot\n",
                      (options.out / kPage).string());
  return fine;
}

}  // namespace luminal::bench
