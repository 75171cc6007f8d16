#include "luminal/search/cuts/step_dependences.h"

#include <gtest/gtest.h>

#include <random>

namespace luminal::search {
namespace {

// The same by search: what may run when, from the direct reads alone.
struct Plain {
  std::vector<std::vector<bool>> reads;
  std::vector<bool> gone;

  bool reaches(size_t from, size_t to) const {
    for (size_t k = 0; k < reads.size(); ++k) {
      if (reads[k][from] && (k == to || reaches(k, to))) return true;
    }
    return false;
  }
  bool separated(size_t i, size_t j) const {
    for (size_t k = 0; k < reads.size(); ++k) {
      if ((reaches(i, k) && reaches(k, j)) || (reaches(j, k) && reaches(k, i))) return true;
    }
    return false;
  }
  void merge(size_t i, size_t j) {
    for (size_t k = 0; k < reads.size(); ++k) {
      reads[i][k] = reads[i][k] || reads[j][k];
      reads[k][i] = reads[k][i] || reads[k][j];
      reads[j][k] = reads[k][j] = false;
    }
    reads[i][i] = false;
    gone[j] = true;
  }
};

void expect_same(const StepDependences& got, const Plain& plain) {
  for (size_t i = 0; i < plain.reads.size(); ++i) {
    for (size_t j = 0; j < plain.reads.size(); ++j) {
      if (i == j || plain.gone[i] || plain.gone[j]) continue;
      EXPECT_EQ(got.reads(i, j), plain.reads[i][j]) << i << " " << j;
      EXPECT_EQ(got.separated(i, j), plain.separated(i, j)) << i << " " << j;
    }
  }
}

TEST(StepDependences, StayThoseOfTheMergedSteps) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const size_t n = 2 + random() % 11;
    Plain plain{std::vector(n, std::vector<bool>(n, false)), std::vector<bool>(n, false)};
    std::vector<std::vector<size_t>> reads(n);
    for (size_t j = 0; j < n; ++j) {
      for (size_t i = 0; i < j; ++i) {
        if (random() % 4 != 0) continue;
        plain.reads[j][i] = true;
        reads[j].push_back(i);
      }
    }
    StepDependences got(reads);
    expect_same(got, plain);
    for (int merge = 0; merge < 5; ++merge) {
      const size_t i = random() % n, j = random() % n;
      if (i == j || plain.gone[i] || plain.gone[j] || plain.separated(i, j)) continue;
      got.merge(i, j);
      plain.merge(i, j);
      expect_same(got, plain);
    }
  }
}

TEST(StepDependences, RunEachStepAsEarlyAsTheOrderBeforeAllows) {
  const StepDependences backwards({{2}, {}, {1}, {0, 1}});
  EXPECT_EQ(backwards.in_order(), (std::vector<size_t>{1, 2, 0, 3}));
  StepDependences merged({{}, {}, {0}, {1, 2}});
  merged.merge(2, 1);
  EXPECT_EQ(merged.in_order(), (std::vector<size_t>{0, 2, 3}));
}

// More steps than one word has bits.
TEST(StepDependences, ReachAcrossWords) {
  std::vector<std::vector<size_t>> reads(200);
  for (size_t j = 1; j < reads.size(); ++j) reads[j] = {j - 1};
  StepDependences chain(reads);
  EXPECT_TRUE(chain.separated(0, 199));
  EXPECT_FALSE(chain.separated(63, 64));
  chain.merge(63, 64);
  EXPECT_TRUE(chain.separated(62, 65));
  EXPECT_FALSE(chain.separated(63, 65));
  EXPECT_EQ(chain.in_order().size(), 199u);
}

}  // namespace
}  // namespace luminal::search
