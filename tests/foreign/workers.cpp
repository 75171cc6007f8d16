#include "tests/foreign/workers.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

namespace luminal::tests::foreign {
namespace {

constexpr long kMostSeconds = 120;  // of processor time for one number: other programs don't count

struct Worker {
  uint64_t next = 0;  // the number it works on, or will
  bool exhausted = false;
  Tally tally;
};

void work_on(Worker& worker, uint64_t stride, uint64_t count,
             const std::function<void(uint64_t, Tally&)>& work) {
  for (; worker.next < count; worker.next += stride) {
    const itimerval most{.it_interval = {}, .it_value = {.tv_sec = kMostSeconds, .tv_usec = 0}};
    setitimer(ITIMER_PROF, &most, nullptr);
    work(worker.next, worker.tally);
  }
  worker.exhausted = true;
}

pid_t start(Worker& worker, uint64_t stride, uint64_t count,
            const std::function<void(uint64_t, Tally&)>& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process could be started");
  if (child > 0) return child;
  int code = 0;
  try {
    work_on(worker, stride, count, work);
  } catch (const std::exception& error) {
    fmt::print("number {}: the generator or the oracle failed: {}\n", worker.next, error.what());
    code = 3;
  }
  std::fflush(stdout);
  _exit(code);
}

std::string describe(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  if (signal == SIGPROF) return fmt::format("it took more than {} s", kMostSeconds);
  return fmt::format("signal {} ({})", signal, strsignal(signal));
}

void add(Tally& to, const Tally& from) {
  to.judged += from.judged;
  to.checked += from.checked;
  to.elements += from.elements;
  to.unknown += from.unknown;
  to.wrong += from.wrong;
  to.crashed += from.crashed;
  to.false_alarms += from.false_alarms;
  to.refused += from.refused;
  for (size_t k = 0; k < to.ops.size(); ++k) to.ops[k] += from.ops[k];
  for (size_t k = 0; k < to.dtypes.size(); ++k) to.dtypes[k] += from.dtypes[k];
}

}  // namespace

Tally run_in_processes(int jobs, uint64_t count, const std::function<void(uint64_t, Tally&)>& work,
                       const std::function<void(uint64_t, const std::string&)>& on_crash) {
  if (jobs <= 0) jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto stride = static_cast<uint64_t>(jobs);
  void* memory = mmap(nullptr, sizeof(Worker) * stride, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory to share");
  auto* workers = static_cast<Worker*>(memory);
  std::vector<pid_t> children(stride);
  for (uint64_t k = 0; k < stride; ++k) {
    new (workers + k) Worker{.next = k, .tally = {}};
    children[k] = start(workers[k], stride, count, work);
  }
  for (uint64_t running = stride; running > 0;) {
    int status = 0;
    const pid_t ended = wait(&status);
    if (ended < 0) throw std::runtime_error("a process was lost");
    const auto found = std::ranges::find(children, ended);
    if (found == children.end()) continue;
    const auto k = static_cast<uint64_t>(found - children.begin());
    Worker& worker = workers[k];
    if (worker.exhausted) {
      --running;
      continue;
    }
    on_crash(worker.next, describe(status));
    ++worker.tally.crashed;
    worker.next += stride;
    children[k] = start(worker, stride, count, work);
  }
  Tally total;
  for (uint64_t k = 0; k < stride; ++k) add(total, workers[k].tally);
  munmap(memory, sizeof(Worker) * stride);
  return total;
}

}  // namespace luminal::tests::foreign
