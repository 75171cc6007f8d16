#include "apps/bench/kernels/baseline.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/bench/harness/files.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/cpu.h"
#include "luminal/base/os/paths.h"
#include "luminal/base/source_fingerprint.h"
#include "luminal/base/text/json_text.h"
#include "luminal/driver/bundle.h"
#include "luminal/version.h"

namespace luminal::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kBaselineFormat = 1;

fs::path list_file(const fs::path& folder, Level level) {
  return folder / fmt::format("baseline-{}.json", name(level));
}

// "softmax/l2/bf16/cpu/t2" → "softmax-l2-bf16-cpu-t2.bundle"
std::string file_of(std::string task) {
  for (char& c : task) c = c == '/' ? '-' : c;
  return task + ".bundle";
}

void check_private(const fs::path& folder) {
  if (const std::string why = base::why_not_private(folder); !why.empty()) {
    throw UserError(fmt::format(
        "baseline {}: {}; a baseline is code that will run: keep it where only you can write",
        folder.string(), why));
  }
}

void make_private_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::create_directories(folder, error)) {
    fs::permissions(folder, fs::perms::owner_all, error);
  }
  if (!fs::is_directory(folder)) {
    throw UserError(fmt::format("--baseline {}: can't make this folder{}", folder.string(),
                                error ? ": " + error.message() : ""));
  }
  check_private(folder);
}

std::string text_of(const Baseline& baseline) {
  base::JsonText json;
  json.begin_object();
  json.field("format", kBaselineFormat);
  json.field("level", name(baseline.level));
  json.field("made_by", baseline.made_by);
  json.field("processor", baseline.processor);
  json.key("cases");
  json.begin_array();
  for (const BaselineCase& of : baseline.cases) {
    json.begin_object(base::JsonText::Layout::OnOneLine);
    json.field("name", of.name);
    json.field("file", of.file);
    json.field("threads", of.threads);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

}  // namespace

Baseline write_baseline(const fs::path& folder, Level level, const std::vector<Task>& tasks,
                        const Progress& progress) {
  make_private_folder(folder);
  Baseline baseline{
      .folder = folder,
      .level = level,
      .made_by = fmt::format("{} ({})", LUMINAL_VERSION, base::source_fingerprint().substr(0, 12)),
      .processor = base::cpu_info().name,
      .cases = {}};
  int64_t done = 0;
  for (const Task& task : tasks) {
    progress({"baseline", task.name(), done++, std::ssize(tasks)});
    if (task.backend != "cpu") continue;
    Graph graph;
    task.of->build(graph);
    CompileOptions options;
    options.backend.threads = task.threads;
    options.storage.cache_folder = "none";
    const BaselineCase of{
        .name = task.name(), .file = file_of(task.name()), .threads = task.threads};
    write_file(folder / of.file, make_bundle(graph, options));
    baseline.cases.push_back(of);
  }
  if (baseline.cases.empty()) {
    throw UserError(
        "--baseline: only the cpu backend compiles something to keep; add it to "
        "--backend");
  }
  write_file(list_file(folder, level), text_of(baseline));
  return baseline;
}

Baseline read_baseline(const fs::path& folder, Level level) {
  const fs::path list = list_file(folder, level);
  if (!fs::exists(list)) {
    throw UserError(fmt::format(
        "--compare {}: there is no {} in it; make one with: luminal bench {} --baseline {}",
        folder.string(), list.filename().string(), name(level), folder.string()));
  }
  check_private(folder);
  Baseline baseline{.folder = folder, .level = level, .made_by = {}, .processor = {}, .cases = {}};
  try {
    const auto json = nlohmann::json::parse(read_file(list));
    if (json.at("format") != kBaselineFormat) {
      throw UserError(fmt::format("{} has format {}, this build reads {}; make the baseline anew",
                                  list.string(), json.at("format").dump(), kBaselineFormat));
    }
    baseline.made_by = json.at("made_by");
    baseline.processor = json.at("processor");
    for (const auto& of : json.at("cases")) {
      const std::string file = of.at("file");
      if (file.find('/') != std::string::npos) {
        throw UserError(
            fmt::format("{}: '{}' isn't the name of a file in its folder", list.string(), file));
      }
      baseline.cases.push_back({.name = of.at("name"), .file = file, .threads = of.at("threads")});
    }
  } catch (const nlohmann::json::exception& error) {
    throw UserError(
        fmt::format("{} can't be read: {}; make the baseline anew", list.string(), error.what()));
  }
  return baseline;
}

std::string read_bundle(const Baseline& baseline, const BaselineCase& of) {
  return read_file(baseline.folder / of.file);
}

}  // namespace luminal::bench
