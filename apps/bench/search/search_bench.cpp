// Searches a graph with rising budgets and runs each result in turns with that of the smaller
// budget; prints JSON on one line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>

#include "apps/bench/search/search_graphs.h"
#include "luminal/base/os/paths.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string graph = "mlp";
  std::vector<double> budgets = {5, 20, 60};
  std::string records;
  std::string cache;
  double retime_seconds = 8;
  int threads = 0;
};

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Searched {
  Executable executable;
  CompileReport report;
  double seconds;
};

Searched searched(const SearchGraph& of, const Options& options, SearchMode mode, double budget) {
  CompileReport report;
  CompileOptions asked;
  asked.backend.threads = options.threads;
  asked.storage.cache_folder = options.cache;
  asked.plan.typical_sizes = of.sizes;
  asked.report = &report;
  asked.search.mode = mode;
  asked.search.seconds = budget;
  asked.search.candidates = 10'000;
  asked.storage.records = options.records;
  const auto start = Clock::now();
  Executable executable = compile(*of.graph, asked);
  const double taken = since(start);
  return {std::move(executable), std::move(report), taken};
}

struct Ratio {
  double value, low, high;  // 99 % confidence interval of the median
  int rounds;
};

// The time of b divided by that of a.
Ratio ratio(Executable& a, Executable& b, const Bindings& sizes, double seconds) {
  const auto timed = [&](Executable& executable) {
    const auto start = Clock::now();
    executable.run(sizes);
    return since(start);
  };
  for (int i = 0; i < 2; ++i) {
    timed(a);
    timed(b);
  }
  std::vector<double> ratios;
  const auto start = Clock::now();
  while (ratios.size() < 21 || (since(start) < seconds && ratios.size() < 2001)) {
    const bool first = ratios.size() % 2 == 0;
    const double early = timed(first ? a : b);
    const double late = timed(first ? b : a);
    ratios.push_back(first ? late / early : early / late);
  }
  std::ranges::sort(ratios);
  const auto n = static_cast<double>(ratios.size());
  const auto reach = static_cast<size_t>(std::ceil(2.576 * std::sqrt(n) / 2));
  const size_t middle = ratios.size() / 2;
  return {ratios[middle], ratios[middle - std::min(reach, middle)],
          ratios[std::min(middle + reach, ratios.size() - 1)], static_cast<int>(ratios.size())};
}

nlohmann::json json_of(const Ratio& r) {
  return {{"ratio", r.value}, {"low", r.low}, {"high", r.high}, {"rounds", r.rounds}};
}

nlohmann::json measure(const Options& options) {
  const SearchGraph graph = build_search_graph(options.graph);
  Searched model = searched(graph, options, SearchMode::Modelled, 0);
  nlohmann::json runs = nlohmann::json::array();
  Searched* before = &model;
  std::vector<std::unique_ptr<Searched>> kept;
  for (double budget : options.budgets) {
    auto now = std::make_unique<Searched>(searched(graph, options, SearchMode::Measured, budget));
    const SearchReport& search = now->report.searches.back();
    std::unordered_set<std::string> distinct;
    for (const KernelReport& kernel : now->report.kernels) distinct.insert(kernel.text);
    runs.push_back(
        {{"budget", budget},
         {"seconds", now->seconds},
         {"candidates", search.candidates},
         {"timed", search.timed},
         {"remembered", search.remembered},
         {"compared", search.compared},
         {"stopped", search.stopped},
         {"kernels", now->report.kernels.size() - now->report.n_packing()},
         {"distinct_kernels", distinct.size()},
         {"egraph_nodes", now->report.egraph_nodes},
         {"comparisons", search.comparisons},
         {"of_smaller",
          json_of(ratio(before->executable, now->executable, graph.sizes, options.retime_seconds))},
         {"of_model",
          json_of(ratio(model.executable, now->executable, graph.sizes, options.retime_seconds))}});
    std::cerr << runs.back().dump() << std::endl;
    kept.clear();  // large models don't fit into memory twice
    kept.push_back(std::move(now));
    before = kept.back().get();
  }
  return {{"graph", options.graph}, {"runs", runs}};
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  luminal::Options options;
  CLI::App app("Searches a graph with rising budgets, and runs what each found in turns");
  app.add_option("--graph", options.graph,
                 fmt::format("Graph: {}", fmt::join(luminal::search_graph_names(), ", ")))
      ->capture_default_str();
  app.add_option("--budgets", options.budgets,
                 "Search budgets in seconds, ascending, comma-separated")
      ->delimiter(',');
  app.add_option("--records", options.records, "File of tuning records (default: a new one)");
  app.add_option("--cache", options.cache, "Folder for compiled kernels (default: a new one)");
  app.add_option("--retime", options.retime_seconds, "Seconds for running two plans in turns")
      ->capture_default_str();
  app.add_option("-t,--threads", options.threads,
                 "Number of threads; 0: all that this process may use (default: 0)");
  CLI11_PARSE(app, argc, argv);
  try {
    const luminal::base::TemporaryFolder folder;
    if (options.records.empty()) options.records = (folder.path() / "records.sqlite").string();
    if (options.cache.empty()) options.cache = (folder.path() / "cache").string();
    std::cout << luminal::measure(options).dump() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "search_bench: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
