// luminal_guard_pages: every distinct kernel of the matrix, run with each of its buffers against an
// unmapped page, at the end and at the start. The last line printed is a summary in JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "luminal/driver/planning.h"
#include "luminal/graph/traverse.h"
#include "tests/conformance/case_program.h"
#include "tests/guard_pages/guarded_launch.h"

namespace luminal::tests {
namespace {

using conformance::Case;
using conformance::Form;
using conformance::load_cases;

struct Settings {
  std::string folder;
  std::vector<std::string> globs;
  std::string side = "both";
  std::string cache;
  int jobs = 0;
};

struct Tally {
  std::atomic<size_t> next = 0;
  std::mutex lock;  // for all that follows
  std::set<std::string> seen;
  int64_t kernels = 0, launches = 0, failed = 0;
};

std::vector<GuardedSide> sides_of(const std::string& side) {
  if (side == "end") return {GuardedSide::End};
  if (side == "start") return {GuardedSide::Start};
  return {GuardedSide::End, GuardedSide::Start};
}

// The values of a kernel's variables in each run of the case; one empty list if it has none.
std::vector<std::vector<int64_t>> sizes_of(const kernel::Kernel& kernel, const Case& one) {
  std::vector<std::vector<int64_t>> sizes;
  for (const conformance::Run& run : one.runs) {
    std::vector<int64_t> values;
    for (Expr variable : kernel.variables) {
      for (const auto& [name, value] : run.bindings) {
        if (name == variable.name()) values.push_back(value);
      }
    }
    if (std::find(sizes.begin(), sizes.end(), values) == sizes.end()) sizes.push_back(values);
  }
  return sizes;
}

class Guard {
 public:
  Guard(const Settings& settings, backends::cpu::Jit& jit, Tally& tally)
      : sides_(sides_of(settings.side)), jit_(jit), tally_(tally) {}

  void check(const Case& one) {
    try {
      const conformance::Program program(one);
      CompileReport report;
      const CompileOptions options{.threads = 1, .cache_folder = "none"};
      const auto planned = plan_graph(program.graph, roots(program.graph), options, report);
      for (const auto& step : planned->plan.steps) {
        if (const auto* kernel = std::get_if<kernel::KernelStep>(&step)) {
          check(one, kernel->lowered.kernel);
        }
      }
    } catch (const std::exception& error) {
      fail(one, fmt::format("threw: {}", error.what()));
    }
  }

 private:
  void check(const Case& one, const kernel::Kernel& kernel) {
    const std::string text = kernel::text(kernel);
    {
      std::scoped_lock lock(tally_.lock);
      if (!tally_.seen.insert(text).second) return;
      ++tally_.kernels;
    }
    const auto compiled = jit_.compile(kernel);
    for (const std::vector<int64_t>& variables : sizes_of(kernel, one)) {
      const auto escape = escape_of(guarded_launch(*compiled, variables), memory_, random_, sides_);
      if (escape) fail(one, fmt::format("the kernel {}\n{}", *escape, text));
      std::scoped_lock lock(tally_.lock);
      ++tally_.launches;
    }
  }

  void fail(const Case& one, const std::string& why) {
    std::scoped_lock lock(tally_.lock);
    ++tally_.failed;
    fmt::print("FAILED {}: {}\n", one.name, why);
    std::fflush(stdout);
  }

  const std::vector<GuardedSide> sides_;
  backends::cpu::Jit& jit_;
  Tally& tally_;
  GuardedMemory memory_;
  RandomSource random_{1};
};

int run_all(const Settings& settings) {
  std::vector<Case> cases = load_cases(settings.folder, settings.globs).cases;
  if (cases.empty()) throw std::runtime_error("no case has such a name");
  for (Case& one : load_cases(settings.folder, settings.globs, Form::Dynamic).cases) {
    cases.push_back(std::move(one));
  }
  backends::cpu::Jit jit({.target = backends::cpu::Target::host(), .cache_folder = settings.cache});
  Tally tally;
  auto work = [&] {
    Guard guard(settings, jit, tally);
    for (size_t k = tally.next++; k < cases.size(); k = tally.next++) guard.check(cases[k]);
  };
  const int jobs = settings.jobs > 0
                       ? settings.jobs
                       : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int k = 1; k < jobs; ++k) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  const nlohmann::json summary = {{"cases", cases.size()},
                                  {"kernels", tally.kernels},
                                  {"launches", tally.launches},
                                  {"side", settings.side},
                                  {"failed", tally.failed}};
  fmt::print("{}\n", summary.dump());
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace luminal::tests

int main(int argc, char** argv) {
  luminal::tests::Settings settings;
  CLI::App app("Runs the kernels of the matrix with their buffers against unmapped pages");
  app.add_option("--cases", settings.folder, "the folder that generate.py wrote")->required();
  app.add_option("--filter", settings.globs, "cases whose name matches (may repeat)");
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
