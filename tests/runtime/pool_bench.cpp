// Launches on the pool of threads, or on OpenMP's for comparison: cases "pool" and "openmp" of the
// protocol in docs/bench-protocol.md. A run is the mean over launches whose shares take as long as
// the setting `share_us` says. One of both per process, as OpenMP's threads go on spinning after a
// launch.
#include <omp.h>

#include <algorithm>
#include <chrono>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/prepared.h"
#include "luminal/base/os/limits.h"
#include "luminal/runtime/thread_pool.h"
#include "luminal/version.h"

namespace {

using Clock = std::chrono::steady_clock;

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

class Launches : public luminal::bench::Prepared {
 public:
  Launches(bool on_pool, double share_us)
      : on_pool_(on_pool), share_us_(share_us), rate_(steps_per_microsecond()) {
    launch();
  }

  double run() override {
    double total = 0;
    int launches = 0;
    for (const Clock::time_point begin = Clock::now();
         microseconds_since(begin) < kSecondsEach * 1e6; ++launches) {
      const Clock::time_point start = Clock::now();
      launch();
      total += microseconds_since(start);
      work(kPauseMicroseconds * rate_);
    }
    return total / launches * 1e-6;
  }

 private:
  void launch() {
    const double steps = share_us_ * rate_;
    if (on_pool_) {
      luminal::runtime::run_shares(threads_, share_us_ * threads_, [&](int) { work(steps); });
    } else {
#pragma omp parallel num_threads(threads_)
      work(steps);
    }
  }

  bool on_pool_;
  double share_us_, rate_;
  int threads_ = static_cast<int>(luminal::base::usable_threads());
};

}  // namespace

int main(int argc, char** argv) {
  using namespace luminal::bench;
  return bench_main({.name = "launches",
                     .version = LUMINAL_VERSION,
                     .cases = {"pool", "openmp"},
                     .settings = {{"share_us", 20.0}},
                     .answer = answer_by_runs([](const std::string& of, const Json& settings) {
                       return std::make_unique<Launches>(of == "pool", settings.at("share_us"));
                     })},
                    argc, argv);
}
