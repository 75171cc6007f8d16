#include "luminal/records/plan_rows.h"

#include <algorithm>
#include <climits>

#include "luminal/base/check.h"
#include "luminal/base/digest.h"
#include "luminal/records/text_rows.h"

namespace luminal::records {
namespace {

constexpr std::string_view kOtherTexts = "its texts don't match its key";
constexpr std::string_view kAltered = "its checksum doesn't match";

bool has_texts_of(Connection& db, const RowKey& at, const PlanKey& key) {
  return has_texts(db, at, key.question, key.device, key.compiler);
}

void store_texts_of(Connection& db, const RowKey& at, const PlanKey& key) {
  store_text(db, at.subject, key.question);
  store_text(db, at.device, key.device);
  store_text(db, at.compiler, key.compiler);
}

// A row of `plans`; the texts of its key aren't compared.
Found<Champion> champion_at(Connection& db, const RowKey& at) {
  Query row(db,
            "SELECT plan, rank, sum, used FROM plans WHERE question = ? AND device = ? AND "
            "compiler = ?");
  row.text(at.subject).text(at.device).text(at.compiler);
  if (!row.step()) return {};
  const std::string digest = row.bytes(0);
  const int64_t rank = row.integer_at(1);
  const auto refused = [](std::string_view why) {
    return Found<Champion>{.why_refused = std::string(why)};
  };
  if (sum_of(at, digest, rank) != row.bytes(2)) return refused(kAltered);
  std::optional<std::string> bytes = find_text(db, digest);
  if (!bytes) return refused("the plan itself is absent or damaged");
  Champion champion{.bytes = *std::move(bytes), .rank = rank};
  if (const std::string why = why_refused(champion); !why.empty()) return refused(why);
  return {.record = std::move(champion), .used = row.integer_at(3)};
}

struct ComparisonRow {
  Comparison comparison;
  int64_t used = 0;
};

// Rows of `comparisons`; the texts of their key aren't compared.
std::vector<ComparisonRow> comparisons_at(Connection& db, const RowKey& at,
                                          const std::function<void(Refusal&&)>& refuse) {
  Query row(db,
            "SELECT champion, challenger, ratio, low, high, rounds, sum, used FROM comparisons "
            "WHERE question = ? AND device = ? AND compiler = ? ORDER BY champion, challenger");
  row.text(at.subject).text(at.device).text(at.compiler);
  std::vector<ComparisonRow> rows;
  while (row.step()) {
    const auto rounds = std::clamp<int64_t>(row.integer_at(5), INT_MIN, INT_MAX);
    Comparison comparison{.champion = row.bytes(0),
                          .challenger = row.bytes(1),
                          .ratio = row.real_at(2),
                          .low = row.real_at(3),
                          .high = row.real_at(4),
                          .rounds = static_cast<int>(rounds)};
    std::string why =
        sum_of(at, comparison) != row.bytes(6) ? std::string(kAltered) : why_refused(comparison);
    if (why.empty()) {
      rows.push_back({std::move(comparison), row.integer_at(7)});
    } else {
      refuse({row_name("comparison of", at.subject), std::move(why)});
    }
  }
  return rows;
}

void touch_champion(Connection& db, const RowKey& at, int64_t used) {
  Query(db, "UPDATE plans SET used = ? WHERE question = ? AND device = ? AND compiler = ?")
      .integer(used)
      .text(at.subject)
      .text(at.device)
      .text(at.compiler)
      .run();
}

void touch_comparisons(Connection& db, const RowKey& at, int64_t used) {
  Query(db, "UPDATE comparisons SET used = ? WHERE question = ? AND device = ? AND compiler = ?")
      .integer(used)
      .text(at.subject)
      .text(at.device)
      .text(at.compiler)
      .run();
}

}  // namespace

Found<Champion> find_champion(Connection& db, const PlanKey& key) {
  const RowKey at = row_key(key);
  Found<Champion> found = champion_at(db, at);
  if (found.record && !has_texts_of(db, at, key)) {
    return {.why_refused = std::string(kOtherTexts)};
  }
  return found;
}

std::vector<Comparison> find_comparisons(Connection& db, const PlanKey& key,
                                         const std::function<void(Refusal&&)>& refuse) {
  const RowKey at = row_key(key);
  std::vector<ComparisonRow> rows = comparisons_at(db, at, refuse);
  std::vector<Comparison> good;
  const bool of_this_key = rows.empty() || has_texts_of(db, at, key);
  for (ComparisonRow& row : rows) {
    if (of_this_key) {
      good.push_back(std::move(row.comparison));
    } else {
      refuse({row_name("comparison of", at.subject), std::string(kOtherTexts)});
    }
  }
  return good;
}

Outcome put_champion(Connection& db, const PlanKey& key, const Champion& champion, int64_t used) {
  const std::string why_not = why_refused(key) + why_refused(champion);
  LUMINAL_CHECK(why_not.empty(), "an invalid plan can't be recorded: " + why_not);
  const RowKey at = row_key(key);
  const Found<Champion> old = find_champion(db, key);
  if (old.record && !supersedes(champion, *old.record)) {
    if (used > old.used) touch_champion(db, at, used);
    return Outcome::Kept;
  }
  const std::string digest = base::digest(champion.bytes);
  store_texts_of(db, at, key);
  store_text(db, digest, champion.bytes);
  const std::string sum = sum_of(at, digest, champion.rank);
  Query query(db,
              "INSERT OR REPLACE INTO plans(question, device, compiler, plan, rank, sum, used) "
              "VALUES(?, ?, ?, ?, ?, ?, ?)");
  query.text(at.subject).text(at.device).text(at.compiler).text(digest).integer(champion.rank);
  query.text(sum).integer(std::max(used, old.used)).run();
  return old.record ? Outcome::Replaced : Outcome::Added;
}

Outcome put_comparison(Connection& db, const PlanKey& key, const Comparison& comparison,
                       int64_t used) {
  const std::string why_not = why_refused(key) + why_refused(comparison);
  LUMINAL_CHECK(why_not.empty(), "an invalid comparison can't be recorded: " + why_not);
  const RowKey at = row_key(key);
  std::optional<ComparisonRow> old;
  // Damaged rows are ignored, so that valid ones replace them.
  for (ComparisonRow& row : comparisons_at(db, at, [](Refusal&&) {})) {
    const bool is_same_pair = row.comparison.champion == comparison.champion &&
                              row.comparison.challenger == comparison.challenger;
    if (is_same_pair) old = std::move(row);
  }
  const bool of_this_key = has_texts_of(db, at, key);
  if (old && of_this_key && !supersedes(comparison, old->comparison)) {
    if (used > old->used) touch_comparisons(db, at, used);
    return Outcome::Kept;
  }
  if (!of_this_key) store_texts_of(db, at, key);
  const std::string sum = sum_of(at, comparison);
  Query query(
      db,
      "INSERT OR REPLACE INTO comparisons(question, device, compiler, champion, challenger, "
      "ratio, low, high, rounds, sum, used) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  query.text(at.subject).text(at.device).text(at.compiler);
  query.blob(comparison.champion).blob(comparison.challenger);
  query.real(comparison.ratio).real(comparison.low).real(comparison.high);
  query.integer(comparison.rounds).text(sum).integer(std::max(used, old ? old->used : 0)).run();
  return old ? Outcome::Replaced : Outcome::Added;
}

void touch_plan(Connection& db, const PlanKey& key, int64_t used) {
  const RowKey at = row_key(key);
  touch_champion(db, at, used);
  touch_comparisons(db, at, used);
}

void each_plan(Connection& db, const std::function<void(PlanEntry&&, int64_t used)>& use,
               const std::function<void(Refusal&&)>& refuse) {
  Query keys(db,
             "SELECT question, device, compiler FROM plans UNION "
             "SELECT question, device, compiler FROM comparisons ORDER BY 1, 2, 3");
  while (keys.step()) {
    const RowKey at{keys.bytes(0), keys.bytes(1), keys.bytes(2)};
    const auto question = find_text(db, at.subject);
    const auto device = find_text(db, at.device);
    const auto compiler = find_text(db, at.compiler);
    if (!question || !device || !compiler) {
      refuse({row_name("plan of", at.subject), "a text of its key is absent or damaged"});
      continue;
    }
    PlanEntry entry{.key = {*question, *device, *compiler}};
    Found<Champion> champion = champion_at(db, at);
    if (!champion.why_refused.empty()) {
      refuse({row_name("plan of", at.subject), champion.why_refused});
    }
    int64_t used = champion.used;
    entry.champion = std::move(champion.record);
    for (ComparisonRow& row : comparisons_at(db, at, refuse)) {
      used = std::max(used, row.used);
      entry.comparisons.push_back(std::move(row.comparison));
    }
    if (entry.champion || !entry.comparisons.empty()) use(std::move(entry), used);
  }
}

}  // namespace luminal::records
