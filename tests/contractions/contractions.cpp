// luminal_contractions: matrix products and convolutions on the CPU back end against the f64
// interpreter. A case is its seed; --seed shows one whole. The last line printed is a summary in
// JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "luminal/graph/text_form.h"
#include "tests/contractions/contraction_graph.h"
#include "tests/contractions/contraction_trial.h"
#include "tests/support/on_threads.h"

namespace luminal::tests {
namespace {

struct Settings {
  uint64_t first_seed = 1;
  int64_t count = 150;
  std::optional<uint64_t> seed;
  int jobs = 0;
  bool progress = false;
  LibraryPolicy library = LibraryPolicy::Never;
  double most_unknown = 0.05;  // share of elements that bounds may say nothing about
};

struct Tally {
  std::atomic<int64_t> next = 0;
  std::mutex lock;  // for all that follows
  int64_t failed = 0, sampled = 0, with_panels = 0, by_library = 0;
  size_t kernels = 0, elements = 0, unknown = 0;
  std::map<std::string, std::map<std::string, int64_t>> features;
};

void work(const Settings& settings, Tally& tally) {
  for (int64_t k = tally.next++; k < settings.count; k = tally.next++) {
    const uint64_t seed = settings.first_seed + static_cast<uint64_t>(k);
    if (settings.progress) fmt::print(stderr, "{}\n", seed);
    const ContractionCase one = contraction_case(seed);
    const ContractionVerdict verdict = judge(one, settings.library);
    std::scoped_lock lock(tally.lock);
    tally.failed += verdict.failure.has_value();
    tally.sampled += verdict.sampled;
    tally.with_panels += verdict.in_panels > 0;
    tally.by_library += verdict.by_library > 0;
    tally.kernels += verdict.kernels;
    tally.elements += verdict.elements;
    tally.unknown += verdict.unknown;
    for (const auto& [feature, value] : features(one)) ++tally.features[feature][value];
    if (!verdict.failure) continue;
    fmt::print("FAILED seed {}: {}: {}\n", seed, text(one), *verdict.failure);
    std::fflush(stdout);
  }
}

// A set that lacks a layout says less than it claims.
std::vector<std::string> missing_features(const Tally& tally) {
  std::vector<std::string> missing;
  for (const auto& [feature, values] : all_features()) {
    for (const std::string& value : values) {
      const auto found = tally.features.find(feature);
      if (found == tally.features.end() || !found->second.contains(value)) {
        missing.push_back(feature + ": " + value);
      }
    }
  }
  return missing;
}

int run_all(const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  Tally tally;
  on_threads(settings.jobs, [&] { work(settings, tally); });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const double share = tally.elements == 0 ? 0
                                           : static_cast<double>(tally.unknown) /
                                                 static_cast<double>(tally.elements);
  std::vector<std::string> missing;
  if (settings.count >= 150) missing = missing_features(tally);
  if (settings.library == LibraryPolicy::Always && tally.by_library == 0) {
    missing.push_back("a product by the library");
  }
  const nlohmann::json summary = {{"cases", settings.count},
                                  {"failed", tally.failed},
                                  {"first_seed", settings.first_seed},
                                  {"kernels", tally.kernels},
                                  {"with_panels", tally.with_panels},
                                  {"by_library", tally.by_library},
                                  {"sampled", tally.sampled},
                                  {"elements", tally.elements},
                                  {"unknown_share", share},
                                  {"features", tally.features},
                                  {"missing_features", missing},
                                  {"seconds", taken.count()}};
  fmt::print("{}\n", summary.dump());
  return tally.failed == 0 && share <= settings.most_unknown && missing.empty() ? 0 : 1;
}

std::string plan_of(const ContractionCase& one) {
  std::ostringstream out;
  const ContractionGraph made = contraction_graph(one, extents_of(one));
  try {
    compile(*made.graph, {.backend = {.target = one.target()},
                          .plan = {.fusion = one.fusion},
                          .storage = {.cache_folder = "none"},
                          .inspect = {.print_after = "plan", .stop_after = "plan", .out = &out}});
  } catch (const CompileStopped&) {
  } catch (const std::exception& error) {
    out << "no plan: " << error.what() << "\n";
  }
  return print_graph(*made.graph) + out.str();
}

int show_one(const Settings& settings) {
  const ContractionCase one = contraction_case(*settings.seed);
  fmt::print("{}\n{}", text(one), plan_of(one));
  std::fflush(stdout);  // what follows may crash
  const ContractionVerdict verdict = judge(one, settings.library);
  if (verdict.failure) {
    fmt::print("FAILED seed {}: {}\n", *settings.seed, *verdict.failure);
    return 1;
  }
  fmt::print(
      "passed: {} kernels, {} weights in panels, {} by a library, {} elements{}, {} unknown\n",
      verdict.kernels, verdict.in_panels, verdict.by_library, verdict.elements,
      verdict.sampled ? " of more" : "", verdict.unknown);
  return 0;
}

}  // namespace
}  // namespace luminal::tests

int main(int argc, char** argv) {
  luminal::tests::Settings settings;
  CLI::App app("Compares contractions on the CPU with the f64 interpreter");
  app.add_option("--first-seed", settings.first_seed, "of the cases to try");
  app.add_option("--count", settings.count, "how many cases");
  app.add_option("--seed", settings.seed, "shows and tries this case alone");
  app.add_option("--jobs", settings.jobs, "threads; 0: one per core");
  app.add_flag("--progress", settings.progress, "prints each seed before it is tried: for crashes");
  app.add_flag_callback(
      "--library", [&] { settings.library = luminal::LibraryPolicy::Always; },
      "products by oneDNN wherever it can");
  CLI11_PARSE(app, argc, argv);
  try {
    return settings.seed ? luminal::tests::show_one(settings) : luminal::tests::run_all(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "luminal_contractions: {}\n", error.what());
    return 2;
  }
}
