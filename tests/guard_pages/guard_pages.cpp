// luminal_guard_pages: every distinct kernel of the matrix and of a list of contractions, run with
// each of its buffers against an unmapped page, at the end and at the start. The last line printed
// is a summary in JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "luminal/backends/registry/registry.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/traverse.h"
#include "tests/conformance/case_program.h"
#include "tests/contractions/contraction_graph.h"
#include "tests/guard_pages/guarded_launch.h"
#include "tests/support/on_threads.h"

namespace luminal::tests {
namespace {

using conformance::load_cases;

struct Settings {
  std::string folder;
  std::vector<std::string> globs;
  int64_t contractions = 0;
  uint64_t first_seed = 1;
  std::string side = "both";
  std::string cache;
  int jobs = 0;
};

struct Tally {
  std::atomic<size_t> next = 0;
  std::mutex lock;  // for all that follows
  std::set<std::string> seen;
  int64_t kernels = 0, tiled = 0, launches = 0, failed = 0;
};

std::vector<GuardedSide> sides_of(const std::string& side) {
  if (side == "end") return {GuardedSide::End};
  if (side == "start") return {GuardedSide::Start};
  return {GuardedSide::End, GuardedSide::Start};
}

// A program whose kernels are run, with the sizes of its runs; made when it is its turn.
struct Guarded {
  std::string name;
  std::unique_ptr<Graph> graph;
  std::vector<Bindings> sizes;
  std::string target = {};  // empty: this machine's best
};
using GuardedMaker = std::function<Guarded()>;

Guarded guarded(const conformance::Case& one) {
  Guarded made{.name = one.name, .graph = conformance::Program(one).graph.clone(), .sizes = {}};
  for (const conformance::Run& run : one.runs) {
    Bindings& bindings = made.sizes.emplace_back();
    for (const auto& [name, value] : run.bindings) bindings.set(name, value);
  }
  return made;
}

Guarded guarded(uint64_t seed) {
  const ContractionCase one = contraction_case(seed);
  Guarded made{.name = fmt::format("seed {}: {}", seed, text(one)),
               .graph = std::move(contraction_graph(one, extents_of(one)).graph),
               .sizes = {}};
  for (int64_t size : one.run_sizes) made.sizes.push_back({{kDynamicSize, size}});
  if (made.sizes.empty()) made.sizes.emplace_back();
  made.target = one.target();
  return made;
}

std::vector<GuardedMaker> programs_of(const Settings& settings) {
  std::vector<GuardedMaker> programs;
  auto add = [&](std::vector<conformance::Case> cases) {
    for (conformance::Case& one : cases) {
      programs.emplace_back([one = std::move(one)] { return guarded(one); });
    }
  };
  if (!settings.folder.empty()) {
    add(load_cases(settings.folder, settings.globs).cases);
    add(load_cases(settings.folder, settings.globs, conformance::Form::Dynamic).cases);
  }
  for (int64_t k = 0; k < settings.contractions; ++k) {
    const uint64_t seed = settings.first_seed + static_cast<uint64_t>(k);
    programs.emplace_back([seed] { return guarded(seed); });
  }
  if (programs.empty()) {
    throw std::runtime_error(
        "no case has such a name; --cases and --contractions say which to run");
  }
  return programs;
}

// The values of a kernel's variables in each run; one empty list if it has none.
std::vector<std::vector<int64_t>> sizes_of(const kernel::Kernel& kernel, const Guarded& program) {
  std::vector<std::vector<int64_t>> sizes;
  for (const Bindings& bindings : program.sizes) {
    std::vector<int64_t> values;
    for (Expr variable : kernel.variables) {
      values.push_back(bindings.find(variable.name()).value());
    }
    if (std::find(sizes.begin(), sizes.end(), values) == sizes.end()) sizes.push_back(values);
  }
  return sizes;
}

// One per target of this machine.
class Jits {
 public:
  explicit Jits(const std::string& cache) {
    for (const backends::cpu::Target& target : backends::cpu::Target::here()) {
      jits_.emplace_back(new backends::cpu::Jit({.target = target, .cache_folder = cache}));
    }
  }
  backends::cpu::Jit& of(const std::string& target) {
    for (auto& jit : jits_) {
      if (target.empty() || jit->target().name == target) return *jit;
    }
    throw std::runtime_error("this machine has no target " + target);
  }

