// luminal_random_graphs: random graphs on the CPU back end against the f64 interpreter. A graph is
// its seed; --seed shows one whole. The last line printed is a summary in JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "luminal/graph/text_form.h"
#include "luminal/graph/traverse.h"
#include "tests/random_graphs/trial.h"
#include "tests/support/on_threads.h"

namespace luminal::tests {
namespace {

struct Settings {
  uint64_t first_seed = 1;
  int64_t count = 500;
  std::optional<uint64_t> seed;
  int jobs = 0;
  bool shrink = true;
  bool progress = false;
  std::string target;
  bool check = false;
  bool finite = false;         // rules of class finite too
  bool loops = false;          // graphs that repeat themselves, see random_loop.h
  double most_unknown = 0.15;  // share of elements that bounds may say nothing about
};

struct Tally {
  std::atomic<int64_t> next = 0;
  std::mutex lock;  // for all that follows
  int64_t failed = 0;
  size_t nodes = 0, kernels = 0, elements = 0, unknown = 0, rolled = 0;
  std::map<std::string, int64_t> ops, dtypes;
};

const char* text_of(FusionPolicy policy) {
  switch (policy) {
    case FusionPolicy::Modelled:
      return "modelled";
    case FusionPolicy::Always:
      return "always";
    case FusionPolicy::Never:
      return "never";
    case FusionPolicy::Measured:
      return "measured";
    case FusionPolicy::Fixed:
      return "fixed";
  }
  return "";
}

std::string plan_of(const Trial& trial) {
  std::ostringstream out;
  try {
    compile(*trial.graph,
            {.backend = {.target = trial.target, .threads = trial.threads},
             .plan = {.fusion = trial.fusion, .numerics = trial.numerics, .rolling = trial.rolling},
             .storage = {.cache_folder = "none"},
             .inspect = {.print_after = "plan", .stop_after = "plan", .out = &out}});
  } catch (const CompileStopped&) {
  } catch (const std::exception& error) {
    out << "no plan: " << error.what() << "\n";
  }
  return out.str();
}

std::string graph_of(const Trial& trial) {
  return fmt::format("fusion {}, {} threads, target {}\n{}", text_of(trial.fusion), trial.threads,
                     trial.target.empty() ? "host" : trial.target, print_graph(*trial.graph));
}

std::string data_of(const Trial& trial) {
  std::string text;
  for (const TrialRun& run : trial.runs) {
    for (const auto& [name, value] : run.bindings.items())
      text += fmt::format("{} = {}\n", name, value);
    for (const auto& [name, data] : run.leaves) {
      if (trial.graph->find(name)) text += fmt::format("{} = {}\n", name, print(data, 6));
    }
  }
  return text;
}

std::string explain(uint64_t seed, const Trial& trial, const std::string& failure, bool smaller) {
  std::string text = fmt::format("FAILED seed {}: {}\n", seed, failure);
  if (!smaller) return text;
  if (std::optional<Trial> least = shrink(trial)) {
    text += fmt::format("smaller: {}\n{}{}{}", judge(*least).failure.value_or(""), graph_of(*least),
                        plan_of(*least), data_of(*least));
  }
  return text;
}

void count_ops(const Trial& trial, Tally& tally) {
  for (NodeId id : topological_order(*trial.graph, roots(*trial.graph))) {
    const Node& node = trial.graph->node(id);
    ++tally.ops[std::string(name(node.op))];
    ++tally.dtypes[std::string(name(node.dtype))];
    ++tally.nodes;
  }
}

Trial trial_of(const Settings& settings, uint64_t seed) {
  Trial trial = settings.loops ? random_loop_trial(seed) : random_trial(seed);
  trial.target = settings.target;
  trial.check = settings.check;
  if (settings.finite) trial.numerics = Numerics::Finite;
  return trial;
}

void work(const Settings& settings, Tally& tally) {
  for (int64_t k = tally.next++; k < settings.count; k = tally.next++) {
    const uint64_t seed = settings.first_seed + static_cast<uint64_t>(k);
    if (settings.progress) fmt::print(stderr, "{}\n", seed);
    Trial trial = trial_of(settings, seed);
    const Verdict verdict = judge(trial);
    const std::string text =
        verdict.failure ? explain(seed, trial, *verdict.failure, settings.shrink) : "";
    std::scoped_lock lock(tally.lock);
    tally.failed += verdict.failure.has_value();
    tally.kernels += verdict.kernels;
    tally.elements += verdict.elements;
    tally.unknown += verdict.unknown;
    tally.rolled += !verdict.rolled.empty();
    count_ops(trial, tally);
    if (text.empty()) continue;
    fmt::print("{}", text);
    std::fflush(stdout);
  }
}

int run_all(const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  Tally tally;
  on_threads(settings.jobs, [&] { work(settings, tally); });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const double share = tally.elements == 0 ? 0
                                           : static_cast<double>(tally.unknown) /
                                                 static_cast<double>(tally.elements);
  // A set of this size that lacks a primitive says less than it claims.
  std::vector<std::string> missing;
  for (Op op : all_ops()) {
    if (settings.count >= 500 && !settings.loops && !tally.ops.contains(std::string(name(op)))) {
      missing.emplace_back(name(op));
    }
  }
  const nlohmann::json summary = {{"graphs", settings.count},   {"failed", tally.failed},
                                  {"nodes", tally.nodes},       {"kernels", tally.kernels},
                                  {"elements", tally.elements}, {"unknown_share", share},
                                  {"rolled", tally.rolled},     {"first_seed", settings.first_seed},
                                  {"target", settings.target},  {"ops", tally.ops},
                                  {"dtypes", tally.dtypes},     {"missing_ops", missing},
                                  {"seconds", taken.count()}};
  fmt::print("{}\n", summary.dump());
  return tally.failed == 0 && share <= settings.most_unknown && missing.empty() ? 0 : 1;
}

int show_one(const Settings& settings) {
  Trial trial = trial_of(settings, *settings.seed);
  fmt::print("{}", graph_of(trial));
  std::fflush(stdout);  // what follows may crash
  fmt::print("{}", plan_of(trial));
  const Verdict verdict = judge(trial);
  fmt::print("{}", verdict.failure
                       ? explain(*settings.seed, trial, *verdict.failure, settings.shrink)
                       : fmt::format("passed: {} kernels, {} elements, {} unknown\n",
                                     verdict.kernels, verdict.elements, verdict.unknown));
  if (!verdict.rolled.empty()) fmt::print("rolled: {}\n", verdict.rolled);
  return verdict.failure ? 1 : 0;
}

}  // namespace
}  // namespace luminal::tests

int main(int argc, char** argv) {
  luminal::tests::Settings settings;
  CLI::App app("Compares random graphs on the CPU with the f64 interpreter");
  app.add_option("--first-seed", settings.first_seed, "of the graphs to try");
  app.add_option("--count", settings.count, "how many graphs");
  app.add_option("--seed", settings.seed, "shows and tries this graph alone");
  app.add_option("--jobs", settings.jobs, "threads; 0: one per core");
  app.add_option("--target", settings.target, "the instruction set; empty: this machine's best");
  app.add_flag("--check", settings.check,
               "checks each kernel as run --sequential does: a kernel that is called wrong fails");
  app.add_flag("--finite", settings.finite, "lets rules of class finite run");
  app.add_flag("--loops", settings.loops, "graphs that repeat themselves, rolled and unrolled");
  app.add_flag("--shrink,!--no-shrink", settings.shrink, "looks for a smaller failing graph");
  app.add_flag("--progress", settings.progress, "prints each seed before it is tried: for crashes");
  CLI11_PARSE(app, argc, argv);
  try {
    return settings.seed ? luminal::tests::show_one(settings) : luminal::tests::run_all(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "luminal_random_graphs: {}\n", error.what());
    return 2;
  }
}
