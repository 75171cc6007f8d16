// Whether a search finds the faster of two ways to compute a graph, the case: both are forced, and
// run in turns with the plan that the model chooses and those of measured searches. A plan takes
// the faster way if it is the same, or at most `tolerance` slower. Settings:
//   runs       measured searches, with seeds from 1 on
//   budget     of each, seconds
//   turns      seconds for running all plans in turns
//   tolerance  beyond the faster way's time
//   cache      folder for compiled kernels; "": a new one
//   threads    0: all that this process may use
// Answers have the seconds of the faster way by round, each way's time and facts, `apart` (the
// ratio of the slower way to the faster), and of the plans `of_faster`, `of_way` (ratios to both),
// `takes` and `explained`: whether explain shows what they were chosen over. A command may have the
// graph written to a file, as text.
#include <algorithm>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/ratio_json.h"
#include "apps/bench/harness/timed_runs.h"
#include "apps/bench/search/measured_plans.h"
#include "apps/bench/search/two_ways_graphs.h"
#include "luminal/base/os/paths.h"
#include "luminal/graph/text_form.h"
#include "luminal/version.h"

namespace luminal {
namespace {

constexpr double kConfidence = 0.99;
constexpr double kMostDifference = 1e-2;  // of results; sums are rounded in another order

struct Settings {
  int runs;
  double budget, turns, tolerance;
  std::string cache;
  int threads;
};

// Whether `luminal explain` shows what a choice of this kind was taken over, with its time.
bool explains(const CompileReport& report, Choice choice) {
  const auto shows = [&](const RivalReport& rival) {
    return rival.why.empty() && rival.other.empty() == (choice == Choice::Cuts);
  };
  if (choice == Choice::Schedule) {
    return std::ranges::any_of(report.searches, [](const SearchReport& search) {
      return std::ranges::any_of(search.comparisons, [](const std::string& line) {
        return line.find("; over ") != std::string::npos;
      });
    });
  }
  return std::ranges::any_of(report.kernels, [&](const KernelReport& kernel) {
    switch (choice) {
      case Choice::Terms:
      case Choice::Cuts:
        return std::ranges::any_of(kernel.rivals, shows);
      case Choice::Library:
        return kernel.library_us > 0;
      case Choice::Schedule:
        break;  // above: searches name what they took a schedule over
    }
    return false;
  });
}

// All plans of a graph: the ways first, then the model's, then searched ones. Equal plans are one.
class Plans {
 public:
  Plans(const TwoWays& of, const Settings& settings) : of_(of), settings_(settings) {}

  void compile_all() {
    for (const Way& way : of_.ways) add(of_way(way));
    model_ = add(of_search(SearchMode::Modelled, 1));
    for (int run = 0; run < settings_.runs; ++run) {
      const auto seed = static_cast<uint64_t>(run) + 1;
      searched_.push_back(add(of_search(SearchMode::Measured, seed)));
    }
    if (plans_[0]->form == plans_[1]->form) {
      throw UserError("the two ways of '" + of_.name + "' are one plan on this machine");
    }
    const double apart = difference(*plans_[0], *plans_[1]);
    if (!(apart < kMostDifference)) {
      throw UserError("the two ways of '" + of_.name + "' compute different results");
    }
  }

  bench::Json measure() {
    std::vector<MeasuredPlan*> sides;
    for (const auto& plan : plans_) sides.push_back(plan.get());
    times_ = run_in_turns(sides, settings_.turns);
    faster_ = bench::median(times_[0]) <= bench::median(times_[1]) ? 0 : 1;
    bench::Json ways = bench::Json::array(), searched = bench::Json::array();
    for (size_t way : {0, 1}) {
      bench::Json json = {{"what", of_.ways[way].what}, {"us", bench::median(times_[way]) * 1e6}};
      json.update(facts_of(*plans_[way]));
      ways.push_back(json);
    }
    for (const Chosen& chosen : searched_) searched.push_back(json_of(chosen));
    return {{"seconds", times_[faster_]},       {"ways", ways},
            {"faster", of_.ways[faster_].what}, {"apart", of_way(1 - faster_, faster_)},
            {"modelled", json_of(model_)},      {"searched", searched}};
  }

