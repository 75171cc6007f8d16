// luminal_foreign_graphs: graphs of a second generator on the CPU back end, judged by a second
// oracle; see docs/testing.md. Graphs run in processes of their own, so that a crash is one more
// verdict. The last line printed is a summary in JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "luminal/backends/cpu/target/target.h"
#include "tests/foreign/generate.h"
#include "tests/foreign/judge.h"
#include "tests/foreign/shrink.h"
#include "tests/foreign/workers.h"

namespace luminal::tests::foreign {
namespace {

struct Settings {
  uint64_t seed = 1;
  uint64_t graphs = 500;
  std::vector<std::string> targets = {"sse2", "avx2", "avx512"};
  uint64_t checked_every = 10;
  bool rotate = false;
  bool show = false;
  bool shrink = true;
  int jobs = 0;
  double most_unknown = 0.1;
  double most_refused = 0.05;
};

constexpr int kMostTries = 60;        // of smaller programs
constexpr uint64_t kMostShrunk = 20;  // failures of a process: the others are printed as they are

void print_failure(const char* kind, uint64_t seed, const std::string& target,
                   const Program& program, const std::string& what) {
  fmt::print("{} seed {} on {}: {}\n{}\n{}\n", kind, seed, target, what, settings_of(program),
             text_of(program));
  std::fflush(stdout);
}

Verdict judged(const Program& program, const std::string& target, bool checker) {
  const Verdict verdict = judge(program, expected_of(program), target);
  if (!checker || verdict.kind != Verdict::Kind::Right) return verdict;
  return judge_checker(program, target);
}

// As found, and the smallest program that fails in the same way.
void explain(const Settings& settings, uint64_t seed, const std::string& target,
             const Program& program, const Verdict& verdict, const Tally& tally) {
  const bool alarm = verdict.kind == Verdict::Kind::FalseAlarm;
  const char* kind = alarm ? "FALSE ALARM" : "WRONG";
  print_failure(kind, seed, target, program, verdict.what);
  if (!settings.shrink || tally.wrong + tally.false_alarms > kMostShrunk) return;
  const auto fails = [&](const Program& p) {
    return judged(p, target, alarm).kind == verdict.kind;
  };
  const Program least = shrink(program, fails, kMostTries);
  print_failure("smaller:", seed, target, least, judged(least, target, alarm).what);
}

void count_steps(const Program& program, Tally& tally) {
  for (const Step& step : program.steps) {
    ++tally.ops[static_cast<size_t>(step.op)];
    ++tally.dtypes[static_cast<size_t>(step.dtype)];
  }
}

void count(const Verdict& verdict, Tally& tally) {
  tally.elements += verdict.elements;
  tally.unknown += verdict.unknown;
  switch (verdict.kind) {
    case Verdict::Kind::Right:
      break;
    case Verdict::Kind::Wrong:
      ++tally.wrong;
      break;
    case Verdict::Kind::FalseAlarm:
      ++tally.false_alarms;
      break;
    case Verdict::Kind::Refused:
      ++tally.refused;
      break;
  }
}

void try_target(const Settings& settings, const Program& program, const Expected& expected,
                uint64_t seed, const std::string& target, bool checked, Tally& tally) {
  const Verdict verdict = judge(program, expected, target);
  ++tally.judged;
  count(verdict, tally);
  if (verdict.kind == Verdict::Kind::Wrong) {
    explain(settings, seed, target, program, verdict, tally);
  }
  if (verdict.kind == Verdict::Kind::Refused && settings.show) {
    print_failure("REFUSED", seed, target, program, verdict.what);
  }
  if (!checked || verdict.kind != Verdict::Kind::Right || program.has_strays) return;
  const Verdict alarm = judge_checker(program, target);
  ++tally.checked;
  count(alarm, tally);
  if (alarm.kind == Verdict::Kind::FalseAlarm) {
    explain(settings, seed, target, program, alarm, tally);
  }
}

void try_graph(const Settings& settings, uint64_t number, Tally& tally) {
  const uint64_t seed = settings.seed + number;
  const Program program = generate(seed);
  if (settings.show) fmt::print("{}\n{}", settings_of(program), text_of(program));
  std::fflush(stdout);
  count_steps(program, tally);
  const Expected expected = expected_of(program);
  const bool checked = settings.checked_every > 0 && number % settings.checked_every == 0;
  const size_t turn = number % settings.targets.size();
  for (size_t t = 0; t < settings.targets.size(); ++t) {
    if (settings.rotate && t != turn) continue;
    // Of all targets one is checked, in turns.
    const size_t checked_target =
        settings.checked_every == 0 ? 0 : number / settings.checked_every % settings.targets.size();
    try_target(settings, program, expected, seed, settings.targets[t],
               checked && (settings.rotate || t == checked_target), tally);
  }
}

// The targets that this machine runs; the others are named.
std::vector<std::string> runnable(const std::vector<std::string>& wanted) {
  std::vector<std::string> result;
  for (const std::string& name : wanted) {
    bool here = false;
    for (const auto& target : backends::cpu::Target::here()) here |= target.name == name;
    if (here) {
      result.push_back(name);
    } else {
      fmt::print("SKIPPED target {}: this machine doesn't run it\n", name);
    }
  }
  return result;
}

int run_all(Settings settings) {
  settings.targets = runnable(settings.targets);
  if (settings.targets.empty()) return 77;
  const auto start = std::chrono::steady_clock::now();
  const auto on_crash = [&](uint64_t number, const std::string& how) {
    const uint64_t seed = settings.seed + number;
    print_failure("CRASHED", seed, "one of the targets", generate(seed), how);
  };
  const Tally tally = run_in_processes(
      settings.jobs, settings.graphs,
      [&](uint64_t number, Tally& counts) { try_graph(settings, number, counts); }, on_crash);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const auto share = [](uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  // A set of this size that lacks a primitive or a dtype says less than it claims.
  std::vector<std::string> missing;
  if (settings.graphs >= 500) {
    for (Op op : all_ops()) {
      if (op != Op::Custom && tally.ops[static_cast<size_t>(op)] == 0)
        missing.emplace_back(name(op));
    }
    for (DType dtype : all_dtypes()) {
      if (tally.dtypes[static_cast<size_t>(dtype)] == 0) missing.emplace_back(name(dtype));
    }
  }
  const double unknown = share(tally.unknown, tally.elements);
  const double refused = share(tally.refused, tally.judged);
  const nlohmann::json summary = {
      {"graphs", settings.graphs},   {"first_seed", settings.seed},
      {"targets", settings.targets}, {"judged", tally.judged},
      {"checked", tally.checked},    {"elements", tally.elements},
      {"unknown_share", unknown},    {"wrong", tally.wrong},
      {"crashed", tally.crashed},    {"false_alarms", tally.false_alarms},
      {"refused_share", refused},    {"missing", missing},
      {"seconds", taken.count()}};
  fmt::print("{}\n", summary.dump());
  const bool good = tally.wrong == 0 && tally.crashed == 0 && tally.false_alarms == 0 &&
                    missing.empty() && unknown <= settings.most_unknown &&
                    refused <= settings.most_refused;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace luminal::tests::foreign

int main(int argc, char** argv) {
  luminal::tests::foreign::Settings settings;
  CLI::App app("Compares graphs of a second generator on the CPU with an oracle of its own");
  app.add_option("--graphs", settings.graphs, "how many graphs");
  app.add_option("--seed", settings.seed, "seed of the first graph; the others follow");
  app.add_option("--targets", settings.targets, "comma-separated: sse2,avx2,avx512")
      ->delimiter(',');
  app.add_option("--checked-every", settings.checked_every,
                 "check the kernels of every k-th graph too, for false alarms; 0: none");
  app.add_flag("--rotate", settings.rotate, "each graph on one target, in turns");
  app.add_flag("--show", settings.show, "print every graph before it is tried");
  app.add_flag("--shrink,!--no-shrink", settings.shrink, "look for a smaller graph that fails");
  app.add_option("--jobs", settings.jobs, "processes; 0: one per core");
  CLI11_PARSE(app, argc, argv);
  try {
    return luminal::tests::foreign::run_all(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "luminal_foreign_graphs: {}\n", error.what());
    return 2;
  }
}
