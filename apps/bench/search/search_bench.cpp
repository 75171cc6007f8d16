// Searches a graph, the case, with rising budgets, and runs each result in turns with that of the
// smaller budget. Settings:
//   budgets   of the searches, seconds, ascending
//   records   file of tuning records; "": a new one
//   cache     folder for compiled kernels; "": a new one
//   retime    seconds for running two plans in turns
//   threads   0: all that this process may use
// Answers have the seconds of each compile, and in `searches` what each found: of_smaller is the
// ratio of its time to that of the smaller budget's plan, of_model to that without a search.
#include <iostream>
#include <string>
#include <unordered_set>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/ratio_json.h"
#include "apps/bench/harness/timed_runs.h"
#include "apps/bench/harness/turns.h"
#include "apps/bench/search/search_graphs.h"
#include "luminal/base/os/paths.h"
#include "luminal/luminal.h"
#include "luminal/version.h"

namespace luminal {
namespace {

constexpr double kConfidence = 0.99;

struct Options {
  std::vector<double> budgets;
  std::string records, cache;
  double retime_seconds;
  int threads;
};

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
  const double start = bench::wall_seconds();
  Executable executable = compile(*of.graph, asked);
  const double taken = bench::wall_seconds() - start;
  return {std::move(executable), std::move(report), taken};
}

// The time of b divided by that of a.
bench::Json ratio(Executable& a, Executable& b, const Bindings& sizes, double seconds) {
  const auto side = [&](Executable& executable) {
    return [&](int) { return bench::timed([&] { executable.run(sizes); }); };
  };
  for (int warm_up = 0; warm_up < 2; ++warm_up) {
    a.run(sizes);
    b.run(sizes);
  }
  const bench::TurnTimes times =
      bench::take_turns({side(a), side(b)}, {.least = 21, .most = 2001, .seconds = seconds});
  return bench::ratio_json(bench::ratios_of(times[1], times[0]), kConfidence);
}

bench::Json measure(const std::string& of, const Options& options) {
  const SearchGraph graph = build_search_graph(of);
  Searched model = searched(graph, options, SearchMode::Modelled, 0);
  std::vector<double> seconds;
  bench::Json searches = bench::Json::array();
  Searched* before = &model;
  std::unique_ptr<Searched> kept;
  for (double budget : options.budgets) {
    auto now = std::make_unique<Searched>(searched(graph, options, SearchMode::Measured, budget));
    const SearchReport& search = now->report.searches.back();
    std::unordered_set<std::string> distinct;
    for (const KernelReport& kernel : now->report.kernels) distinct.insert(kernel.text);
    seconds.push_back(now->seconds);
    searches.push_back({{"budget", budget},
                        {"candidates", search.candidates},
                        {"timed", search.timed},
                        {"remembered", search.remembered},
                        {"compared", search.compared},
                        {"stopped", search.stopped},
                        {"kernels", now->report.kernels.size() - now->report.n_packing()},
                        {"distinct_kernels", distinct.size()},
                        {"egraph_nodes", now->report.egraph_nodes},
                        {"comparisons", search.comparisons},
                        {"of_smaller", ratio(before->executable, now->executable, graph.sizes,
                                             options.retime_seconds)},
                        {"of_model", ratio(model.executable, now->executable, graph.sizes,
                                           options.retime_seconds)}});
    std::cerr << searches.back().dump() << std::endl;
    kept = std::move(now);  // large models don't fit into memory twice
    before = kept.get();
  }
  return {{"seconds", seconds}, {"searches", searches}};
}

bench::Json answer(const bench::Command& command) {
  const bench::Json& settings = command.settings;
  Options options{.budgets = settings.at("budgets"),
                  .records = settings.at("records"),
                  .cache = settings.at("cache"),
                  .retime_seconds = settings.at("retime"),
                  .threads = settings.at("threads")};
  const base::TemporaryFolder folder;
  if (options.records.empty()) options.records = (folder.path() / "records.sqlite").string();
  if (options.cache.empty()) options.cache = (folder.path() / "cache").string();
  return measure(command.of, options);
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  using namespace luminal;
  return bench::bench_main({.name = "luminal",
                            .version = LUMINAL_VERSION,
                            .cases = search_graph_names(),
                            .settings = {{"budgets", {5.0, 20.0, 60.0}},
                                         {"records", ""},
                                         {"cache", ""},
                                         {"retime", 8.0},
                                         {"threads", 0}},
                            .answer = answer},
                           argc, argv);
}
