// Four processes write to one file, and one of them is killed at a random moment: whatever a
// process was told is written must be there, whole. Usage: luminal_records_kill [--rounds N]
// [--seed N]
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

#include "tests/records/samples.h"
#include "tests/support/random_source.h"

namespace luminal::records {
namespace {

constexpr int kProcesses = 4;
constexpr int kWrites = 400;  // of a process that isn't killed; the other goes on until it is

// A number below 2³¹ that a process has written; the parent reads them from a pipe.
using Report = uint32_t;

// All processes measure this kernel, each time with more samples.
KernelKey contended() { return {"the kernel that all measure", "this device", "compiler 1"}; }

// Kernels of different sizes, so that pages split and texts overflow them.
KernelKey own_key(int process, int number) {
  const size_t size = number % 17 == 0 ? 20'000 : static_cast<size_t>(50 + number % 200);
  return {fmt::format("process {} kernel {} {}", process, number, std::string(size, 'x')),
          "this device", "compiler 1"};
}

KernelRecord own_record(int process, int number) {
  return kernel_record(1e-3 * (process + 1), number + 1);
}

// Writes, and reports each write once it has returned.
void write_records(const std::string& file, int process, int pipe, bool is_victim) {
  Store store = Store::open(file);
  for (int i = 0; i < kWrites || is_victim; ++i) {
    store.put(own_key(process, i), own_record(process, i));
    store.put(contended(), kernel_record(1e-3, 1 + i * kProcesses + process));
    if (i % 5 == 0) store.put(plan_key(process), comparison(std::to_string(i)));
    if (i % 20 == 0) store.put_plan(plan_key(process), fmt::format("plan {}", i));
    const Report report = static_cast<Report>(i);
    if (::write(pipe, &report, sizeof(report)) != sizeof(report)) return;
  }
}

struct Child {
  pid_t id = -1;
  int pipe = -1;
};

Child start(const std::string& file, int process, bool is_victim) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t id = ::fork();
  if (id < 0) throw std::runtime_error("no process");
  if (id > 0) {
    ::close(ends[1]);
    return {id, ends[0]};
  }
  ::close(ends[0]);
  int code = 1;
  try {
    write_records(file, process, ends[1], is_victim);
    code = 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "process {}: {}\n", process, error.what());
  }
  ::_exit(code);
}

// The next write that is reported, or `otherwise` where there are no more.
int next_report(int pipe, int otherwise) {
  Report report = 0;
  const bool is_one = ::read(pipe, &report, sizeof(report)) == sizeof(report);
  return is_one ? static_cast<int>(report) : otherwise;
}

// The last write that was reported, after one that was seen already; -1 for none.
int last_report(int pipe, int seen) {
  while (true) {
    const int next = next_report(pipe, seen);
    if (next == seen) break;
    seen = next;
  }
  ::close(pipe);
  return seen;
}

struct Totals {
  int64_t reported = 0, lost = 0, damaged = 0, failed = 0, killed = 0, at_work = 0;
};

void check(const std::string& file, const std::vector<int>& last, Totals& totals) {
  const Store store = Store::open(file);
  int most_samples = 0;
  for (int p = 0; p < kProcesses; ++p) {
    for (int i = 0; i <= last[p]; ++i) {
      totals.lost += store.find(own_key(p, i)) != own_record(p, i);
      ++totals.reported;
    }
    if (last[p] < 0) continue;
    most_samples = std::max(most_samples, 1 + last[p] * kProcesses + p);
    const auto comparisons = static_cast<int>(store.comparisons(plan_key(p)).size());
    totals.reported += 1 + last[p] / 5;
    totals.lost += std::max(0, 1 + last[p] / 5 - comparisons);
    // A killed process may have written one more plan than it reported.
    const auto plan = store.plan(plan_key(p));
    const bool is_known = plan == fmt::format("plan {}", last[p] / 20 * 20) ||
                          plan == fmt::format("plan {}", (last[p] + 1) / 20 * 20);
    totals.lost += !is_known;
  }
  const auto record = store.find(contended());
  totals.lost += most_samples > 0 && (!record || record->samples < most_samples);
  totals.damaged += store.stats().damaged + store.refused();
  totals.damaged += run_sql(file, "PRAGMA integrity_check") != "ok";
}

void run_round(tests::RandomSource& random, Totals& totals) {
  const TemporaryFolder folder;
  const std::string file = folder / "records.sqlite";
  std::vector<Child> children;
  const auto victim = random.below(kProcesses);
  for (int p = 0; p < kProcesses; ++p) children.push_back(start(file, p, p == victim));
  // Mostly while it writes, on however slow a machine; sometimes while files and tables are made.
  const Child& to_kill = children[static_cast<size_t>(victim)];
  const int seen = random.chance(0.8) ? next_report(to_kill.pipe, -1) : -1;
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(100'000)));
  ::kill(to_kill.id, SIGKILL);
  std::vector<int> last;
  for (int p = 0; p < kProcesses; ++p) {
    const Child& child = children[static_cast<size_t>(p)];
    last.push_back(last_report(child.pipe, p == victim ? seen : -1));
    int status = 0;
    ::waitpid(child.id, &status, 0);
    const bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (p == victim) {
      totals.killed += was_killed;
      totals.at_work += was_killed && last.back() >= 0;
    } else {
      totals.failed += status != 0 || last.back() != kWrites - 1;
    }
  }
  check(file, last, totals);
}

}  // namespace
}  // namespace luminal::records

int main(int argc, char** argv) {
  int rounds = 5;
  uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  luminal::tests::RandomSource random(seed);
  luminal::records::Totals totals;
  for (int round = 0; round < rounds; ++round) luminal::records::run_round(random, totals);
  fmt::print(
      "{} rounds of {} processes, {} killed, {} of them at work: {} records reported as written, "
      "{} lost, {} damaged, {} processes failed\n",
      rounds, luminal::records::kProcesses, totals.killed, totals.at_work, totals.reported,
      totals.lost, totals.damaged, totals.failed);
  const bool all_well = totals.lost == 0 && totals.damaged == 0 && totals.failed == 0;
  const bool enough_killed = totals.killed == rounds && 2 * totals.at_work >= rounds;
  return rounds > 0 && enough_killed && all_well ? 0 : 1;
}
