#include "luminal/egraph/database/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace luminal::egraph {
namespace {

using testing::ElementsAre;

std::vector<uint32_t> chain(Table& table, uint64_t mask, std::vector<uint32_t> key) {
  std::vector<uint32_t> rows;
  const ColumnIndex& index = table.index(mask);
  for (uint32_t row = index.first(key.data(), table.data()); row != kNoRow; row = index.next(row)) {
    rows.push_back(row);
  }
  return rows;
}

uint32_t append(Table& table, std::vector<uint32_t> row, uint32_t time) {
  return table.append(row.data(), time, kInitial.value);
}

TEST(Table, RowsSinceATimeAreARange) {
  Table table(1);
  append(table, {1, 10}, 1);
  append(table, {2, 20}, 3);
  append(table, {3, 30}, 3);
  append(table, {4, 40}, 7);
  EXPECT_EQ(table.first_row_since(0), 0u);
  EXPECT_EQ(table.first_row_since(1), 0u);
  EXPECT_EQ(table.first_row_since(2), 1u);
  EXPECT_EQ(table.first_row_since(4), 3u);
  EXPECT_EQ(table.first_row_since(8), 4u);
  EXPECT_EQ(table.last_time(), 7u);
}

TEST(Table, AnIndexFollowsItsTableAndGivesTheNewestRowFirst) {
  Table table(2);
  append(table, {1, 5, 100}, 1);
  append(table, {2, 5, 100}, 1);
  EXPECT_THAT(chain(table, 0b010, {5}), ElementsAre(1, 0));
  append(table, {3, 6, 100}, 2);
  append(table, {4, 5, 101}, 2);
  EXPECT_THAT(chain(table, 0b010, {5}), ElementsAre(3, 1, 0));
  EXPECT_THAT(chain(table, 0b110, {5, 100}), ElementsAre(1, 0));
  EXPECT_THAT(chain(table, 0b010, {7}), ElementsAre());
}

// A dead row heads the chain of its value: the living rows behind it must still be found.
TEST(Table, AChainSurvivesTheDeathOfItsFirstRow) {
  Table table(1);
  append(table, {1, 9}, 1);
  append(table, {2, 9}, 1);
  EXPECT_THAT(chain(table, 0b10, {9}), ElementsAre(1, 0));
  table.kill(1);
  EXPECT_THAT(chain(table, 0b10, {9}), ElementsAre(1, 0));
  EXPECT_FALSE(table.alive(1));
  EXPECT_TRUE(table.alive(0));
}

TEST(Table, ANullaryFunctionHasOneRow) {
  Table table(0);
  EXPECT_EQ(table.find(nullptr), kNoRow);
  append(table, {4}, 1);
  EXPECT_EQ(table.output(table.find(nullptr)), 4u);
}

TEST(Table, ARowOfTheLastTimeIsRewrittenWhereItStandsUntilAnIndexHasIt) {
  Table table(1);
  append(table, {1, 10}, 1);
  append(table, {2, 20}, 2);
  EXPECT_FALSE(table.can_rewrite(0, 2));  // older than the last time
  EXPECT_FALSE(table.can_rewrite(1, 3));  // nothing was appended at that time
  ASSERT_TRUE(table.can_rewrite(1, 2));
  table.rewrite(1, std::array<uint32_t, 2>{3, 30}.data());
  const std::array<uint32_t, 1> old_key{2}, new_key{3};
  EXPECT_EQ(table.find(old_key.data()), kNoRow);
  EXPECT_EQ(table.find(new_key.data()), 1u);
  EXPECT_EQ(table.output(1), 30u);
  EXPECT_EQ(table.rows(), 2u);
  table.index(0b10);
  EXPECT_FALSE(table.can_rewrite(1, 2));
}

TEST(Table, ASubsumedRowLivesOnAndKeepsItsOrigin) {
  Table table(1);
  const std::array<uint32_t, 2> row{1, 10};
  table.append(row.data(), 1, RuleId{7}.value);
  table.subsume(0);
  EXPECT_TRUE(table.subsumed(0));
  EXPECT_TRUE(table.alive(0));
  EXPECT_EQ(table.origin(0), RuleId{7});
  EXPECT_EQ(table.find(row.data()), 0u);
  EXPECT_EQ(table.live(), 1u);
}

// Times of which compaction left nothing start where the next one does, or past the last row.
TEST(Table, CompactionTwiceKeepsTheTimesInOrder) {
  Table table(1);
  for (uint32_t i = 0; i < 400; ++i) append(table, {i, i}, 1 + i / 100);
  for (uint32_t i = 100; i < 400; ++i) table.kill(i);
  table.compact_if_sparse();
  ASSERT_EQ(table.rows(), 100u);
  EXPECT_EQ(table.first_row_since(2), 100u);
  for (uint32_t i = 400; i < 700; ++i) append(table, {i, i}, 5);
  for (uint32_t i = 100; i < 400; ++i) table.kill(i);
  table.compact_if_sparse();
  ASSERT_EQ(table.rows(), 100u);
  EXPECT_EQ(table.first_row_since(1), 0u);
  EXPECT_EQ(table.first_row_since(2), 100u);
  EXPECT_EQ(table.last_time(), 5u);
  append(table, {1000, 1}, 6);
  EXPECT_EQ(table.first_row_since(6), 100u);
}

// Between the average over rows and that over keys.
TEST(Table, EstimatesHowManyRowsALookUpFinds) {
  Table table(2);
  for (uint32_t i = 0; i < 8000; ++i) {
    // Column 0 tells all rows apart, column 1 is even, the value is skewed: one in two is 0.
    append(table, {i, i % 1000, i % 2 == 0 ? 0 : i}, 1);
  }
  EXPECT_NEAR(table.rows_per_key(0b001), 1, 0.1);
  EXPECT_NEAR(table.rows_per_key(0b010), 8, 6);
  EXPECT_GT(table.rows_per_key(0b100), 20);
  EXPECT_LT(table.rows_per_key(0b100), 2001);
}

// The model: a map from arguments to value and time.
TEST(Table, AgreesWithAMapOnRandomChanges) {
  std::mt19937 random(5);
  for (int round = 0; round < 30; ++round) {
    Table table(2);
    std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>> model;
    uint32_t time = 1;
    for (int step = 0; step < 2000; ++step) {
      const std::array<uint32_t, 3> row{uint32_t(random() % 20), uint32_t(random() % 20),
                                        uint32_t(random() % 5)};
      const uint32_t found = table.find(row.data());
      const auto entry = model.find({row[0], row[1]});
      ASSERT_EQ(found != kNoRow, entry != model.end());
      if (found != kNoRow) {
        ASSERT_EQ(table.output(found), entry->second.first);
        table.kill(found);
        model.erase(entry);
      }
      if (found == kNoRow || random() % 2 == 0) {
        table.append(row.data(), time, kInitial.value);
        model[{row[0], row[1]}] = {row[2], time};
      }
      if (random() % 10 == 0) ++time;
      if (random() % 100 == 0) table.compact_if_sparse();
      ASSERT_EQ(table.live(), model.size());
      if (step % 50 != 0) continue;
      const uint32_t since = random() % (time + 1), value = random() % 5;
      size_t expected_new = 0, expected_equal = 0, found_new = 0, found_equal = 0;
      for (const auto& [key, data] : model) {
        expected_new += data.second >= since;
        expected_equal += data.first == value;
      }
      for (size_t r = table.first_row_since(since); r < table.rows(); ++r) {
        found_new += table.alive(r);
      }
      for (uint32_t r : chain(table, 0b100, {value})) found_equal += table.alive(r);
      ASSERT_EQ(found_new, expected_new);
      ASSERT_EQ(found_equal, expected_equal);
    }
  }
}

}  // namespace
}  // namespace luminal::egraph
