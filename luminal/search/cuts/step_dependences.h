// StepDependences: the transitive dependences of a plan's steps, kept up to date while steps are
// merged. Sets of steps are bitsets, so a merge costs a row per step and not a graph search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace luminal::search {

// Topological order, ties by number. `reads` as below.
std::vector<size_t> order_of_steps(const std::vector<std::vector<size_t>>& reads);

class StepDependences {
 public:
  // `reads[j]`: the steps whose results step j reads itself; none is j, and they make no cycle.
  explicit StepDependences(const std::vector<std::vector<size_t>>& reads);

  // Whether step j reads what step i writes.
  bool reads(size_t j, size_t i) const { return has(direct_[j], i); }
  // Whether some step must run between i and j.
  bool separated(size_t i, size_t j) const;

  // Merges step j into step i; they must not be separated.
  void merge(size_t i, size_t j);

  // The remaining steps in topological order, ties by number.
  std::vector<size_t> in_order() const;

 private:
  using Steps = std::vector<uint64_t>;  // a bit per step

  static bool has(const Steps& steps, size_t i) { return steps[i / 64] >> (i % 64) & 1; }
  static void put(Steps& steps, size_t i) { steps[i / 64] |= uint64_t{1} << (i % 64); }
  static void drop(Steps& steps, size_t i) { steps[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  static void put_all(Steps& steps, const Steps& more);
  static bool meet(const Steps& a, const Steps& b);

  size_t n_;
  Steps left_;                  // the steps that aren't merged into another
  std::vector<Steps> direct_;   // by step: those it reads itself
  std::vector<Steps> earlier_;  // by step: all that must run before it
  std::vector<Steps> later_;    // by step: all that must run after it
};

}  // namespace luminal::search
