// luminal bench: measures primitives and patterns against the machine's peaks, compares a build
// with an earlier one, or compares fusion policies on a whole model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/bench/kernels/suite.h"
#include "apps/cli/machine/bench_fusion.h"
#include "apps/cli/machine/bench_progress.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/json_result.h"
#include "apps/cli/options/progress_options.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/limits.h"
#include "luminal/driver/compile.h"

namespace luminal::cli {
namespace {

using bench::Level;
using bench::Size;

// Options as given; empty: the suite's default.
struct BenchArguments {
  std::string filter;
  std::vector<std::string> sizes, dtypes, backends = {"cpu"};
  std::vector<int> threads;
  std::string out = "bench";
  double min_seconds = 0;
  int rounds = 30;
  double margin = 0.05;
  bool quick = false;
  bool list = false;
  bool json = false;
  ProgressArguments progress;
  std::string baseline, compare;
  std::string planted;
};

constexpr double kMinSeconds = 0.2, kQuickMinSeconds = 0.04;
constexpr double kPeakSeconds = 0.15, kQuickPeakSeconds = 0.05;
constexpr int kMostThreads = 1024;

CLI::ValidationError unknown(const char* option, const std::string& given,
                             const std::string& known) {
  return CLI::ValidationError(option, fmt::format("there is no '{}'; known: {}", given, known));
}

std::vector<Size> sizes_of(const BenchArguments& options) {
  if (options.sizes.empty()) {
    if (options.quick) return {Size::L1, Size::L3};
    return {Size::L1, Size::L2, Size::L3, Size::Dram};
  }
  std::vector<Size> sizes;
  for (const std::string& given : options.sizes) {
    const auto found =
        std::ranges::find_if(bench::kSizes, [&](Size s) { return name(s) == given; });
    if (found == std::end(bench::kSizes)) {
      throw unknown("--sizes", given, "tiny, l1, l2, l3, dram");
    }
    sizes.push_back(*found);
  }
  return sizes;
}

std::vector<DType> dtypes_of(const BenchArguments& options) {
  if (options.dtypes.empty()) {
    if (options.quick) return {DType::F32, DType::BF16};
    return {std::begin(bench::kDTypes), std::end(bench::kDTypes)};
  }
  std::vector<DType> dtypes;
  for (const std::string& given : options.dtypes) {
    const auto found =
        std::ranges::find_if(bench::kDTypes, [&](DType d) { return luminal::name(d) == given; });
    if (found == std::end(bench::kDTypes)) throw unknown("--dtype", given, "f32, bf16, f16, i8");
    dtypes.push_back(*found);
  }
  return dtypes;
}

std::vector<int> threads_of(const BenchArguments& options) {
  if (options.threads.empty()) {
    const auto all = static_cast<int>(base::usable_threads());
    if (options.quick || all == 1) return {all};
    return {1, all};
  }
  for (int count : options.threads) {
    if (count < 1 || count > kMostThreads) {
      throw CLI::ValidationError("--threads",
                                 fmt::format("from 1 to {}, not {}", kMostThreads, count));
    }
  }
  return options.threads;
}

std::vector<std::string> backends_of(const BenchArguments& options) {
  const std::vector<std::string> known = backend_names();
  for (const std::string& given : options.backends) {
    if (std::ranges::find(known, given) == known.end()) {
      throw unknown("--backend", given, fmt::format("{}", fmt::join(known, ", ")));
    }
  }
  return options.backends;
}

// "add/l1/f32/cpu/t2=0.15"
void read_planted(const std::string& given, bench::CompareSettings& settings) {
  if (given.empty()) return;
  const size_t at = given.rfind('=');
  double share = 0;
  if (at != std::string::npos) {
    std::from_chars(given.data() + at + 1, given.data() + given.size(), share);
  }
  if (!(share > 0 && share <= 10)) {
    throw CLI::ValidationError("--plant-slowdown", "expects CASE=SHARE, as add/l1/f32/cpu/t1=0.15");
  }
  settings.planted_case = given.substr(0, at);
  settings.planted_share = share;
}

// The command that repeats this run.
std::string command_of(Level level, const BenchArguments& options) {
  std::string text = fmt::format("luminal bench {}", name(level));
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {} {}", option, value);
  };
  if (options.quick) text += " --quick";
  add("--filter", options.filter);
  add("--sizes", fmt::format("{}", fmt::join(options.sizes, ",")));
  add("--dtype", fmt::format("{}", fmt::join(options.dtypes, ",")));
  add("--threads", fmt::format("{}", fmt::join(options.threads, ",")));
  const std::string backends = fmt::format("{}", fmt::join(options.backends, ","));
  if (backends != "cpu") add("--backend", backends);
  if (options.min_seconds > 0) add("--min-time", fmt::format("{}", options.min_seconds));
  add("--compare", options.compare);
  add("--plant-slowdown", options.planted);
  add("--out", options.out);
  return text;
}

void run(Level level, const BenchArguments& options) {
  if (!options.planted.empty() && options.compare.empty()) {
    throw CLI::ValidationError("--plant-slowdown", "is for tests of --compare; add --compare");
  }
  bench::SuiteOptions suite;
  suite.selection = {.level = level,
                     .filter = options.filter,
                     .sizes = sizes_of(options),
                     .dtypes = dtypes_of(options),
                     .threads = threads_of(options),
                     .backends = backends_of(options)};
  suite.run.min_seconds = options.min_seconds > 0 ? options.min_seconds
                          : options.quick         ? kQuickMinSeconds
                                                  : kMinSeconds;
  suite.peak_seconds =
      std::min(options.quick ? kQuickPeakSeconds : kPeakSeconds, suite.run.min_seconds);
  suite.out = options.out;
  suite.command = command_of(level, options);
  if (options.list && options.json) {
    nlohmann::ordered_json cases = nlohmann::ordered_json::array();
    for (const bench::Task& task : bench::tasks(suite.selection)) {
      cases.push_back({{"name", task.name()}, {"shape", task.of->shape}});
    }
    return print_json_result(cases);
  }
  if (options.list) {
    for (const bench::Task& task : bench::tasks(suite.selection)) {
      std::cout << fmt::format("{:<34} {}\n", task.name(), task.of->shape);
    }
    return;
  }
  suite.json = options.json;
  ProgressLine line(progress_mode(options.progress.verbose, options.progress.quiet));
  std::ostringstream result;  // printed after the progress line is cleared
  const bench::Progress progress = shown_on(line);
  bool fine = true;
  if (!options.baseline.empty()) {
    run_baseline(suite, options.baseline, result, progress);
  } else if (options.compare.empty()) {
    run_suite(suite, result, progress);
  } else {
    bench::CompareSettings settings;
    settings.rounds = options.rounds;
    settings.margin = options.margin;
    read_planted(options.planted, settings);
    fine = run_compare(suite, options.compare, settings, result, progress);
  }
  line.clear();
  std::cout << result.str();
  if (!fine) {
    throw UserError("bench: something is slower than the baseline, or computes something else");
  }
}

void define_level(CLI::App& bench, Level level, const char* summary) {
  auto options = std::make_shared<BenchArguments>();
  CLI::App& app = *bench.add_subcommand(bench::name(level), summary);
  const std::string stem = bench::file_stem(level),
                    command = std::string("luminal bench ") + name(level);
  app.add_option(
      "--filter", options->filter,
      "Only cases whose name contains this text; comma-separated for several: softmax,matmul/l3");
  app.add_option("--sizes", options->sizes,
                 "Sizes, comma-separated: l1, l2, l3 (fit that cache), dram (main memory), tiny "
                 "(default: all but tiny)")
      ->delimiter(',');
  app.add_option("--dtype", options->dtypes,
                 "Data types, comma-separated: f32, bf16, f16, i8 (default: all)")
      ->delimiter(',');
  app.add_option(
         "-t,--threads", options->threads,
         "Numbers of threads, comma-separated (default: 1 and all that this process may use)")
      ->delimiter(',');
  app.add_option("--backend", options->backends,
                 "Backends, comma-separated: cpu, interp (default: cpu)")
      ->delimiter(',');
  app.add_option("--min-time", options->min_seconds,
                 fmt::format("Seconds of samples per case (default: {})", kMinSeconds))
      ->check(CLI::Range(0.001, 100.0));
  app.add_flag(
      "--quick", options->quick,
      "Run for a minute or less: sizes l1 and l3, f32 and bf16, all threads, short samples");
  app.add_option(
      "-o,--out", options->out,
      fmt::format("Folder for {}_metrics.json, {}_report.json and bench.html (default: ./bench)",
                  stem, stem));
  app.add_flag("--list", options->list, "List the cases without measuring");
  add_json(app, options->json);
  options->progress.add_to(app);
  const char* comparing = "Comparing builds";
  auto* baseline =
      app.add_option("--baseline", options->baseline,
                     "Save this build's plans and code of the cases to a folder, without measuring")
          ->type_name("DIR")
          ->group(comparing);
  app.add_option("--compare", options->compare,
                 "Run a baseline's code and this build's in turns; print a verdict per case, with "
                 "exit code 1 if one is slower")
      ->type_name("DIR")
      ->excludes(baseline)
      ->group(comparing);
  app.add_option("--rounds", options->rounds,
                 "Rounds of the first look at a case; undecided ones get up to seven times as many")
      ->check(CLI::Range(10, 10000))
      ->capture_default_str()
      ->group(comparing);
  app.add_option("--margin", options->margin,
                 "Relative difference up to which times count as equal")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(comparing);
  // Only for tests of --compare, so --help doesn't list it: see docs/benchmarking.md.
  app.add_option("--plant-slowdown", options->planted)->group("");
  app.footer(fmt::format(R"(Examples:
  {0} --quick
  {0} --filter {1} --dtype f32,bf16 --threads 1
  {0} --quick --baseline ~/luminal-before     with the build before a change
  {0} --compare ~/luminal-before              with the one after it)",
                         command, level == Level::Micro ? "exp2,sum" : "softmax,matmul"));
  app.callback([level, options] { run(level, *options); });
}

}  // namespace

void define_bench(CLI::App& app) {
  app.require_subcommand(1);
  define_level(
      app, Level::Micro,
      "Measure single primitives: Exp2 … Sqrt, Add … LessThan, Gather … Iota, Sum, Prod, Max");
  define_level(app, Level::Patterns,
               "Measure MatMul, Softmax, GeLU, Attention, norms, SwiGLU, Add + RMSNorm, Conv2d");
  define_bench_fusion(*app.add_subcommand(
      "fusion", "Compare the fusion policies never, always and measured on a whole model"));
}

}  // namespace luminal::cli
