#include "luminal/runtime/step_order.h"

#include <algorithm>
#include <set>

#include "luminal/base/check.h"

namespace luminal::runtime {
namespace {

// Maximum steps per launch. With so many, the cost of waking threads is amortised already.
constexpr size_t kMostSideBySide = 8;

std::vector<int> distinct(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Tracks the live buffers while steps run one after the other.
class LiveSet {
 public:
  LiveSet(std::span<const StepNeeds> steps, std::span<const size_t> bytes)
      : steps_(steps),
        bytes_(bytes),
        readers_(bytes.size(), 0),
        reader_sum_(bytes.size(), 0),
        alive_(bytes.size(), false) {
    for (size_t s = 0; s < steps.size(); ++s) {
      reads_.push_back(distinct(steps[s].reads));
      for (int buffer : reads_.back()) {
        ++readers_[static_cast<size_t>(buffer)];
        reader_sum_[static_cast<size_t>(buffer)] += static_cast<int64_t>(s);
      }
    }
  }

  // Live bytes after the step minus those before it; may be negative.
  int64_t growth(int step) const {
    const auto s = static_cast<size_t>(step);
    int64_t bytes = 0;
    for (int buffer : steps_[s].writes) {
      if (readers_[static_cast<size_t>(buffer)] > 0) bytes += size(buffer);
    }
    for (int buffer : reads_[s]) {
      if (readers_[static_cast<size_t>(buffer)] == 1 && alive_[static_cast<size_t>(buffer)]) {
        bytes -= size(buffer);
      }
    }
    return bytes;
  }

  // Runs a step; calls `changes` with each later step whose growth() changes by this.
  template <typename Changes>
  void run(int step, Changes changes) {
    const auto s = static_cast<size_t>(step);
    for (int buffer : steps_[s].writes) {
      alive_[static_cast<size_t>(buffer)] = true;
      now_ += size(buffer);
    }
    peak_ = std::max(peak_, now_);
    for (int buffer : reads_[s]) {
      const auto b = static_cast<size_t>(buffer);
      reader_sum_[b] -= step;
      if (--readers_[b] == 0) end(buffer);
      if (readers_[b] == 1) changes(static_cast<int>(reader_sum_[b]));
    }
    for (int buffer : steps_[s].writes) {
      if (readers_[static_cast<size_t>(buffer)] == 0) end(buffer);
    }
  }
  void run(int step) {
    run(step, [](int) {});
  }

  size_t peak() const { return static_cast<size_t>(peak_); }
  size_t now() const { return static_cast<size_t>(now_); }

 private:
  int64_t size(int buffer) const {
    return static_cast<int64_t>(bytes_[static_cast<size_t>(buffer)]);
  }
  void end(int buffer) {
    if (!alive_[static_cast<size_t>(buffer)]) return;
    alive_[static_cast<size_t>(buffer)] = false;
    now_ -= size(buffer);
  }

  std::span<const StepNeeds> steps_;
  std::span<const size_t> bytes_;
  std::vector<std::vector<int>> reads_;  // by step, each buffer once
  std::vector<int> readers_;             // by buffer: number of later steps that read it
  std::vector<int64_t> reader_sum_;      // sum of their numbers: if one is left, this is its number
  std::vector<bool> alive_;
  int64_t now_ = 0, peak_ = 0;
};

// List scheduling: of the ready steps, takes the one with the lowest number or, with `least_alive`,
// the one with the smallest growth of live bytes.
std::vector<int> order_by(std::span<const StepNeeds> steps, std::span<const size_t> bytes,
                          bool least_alive) {
  LiveSet live(steps, bytes);
  std::vector<std::vector<int>> followers(steps.size());
  std::vector<size_t> waits(steps.size());
  using Ready = std::pair<int64_t, int>;  // priority (growth, or 0) and step
  std::vector<int64_t> growth(steps.size(), 0);
  std::vector<bool> is_ready(steps.size(), false);
  std::set<Ready> ready;
  auto add = [&](int step) {
    const auto s = static_cast<size_t>(step);
    growth[s] = least_alive ? live.growth(step) : 0;
    is_ready[s] = true;
    ready.emplace(growth[s], step);
  };
  auto update = [&](int step) {
    const auto s = static_cast<size_t>(step);
    if (!least_alive || !is_ready[s]) return;
    ready.erase({growth[s], step});
    add(step);
  };
  for (size_t s = 0; s < steps.size(); ++s) {
    const std::vector<int> after = distinct(steps[s].after);
    waits[s] = after.size();
    for (int before : after) followers[static_cast<size_t>(before)].push_back(static_cast<int>(s));
    if (after.empty()) add(static_cast<int>(s));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = ready.begin()->second;
    ready.erase(ready.begin());
    is_ready[static_cast<size_t>(next)] = false;
    live.run(next, update);
    order.push_back(next);
    for (int follower : followers[static_cast<size_t>(next)]) {
      if (--waits[static_cast<size_t>(follower)] == 0) add(follower);
    }
  }
  LUMINAL_CHECK(order.size() == steps.size(), "the steps depend on each other in a cycle");
  return order;
}

}  // namespace

size_t peak_of_order(std::span<const StepNeeds> steps, std::span<const size_t> buffer_bytes,
                     std::span<const int> order) {
  LiveSet live(steps, buffer_bytes);
  for (int step : order) live.run(step);
  return live.peak();
}

std::vector<int> order_steps(std::span<const StepNeeds> steps,
                             std::span<const size_t> buffer_bytes) {
  std::vector<int> given = order_by(steps, buffer_bytes, false);
  std::vector<int> greedy = order_by(steps, buffer_bytes, true);
  const bool better =
      peak_of_order(steps, buffer_bytes, greedy) < peak_of_order(steps, buffer_bytes, given);
  return better ? greedy : given;
}

std::vector<int> group_steps(std::span<const StepNeeds> steps, std::span<const size_t> buffer_bytes,
                             std::span<const int> order, const std::vector<bool>& alone) {
  const size_t peak = peak_of_order(steps, buffer_bytes, order);
  auto written = [&](int step) {
    size_t bytes = 0;
    for (int buffer : steps[static_cast<size_t>(step)].writes) {
      bytes += buffer_bytes[static_cast<size_t>(buffer)];
    }
    return bytes;
  };
  LiveSet live(steps, buffer_bytes);
  std::vector<int> launches;
  std::vector<int> group;  // the steps of the last launch, not yet run
  size_t alive = 0;        // bytes alive while they run
  auto joins = [&](int step) {
    if (group.empty() || group.size() == kMostSideBySide) return false;
    if (alone[static_cast<size_t>(step)] || alone[static_cast<size_t>(group.front())]) return false;
    for (int before : steps[static_cast<size_t>(step)].after) {
      if (std::find(group.begin(), group.end(), before) != group.end()) return false;
    }
    return alive + written(step) <= peak;
  };
  for (int step : order) {
    if (joins(step)) {
      launches.push_back(launches.back());
      alive += written(step);
    } else {
      for (int done : group) live.run(done);
      group.clear();
      launches.push_back(launches.empty() ? 0 : launches.back() + 1);
      alive = live.now() + written(step);
    }
    group.push_back(step);
  }
  return launches;
}

}  // namespace luminal::runtime
