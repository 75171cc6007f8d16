#include "apps/cli/machine/tune_calibrate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "apps/cli/options/progress_options.h"
#include "apps/cli/terminal/progress_line.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/limits.h"
#include "luminal/base/text/json_text.h"
#include "luminal/driver/calibrate/calibrate.h"
#include "luminal/driver/options/calibration_file.h"
#include "luminal/driver/options/machine_peaks.h"
#include "luminal/machine/kept_peaks.h"
#include "luminal/machine/measure_peaks.h"

namespace luminal::cli {
namespace {

struct TuneCalibrateArguments {
  CalibrateOptions calibrate;
  bool json = false;
  ProgressArguments progress;
};

// Factors are relative to the peaks, so these have to be measured first.
void measure_missing_peaks() {
  const auto threads = static_cast<int>(base::usable_threads());
  if (!machine::read_kept_peaks(threads)) machine::keep(machine::measure_peaks(threads));
}

search::ModelError error_of(const std::vector<const CalibratedKernel*>& kernels,
                            double CalibratedKernel::* modelled) {
  std::vector<search::TimePair> times;
  for (const CalibratedKernel* kernel : kernels) {
    times.push_back({kernel->*modelled, kernel->measured_seconds});
  }
  return search::error_of(times);
}

void print_line(const std::string& kind, const search::ModelError& before,
                const search::ModelError& after) {
  std::cout << fmt::format("{:<24} {:>7}  {:>6.2f} → {:<6.2f} {:>8.3f} → {:.3f}\n", kind,
                           before.kernels, before.median_ratio, after.median_ratio,
                           before.rank_correlation, after.rank_correlation);
}

void print_lines(const CalibrateResult& result, const std::filesystem::path& file) {
  std::cout << fmt::format("{:<24} {:>7}  {:>15} {:>16}\n", "kernels held out", "number",
                           "off (median)", "rank correlation");
  std::map<std::string, std::vector<const CalibratedKernel*>> kinds;
  for (const CalibratedKernel& kernel : result.kernels) kinds[kernel.kind].push_back(&kernel);
  for (const auto& [kind, kernels] : kinds) {
    print_line(kind, error_of(kernels, &CalibratedKernel::before_seconds),
               error_of(kernels, &CalibratedKernel::held_out_seconds));
  }
  print_line("all", result.calibration.before, result.calibration.after);
  if (result.left_out > 0) {
    std::cout << fmt::format("{} cases were left out: --seconds was too short for them\n",
                             result.left_out);
  }
  if (result.others > machine::kMostOthers) {
    std::cout << fmt::format(
        "other programs used up to {:.1f} cores meanwhile: run it again when they have ended\n",
        result.others);
  }
  std::cout << fmt::format(
      "calibrated by {} kernels, {} of them from records, {} of plans by a first fit, in {:.0f} s: "
      "{}\n",
      result.calibration.samples, result.from_records, result.planned_again, result.seconds,
      file.string());
}

void write_error(base::JsonText& json, const char* name, const search::ModelError& error) {
  json.key(name);
  json.begin_object(base::JsonText::Layout::OnOneLine);
  json.field("median_ratio", error.median_ratio);
  json.field("rank_correlation", error.rank_correlation);
  json.end_object();
}

void print_calibration_json(const CalibrateResult& result, const std::filesystem::path& file) {
  base::JsonText json;
  json.begin_object();
  json.field("file", file.string());
  json.field("seconds", result.seconds);
  json.field("kernels", result.calibration.samples);
  json.field("from_records", result.from_records);
  json.field("planned_again", result.planned_again);
  json.field("left_out", result.left_out);
  json.field("others_cores", result.others);
  write_error(json, "before", result.calibration.before);
  write_error(json, "held_out", result.calibration.after);
  json.key("cases");
  json.begin_array();
  for (const CalibratedKernel& kernel : result.kernels) {
    json.begin_object(base::JsonText::Layout::OnOneLine);
    json.field("name", kernel.name);
    json.field("kind", kernel.kind);
    json.field("measured_seconds", kernel.measured_seconds);
    json.field("before_seconds", kernel.before_seconds);
    json.field("held_out_seconds", kernel.held_out_seconds);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  std::cout << json.text() << "\n";
}

void run_calibrate(TuneCalibrateArguments& options) {
  CompileOptions& compile = options.calibrate.compile;
  measure_missing_peaks();
  const machine::Peaks peaks = machine_peaks(compile.storage, compile.backend.target);
  ProgressLine line(progress_mode(options.progress.verbose, options.progress.quiet));
  options.calibrate.progress = [&](int done, int total, const std::string& name) {
    line.show_share("calibrate", done, total, "kernels: " + name);
  };
  const CalibrateResult result = calibrate(peaks, options.calibrate);
  line.clear();
  keep(kept_calibration(result.calibration, peaks, compile.backend.target), compile.backend.target);
  const std::filesystem::path file = calibration_file(peaks.threads, compile.backend.target);
  options.json ? print_calibration_json(result, file) : print_lines(result, file);
}

}  // namespace

void define_tune_calibrate(CLI::App& app) {
  auto options = std::make_shared<TuneCalibrateArguments>();
  CompileOptions& compile = options->calibrate.compile;
  app.footer(
      "Times small kernels of all kinds and fits the cost model to them and to the kernels\n"
      "in the tuning records. Compiles from then on plan by the fitted model; see docs/search.md");
  app.add_option("--seconds", options->calibrate.seconds, "Seconds that timing may take")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("--target", compile.backend.target, "As in `luminal compile`");
  app.add_option("--records", compile.storage.records,
                 "File of tuning records, or 'none' (default: the user's)")
      ->type_name("FILE");
  app.add_flag("--json", options->json, "Print the result as JSON, each kernel with its times");
  options->progress.add_to(app);
  app.callback([options] { run_calibrate(*options); });
}

}  // namespace luminal::cli
