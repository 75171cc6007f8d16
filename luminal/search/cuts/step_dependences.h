// StepDependences: which steps of a plan must run before which, kept up to date while steps become
// one. Sets of steps are bits, so that a merge costs a row per step and not a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace luminal::search {

// Each step after those it reads, in the order of numbers where that allows a choice. `reads` as
// below.
std::vector<size_t> order_of_steps(const std::vector<std::vector<size_t>>& reads);

class StepDependences {
 public:
  // `reads[j]`: the steps whose results step j reads itself; none is j, and they make no cycle.
  explicit StepDependences(const std::vector<std::vector<size_t>>& reads);

  // Whether step j reads what step i writes.
  bool reads(size_t j, size_t i) const { return has(direct_[j], i); }
  // Whether some step must run between i and j.
  bool separated(size_t i, size_t j) const;

  // Step i is both from now on, and j none. They aren't separated.
  void merge(size_t i, size_t j);

  // The steps that are left, each as early as what it reads and the order before allow.
  std::vector<size_t> in_order() const;

 private:
  using Steps = std::vector<uint64_t>;  // a bit per step

  static bool has(const Steps& steps, size_t i) { return steps[i / 64] >> (i % 64) & 1; }
  static void put(Steps& steps, size_t i) { steps[i / 64] |= uint64_t{1} << (i % 64); }
  static void drop(Steps& steps, size_t i) { steps[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  static void put_all(Steps& steps, const Steps& more);
  static bool meet(const Steps& a, const Steps& b);

  size_t n_;
  Steps left_;                  // steps that are not merged into another
  std::vector<Steps> direct_;   // by step: those it reads itself
  std::vector<Steps> earlier_;  // and all that must run before it
  std::vector<Steps> later_;    // and after it
};

}  // namespace luminal::search
