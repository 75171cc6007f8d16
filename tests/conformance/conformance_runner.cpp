// luminal_conformance: runs the matrix of op x dtype x rank x layout on a back end, by name.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <mutex>

#include "luminal/driver/compile.h"
#include "luminal/graph/text_form.h"
#include "tests/conformance/case_index.h"
#include "tests/conformance/case_program.h"
#include "tests/conformance/compare.h"
#include "tests/support/on_threads.h"

namespace luminal {

#ifdef LUMINAL_MISTAKES
extern int mistake;  // which planted mistake is active; see mistakes.py
#endif

namespace conformance {
namespace {

struct Settings {
  std::string backend = "interp";
  std::string target;
  std::string folder;
  std::vector<std::string> globs;
  bool list = false;
  std::string cache = "none";
  int jobs = 0;
  int64_t stop_after = 0;  // failures; 0: never
  int repeat = 1;
  bool dynamic = false;
};

std::string describe(const Run& run) {
  std::string text;
  for (const auto& [name, value] : run.bindings) text += fmt::format(" {} = {}", name, value);
  return text.empty() ? text : " at" + text;
}

// What is wrong with `one`, or nothing. All runs go through one executable.
std::optional<std::string> failure(const Case& one, const CaseIndex& index,
                                   const Settings& settings) {
  std::unique_ptr<Program> program;
  try {
    program = std::make_unique<Program>(one);
    Executable executable =
        compile(program->graph,
                {.backend = {.name = settings.backend, .target = settings.target, .threads = 1},
                 .storage = {.cache_folder = settings.cache}});
    for (int round = 0; round < settings.repeat; ++round) {
      for (const Run& run : one.runs) {
        for (size_t k = 0; k < run.inputs.size(); ++k)
          executable.set(program->leaves[k], run.inputs[k]);
        Bindings bindings;
        for (const auto& [name, value] : run.bindings) bindings.set(name, value);
        executable.run(bindings);
        Tolerance tolerance = index.tolerance(one, run.expected.dtype);
        TensorData got = executable.get_data(program->result);
        if (auto wrong = difference(run.expected, got, tolerance, one.sign_of_zero))
          return fmt::format("{}{}{}\n{}", *wrong, describe(run),
                             round > 0 ? " (when run again)" : "", print_graph(program->graph));
      }
    }
  } catch (const std::exception& error) {
    return fmt::format("threw: {}\n{}", error.what(), program ? print_graph(program->graph) : "");
  }
  return std::nullopt;
}

struct Tally {
  std::atomic<size_t> next = 0;
  std::atomic<int64_t> passed = 0;
  std::atomic<int64_t> failed = 0;
  std::mutex printing;
};

void work(const CaseIndex& index, const Settings& settings, Tally& tally) {
  while (settings.stop_after == 0 || tally.failed < settings.stop_after) {
    size_t position = tally.next++;
    if (position >= index.cases.size()) return;
    const Case& one = index.cases[position];
    std::optional<std::string> wrong = failure(one, index, settings);
    if (!wrong) {
      ++tally.passed;
      continue;
    }
    ++tally.failed;
    std::scoped_lock lock(tally.printing);
    fmt::print("FAILED {}: {}\n", one.name, *wrong);
  }
}

int run_all(const Settings& settings) {
  CaseIndex index =
      load_cases(settings.folder, settings.globs, settings.dynamic ? Form::Dynamic : Form::Written);
  if (settings.list) {
    for (const Case& one : index.cases) fmt::print("{}\n", one.name);
    return 0;
  }
  // A glob that matches nothing is a mistake of the caller, not a success.
  if (index.cases.empty()) throw std::runtime_error("no case has such a name; see --list");
  Tally tally;
  tests::on_threads(settings.jobs, [&] { work(index, settings, tally); });
  fmt::print("{} passed, {} failed\n", tally.passed.load(), tally.failed.load());
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace conformance
}  // namespace luminal

int main(int argc, char** argv) {
  luminal::conformance::Settings settings;
  CLI::App app("Runs the op x dtype x rank x layout matrix on a back end");
  app.add_option("--backend", settings.backend, "the back end's name")->capture_default_str();
  app.add_option("--target", settings.target, "the instruction set; empty: this machine's best");
  app.add_option("--cases", settings.folder, "the folder that generate.py wrote")->required();
  app.add_option("--filter", settings.globs, "run cases whose name matches (may repeat)");
  app.add_flag("--list", settings.list, "print the names of the cases instead");
  app.add_option("--cache", settings.cache, "a folder for compiled kernels, or none");
  app.add_option("--jobs", settings.jobs, "threads; 0: one per core");
  app.add_option("--stop-after", settings.stop_after, "stop after this many failures; 0: never");
  app.add_option("--repeat", settings.repeat, "rounds of all runs on the same executable");
  app.add_flag("--dynamic", settings.dynamic,
               "the cases with their leading dim as a variable, where that is possible");
#ifdef LUMINAL_MISTAKES
  app.add_option("--mistake", luminal::mistake, "the planted mistake to make; 0: none");
#endif
  CLI11_PARSE(app, argc, argv);
  try {
    return luminal::conformance::run_all(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "luminal_conformance: {}\n", error.what());
    return 2;
  }
}
