// in_rounds: repeats work on several threads in parallel and times the best round.
#pragma once

#include <algorithm>
#include <barrier>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

namespace luminal::machine {

// Runs `work(thread)` on each thread per round, for about `seconds` and at least three rounds. A
// round lasts until the last thread is done, so contention for shared resources counts. Returns the
// seconds of the fastest round.
template <typename Work>
double best_round(int threads, double seconds, const Work& work) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  bool over = false;
  int rounds = 0;
  const Clock::time_point first = Clock::now();
  Clock::time_point start = first;
  const auto since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  std::barrier begin(threads, [&]() noexcept { start = Clock::now(); });
  std::barrier end(threads, [&]() noexcept {
    best = std::min(best, since(start));
    over = ++rounds >= 3 && since(first) >= seconds;
  });
  const auto take_part = [&](int thread) {
    while (true) {
      begin.arrive_and_wait();
      work(thread);
      end.arrive_and_wait();
      if (over) return;
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(take_part, i);
  take_part(0);
  for (std::thread& thread : others) thread.join();
  return best;
}

}  // namespace luminal::machine