 private:
  CompileOptions options() const {
    CompileOptions options;
    options.backend.threads = settings_.threads;
    options.storage.cache_folder = settings_.cache;
    options.storage.records = "none";
    options.search.mode = SearchMode::Modelled;
    options.inspect.find_rivals = true;
    return options;
  }

  std::unique_ptr<MeasuredPlan> of_way(const Way& way) const {
    CompileOptions asked = options();
    asked.plan = way.plan;
    asked.backend.library = way.library;
    Graph graph;
    way.build(graph);
    return measured_plan(way.what, graph, asked, way.change);
  }

  // A search that remembers nothing of those before it.
  std::unique_ptr<MeasuredPlan> of_search(SearchMode mode, uint64_t seed) const {
    const base::TemporaryFolder folder;
    CompileOptions asked = options();
    asked.plan.numerics = of_.numerics;
    asked.backend.library = of_.library;
    asked.search.mode = mode;
    asked.search.seed = seed;
    asked.search.seconds = settings_.budget;
    asked.search.candidates = 10'000;
    asked.search.keep_busy_times = true;
    if (mode == SearchMode::Measured) {
      asked.storage.records = (folder.path() / "records.sqlite").string();
    }
    Graph graph;
    of_.build(graph);
    return measured_plan("seed " + std::to_string(seed), graph, asked, nullptr);
  }

  struct Chosen {
    size_t plan;  // its number; that of an equal plan where there is one
    bool explained;
  };

  Chosen add(std::unique_ptr<MeasuredPlan> plan) {
    const bool explained = explains(plan->report, of_.choice);
    const bool is_way = plans_.size() < of_.ways.size();
    for (size_t known = 0; known < plans_.size() && !is_way; ++known) {
      if (plans_[known]->form == plan->form) return {known, explained};
    }
    plans_.push_back(std::move(plan));
    return {plans_.size() - 1, explained};
  }

  bench::Json of_way(size_t plan, size_t way) const {
    return bench::ratio_json(bench::ratios_of(times_[plan], times_[way]), kConfidence);
  }

  bench::Json json_of(const Chosen& chosen) const {
    const size_t plan = chosen.plan;
    const bench::Json ratio = of_way(plan, faster_);
    const double of_faster = ratio.at("ratio");
    bench::Json json = {{"plan", plan},
                        {"of_faster", ratio},
                        {"of_way", {of_way(plan, 0), of_way(plan, 1)}},
                        {"takes", plan == faster_ || of_faster <= 1 + settings_.tolerance},
                        {"us", bench::median(times_[plan]) * 1e6},
                        {"explained", chosen.explained}};
    json.update(facts_of(*plans_[plan]));
    return json;
  }

  const TwoWays& of_;
  const Settings& settings_;
  std::vector<std::unique_ptr<MeasuredPlan>> plans_;
  Chosen model_ = {};
  std::vector<Chosen> searched_;
  bench::TurnTimes times_;
  size_t faster_ = 0;
};

// For `luminal explain`.
void write_graph(const TwoWays& of, const std::string& file) {
  Graph graph;
  of.build(graph);
  const std::string text = print_graph(graph);
  bench::write_bytes(file, std::as_bytes(std::span(text)));
}

bench::Json answer(const bench::Command& command) {
  const bench::Json& given = command.settings;
  Settings settings{.runs = given.at("runs"),
                    .budget = given.at("budget"),
                    .turns = given.at("turns"),
                    .tolerance = given.at("tolerance"),
                    .cache = given.at("cache"),
                    .threads = given.at("threads")};
  const base::TemporaryFolder folder;
  if (settings.cache.empty()) settings.cache = (folder.path() / "cache").string();
  const TwoWays& of = two_ways(command.of);
  if (!command.write.empty()) write_graph(of, command.write);
  Plans plans(of, settings);
  plans.compile_all();
  return plans.measure();
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  using namespace luminal;
  return bench::bench_main({.name = "luminal",
                            .version = LUMINAL_VERSION,
                            .cases = two_ways_names(),
                            .settings = {{"runs", 10},
                                         {"budget", 5.0},
                                         {"turns", 3.0},
                                         {"tolerance", 0.1},
                                         {"cache", ""},
                                         {"threads", 0}},
                            .answer = answer},
                           argc, argv);
}
