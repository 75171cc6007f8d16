// Launches on the pool of threads, or on OpenMP's for comparison: microseconds of one, for shares
// of several lengths, as one line of JSON. One of both per process, as OpenMP's threads go on
// spinning after a launch: `pool_bench pool`, `pool_bench openmp`, in turns.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "luminal/base/os/limits.h"
#include "luminal/runtime/thread_pool.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShareMicroseconds[] = {5, 20, 100, 1000};
constexpr double kPauseMicroseconds = 3;  // what a caller does between launches
constexpr double kSecondsEach = 0.1;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Work that takes as long wherever it runs, and touches no memory.
void work(double steps) {
  double x = 1;
  for (double i = 0; i < steps; ++i) asm volatile("" : "+x"(x));
}

double steps_per_microsecond() {
  constexpr double kSteps = 1e5;
  double best = 0;
  for (int i = 0; i < 50; ++i) {
    const Clock::time_point start = Clock::now();
    work(kSteps);
    best = std::max(best, kSteps / microseconds_since(start));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc == 2 ? argv[1] : "";
  if (kind != "pool" && kind != "openmp") {
    fmt::print(stderr, "usage: pool_bench pool|openmp\n");
    return 1;
  }
  const int threads = static_cast<int>(luminal::base::usable_threads());
  const double rate = steps_per_microsecond();
  std::string line;
  for (const double us : kShareMicroseconds) {
    auto launch = [&] {
      if (kind == "pool") {
        luminal::runtime::run_shares(threads, us * threads, [&](int) { work(us * rate); });
      } else {
#pragma omp parallel num_threads(threads)
        work(us * rate);
      }
    };
    launch();
    double total = 0;
    int launches = 0;
    for (const Clock::time_point begin = Clock::now();
         microseconds_since(begin) < kSecondsEach * 1e6; ++launches) {
      const Clock::time_point start = Clock::now();
      launch();
      total += microseconds_since(start);
      work(kPauseMicroseconds * rate);
    }
    line += fmt::format("{}\"{}\": {:.3f}", line.empty() ? "" : ", ", us, total / launches);
  }
  fmt::print("{{{}}}\n", line);
}
