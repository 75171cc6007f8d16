#include "apps/bench/kernels/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "luminal/base/errors.h"
#include "luminal/base/os/cpu.h"
#include "luminal/base/source_fingerprint.h"
#include "luminal/base/text/json_text.h"
#include "luminal/version.h"

namespace luminal::bench {
namespace {

using base::JsonText;

constexpr int kFormat = 1;
constexpr size_t kMostRuns = 60;  // kept in a history

void write_head(JsonText& json, Level level, const std::string& command, const std::string& when) {
  json.field("format", kFormat);
  json.field("level", name(level));
  json.field("version", this_build());
  json.field("when", when);
  json.field("command", command);
}

void write_machine(JsonText& json) {
  const base::CpuInfo& cpu = base::cpu_info();
  json.key("machine");
  json.begin_object();
  json.field("processor", cpu.name);
  json.field("cores", cpu.online_cores);
  std::vector<std::string> features;
  for (std::string_view feature : base::feature_names(cpu.features)) features.emplace_back(feature);
  json.field("features", features);
  json.key("caches");
  json.begin_object(JsonText::Layout::OnOneLine);
  json.field("l1_data", cpu.caches.l1_data);
  json.field("l2", cpu.caches.l2);
  json.field("l3", cpu.caches.l3);
  json.end_object();
  json.end_object();
}

void write_peaks(JsonText& json, const Peaks& peaks) {
  json.key("peaks");
  json.begin_object();
  json.key("bandwidth");
  json.begin_array();
  for (const Bandwidth& bandwidth : peaks.bandwidths) {
    json.begin_object(JsonText::Layout::OnOneLine);
    json.field("where", bandwidth.where);
    json.field("threads", bandwidth.threads);
    json.field("gb_per_second", bandwidth.gb_per_second);
    json.field("by", bandwidth.by);
    json.end_object();
  }
  json.end_array();
  json.key("compute");
  json.begin_array();
  for (const Compute& compute : peaks.computes) {
    json.begin_object(JsonText::Layout::OnOneLine);
    json.field("dtype", luminal::name(compute.dtype));
    json.field("threads", compute.threads);
    json.field("gflop_per_second", compute.gflop_per_second);
    json.field("by", compute.by);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_case(JsonText& json, const Measured& measured) {
  json.field("name", measured.name());
  json.field("op", measured.of.op);
  json.field("size", name(measured.of.size));
  json.field("dtype", luminal::name(measured.of.dtype));
  json.field("backend", measured.backend);
  json.field("threads", measured.threads);
  json.field("shape", measured.of.shape);
  json.field("bytes", measured.bytes);
  json.field("flops", measured.of.flops);
}

template <typename Value>
void write_samples(JsonText& json, const char* key, const std::vector<double>& seconds,
                   const Value& value) {
  json.key(key);
  json.begin_array(JsonText::Layout::OnOneLine);
  for (double taken : seconds) json.value(value(taken));
  json.end_array();
}

}  // namespace

std::string this_build() {
  return fmt::format("{} ({})", LUMINAL_VERSION, base::source_fingerprint().substr(0, 12));
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

std::string metrics_json(const Report& report) {
  JsonText json;
  json.begin_object();
  write_head(json, report.level, report.command, report.when);
  json.key("cases");
  json.begin_array();
  for (const Measured& measured : report.cases) {
    const Metrics metrics = metrics_of(measured, report.peaks);
    json.begin_object();
    write_case(json, measured);
    json.field("runs_per_sample", measured.runs_per_sample);
    const auto& seconds = measured.seconds;
    // Per sample; the peaks are those of the run.
    write_samples(json, "seconds", seconds, [](double s) { return s; });
    write_samples(json, "gb_per_second", seconds,
                  [&](double s) { return measured.bytes * 1e-9 / s; });
    write_samples(json, "gflop_per_second", seconds,
                  [&](double s) { return measured.of.flops * 1e-9 / s; });
    write_samples(json, "mbu", seconds, [&](double s) { return metrics.mbu * metrics.median / s; });
    write_samples(json, "mfu", seconds, [&](double s) { return metrics.mfu * metrics.median / s; });
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

std::string report_json(const Report& report) {
  JsonText json;
  json.begin_object();
  write_head(json, report.level, report.command, report.when);
  write_machine(json);
  json.key("settings");
  json.begin_object(JsonText::Layout::OnOneLine);
  json.field("min_seconds", report.min_seconds);
  json.end_object();
  write_peaks(json, report.peaks);
  json.key("cases");
  json.begin_array();
  for (const Measured& measured : report.cases) {
    const Metrics metrics = metrics_of(measured, report.peaks);
    json.begin_object(JsonText::Layout::OnOneLine);
    write_case(json, measured);
    json.field("kernels", measured.kernels);
    json.field("model_seconds", measured.model_seconds);
    json.field("bound_seconds", measured.bound_seconds);
    json.field("samples", measured.seconds.size());
    json.field("median_seconds", metrics.median);
    json.field("p10_seconds", metrics.p10);
    json.field("p90_seconds", metrics.p90);
    json.field("best_seconds", metrics.best);
    json.field("spread", metrics.spread);
    json.field("gb_per_second", metrics.gb_per_second);
    json.field("gflop_per_second", metrics.gflop_per_second);
    json.field("fits", metrics.fits);
    json.field("mbu", metrics.mbu);
    json.field("mfu", metrics.mfu);
    json.field("roof", metrics.roof);
    json.end_object();
  }
  json.end_array();
  json.key("left_out");
  json.begin_array();
  for (const LeftOut& of : report.left_out) {
    json.begin_object(JsonText::Layout::OnOneLine);
    json.field("name", of.name);
    json.field("why", of.why);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

std::string history_json(const std::string& before, const Report& report) {
  nlohmann::ordered_json history = {{"format", kFormat}, {"runs", nlohmann::ordered_json::array()}};
  if (!before.empty()) {
    try {
      history = nlohmann::ordered_json::parse(before);
      if (history.at("format") != kFormat || !history.at("runs").is_array()) {
        throw UserError("it has another format");
      }
    } catch (const std::exception& error) {
      throw UserError(fmt::format(
          "the history of earlier runs can't be read: {}; move it away, or choose another --out",
          error.what()));
    }
  }
  nlohmann::ordered_json run = {
      {"when", report.when}, {"version", this_build()}, {"roof", nlohmann::ordered_json::object()}};
  for (const Measured& measured : report.cases) {
    const double roof = metrics_of(measured, report.peaks).roof;
    run["roof"][measured.name()] = std::round(roof * 1e4) / 1e4;
  }
  auto& runs = history["runs"];
  runs.push_back(std::move(run));
  while (runs.size() > kMostRuns) runs.erase(runs.begin());
  return history.dump(1) + "\n";
}

std::string comparison_json(const Comparison& comparison) {
  JsonText json;
  json.begin_object();
  write_head(json, comparison.level, comparison.command, comparison.when);
  json.field("baseline_version", comparison.baseline->made_by);
  json.field("baseline_folder", comparison.baseline->folder.string());
  json.field("margin", comparison.settings.margin);
  json.field("confidence", comparison.settings.confidence);
  if (comparison.settings.planted_share > 0) {
    json.field("planted_slowdown",
               fmt::format("{} in {}, for a test", comparison.settings.planted_share,
                           comparison.settings.planted_case));
  }
  json.key("cases");
  json.begin_array();
  for (const Compared& of : comparison.cases) {
    json.begin_object(JsonText::Layout::OnOneLine);
    json.field("name", of.name);
    json.field("verdict", of.why_not.empty() ? name(of.judgement.verdict) : "not compared");
    if (of.why_not.empty()) {
      json.field("ratio", of.judgement.ratio);
      json.field("low", of.judgement.interval.low);
      json.field("high", of.judgement.interval.high);
      json.field("seconds_then", of.seconds_then);
      json.field("seconds_now", of.seconds_now);
      json.field("rounds", of.ratios.size());
      json.field("results_differ", of.results_differ);
    } else {
      json.field("why_not", of.why_not);
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

}  // namespace luminal::bench