 private:
  std::vector<std::unique_ptr<backends::cpu::Jit>> jits_;
};

class Guard {
 public:
  Guard(const Settings& settings, Jits& jits, Tally& tally)
      : sides_(sides_of(settings.side)), jits_(jits), tally_(tally) {}

  void check(const Guarded& program) {
    try {
      CompileReport report;
      const CompileOptions options{.backend = {.target = program.target, .threads = 1},
                                   .storage = {.cache_folder = "none"}};
      backends::LoadOptions load;
      load.target = program.target;
      const auto packing = backends::find_backend("cpu").packing(load);
      const auto planned =
          plan_graph(*program.graph, roots(*program.graph), options, report, packing);
      for (const auto& step : planned->plan.steps) {
        if (const auto* kernel = std::get_if<kernel::KernelStep>(&step)) {
          check(program, kernel->lowered.kernel);
        }
      }
    } catch (const std::exception& error) {
      fail(program, fmt::format("threw: {}", error.what()));
    }
  }

 private:
  void check(const Guarded& program, const kernel::Kernel& kernel) {
    const std::string text = kernel::text(kernel);
    {
      std::scoped_lock lock(tally_.lock);
      if (!tally_.seen.insert(program.target + text).second) return;
      ++tally_.kernels;
    }
    const auto compiled = jits_.of(program.target).compile(kernel);
    for (const std::vector<int64_t>& variables : sizes_of(kernel, program)) {
      const auto escape = escape_of(guarded_launch(*compiled, variables), memory_, random_, sides_);
      if (escape) fail(program, fmt::format("the kernel {}\n{}", *escape, text));
      std::scoped_lock lock(tally_.lock);
      ++tally_.launches;
    }
    std::scoped_lock lock(tally_.lock);
    tally_.tiled += compiled->schedule().tiling.has_value();
  }

  void fail(const Guarded& program, const std::string& why) {
    std::scoped_lock lock(tally_.lock);
    ++tally_.failed;
    fmt::print("FAILED {}: {}\n", program.name, why);
    std::fflush(stdout);
  }

  const std::vector<GuardedSide> sides_;
  Jits& jits_;
  Tally& tally_;
  GuardedMemory memory_;
  RandomSource random_{1};
};

int run_all(const Settings& settings) {
  const std::vector<GuardedMaker> programs = programs_of(settings);
  Jits jits(settings.cache);
  Tally tally;
  auto work = [&] {
    Guard guard(settings, jits, tally);
    for (size_t k = tally.next++; k < programs.size(); k = tally.next++) {
      guard.check(programs[k]());
    }
  };
  on_threads(settings.jobs, work);
  const nlohmann::json summary = {{"cases", programs.size()}, {"kernels", tally.kernels},
                                  {"tiled", tally.tiled},     {"launches", tally.launches},
                                  {"side", settings.side},    {"failed", tally.failed}};
  fmt::print("{}\n", summary.dump());
  // Contractions whose kernels aren't tiled say nothing of tiles.
  const bool says_enough =
      settings.contractions < 100 || tally.tiled * 5 >= settings.contractions * 2;
  return tally.failed == 0 && says_enough ? 0 : 1;
}

}  // namespace
}  // namespace luminal::tests

int main(int argc, char** argv) {
  luminal::tests::Settings settings;
  CLI::App app(
      "Runs the kernels of the matrix and of contractions with their buffers against unmapped "
      "pages");
  app.add_option("--cases", settings.folder, "the folder that generate.py wrote");
  app.add_option("--filter", settings.globs, "cases whose name matches (may repeat)");
  app.add_option("--contractions", settings.contractions, "how many of tests/contractions");
  app.add_option("--first-seed", settings.first_seed, "of those");
  app.add_option("--guard", settings.side, "which end of each buffer: end, start or both")
      ->check(CLI::IsMember({"end", "start", "both"}));
  app.add_option("--cache", settings.cache, "a folder for compiled kernels; none without it");
  app.add_option("--jobs", settings.jobs, "threads; 0: one per core");
  CLI11_PARSE(app, argc, argv);
  try {
    return luminal::tests::run_all(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "luminal_guard_pages: {}\n", error.what());
    return 2;
  }
}
