#include "luminal/records/prune.h"

#include <algorithm>
#include <map>

#include "luminal/records/device_rows.h"
#include "luminal/records/kernel_rows.h"
#include "luminal/records/plan_rows.h"
#include "luminal/records/text_rows.h"

namespace luminal::records {
namespace {

struct Counts {
  int64_t kernels = 0, plans = 0, comparisons = 0;
};

Counts count(Connection& db) {
  return {integer_from(db, "SELECT count(*) FROM kernels"),
          integer_from(db, "SELECT count(*) FROM plans"),
          integer_from(db, "SELECT count(*) FROM comparisons")};
}

// Size of the file without its free pages, as it will be after a vacuum.
uint64_t live_bytes(Connection& db) {
  const int64_t pages =
      integer_from(db, "PRAGMA page_count") - integer_from(db, "PRAGMA freelist_count");
  return static_cast<uint64_t>(pages * integer_from(db, "PRAGMA page_size"));
}

// Collects the rows to keep, then deletes all others: a damaged row may have no key by which it
// could be deleted.
class Keeping {
 public:
  Keeping(Connection& db, const PruneOptions& options, int64_t now)
      : db_(db), options_(options), now_(now) {
    db_.run("PRAGMA temp_store = MEMORY");
    db_.run(
        "CREATE TEMP TABLE keep(kind TEXT, subject TEXT, device TEXT, compiler TEXT, champion "
        "BLOB, "
        "challenger BLOB, used INTEGER, PRIMARY KEY(kind, subject, device, compiler, champion, "
        "challenger)) WITHOUT ROWID");
  }

  // Lists the valid rows that no option removes; returns the number of all valid rows.
  Counts list() {
    Counts good;
    const auto ignore = [](Refusal&&) {};
    std::map<std::string, std::string> descriptions;
    each_device(
        db_,
        [&](Device&& device) {
          add("device", {device.fingerprint, "", ""}, now_);
          descriptions[device.fingerprint] = device.description;
        },
        ignore);
    const auto stays = [&](const std::string& device, const std::string& compiler, int64_t used) {
      if (options_.unused_seconds && now_ - used > *options_.unused_seconds) return false;
      if (options_.keep_compiler && !options_.keep_compiler(compiler)) return false;
      return !options_.keep_device || options_.keep_device({device, descriptions[device]});
    };
    each_kernel(
        db_,
        [&](KernelEntry&& entry, int64_t used) {
          ++good.kernels;
          if (!stays(entry.key.device, entry.key.compiler, used)) return;
          add("kernel", row_key(entry.key), used);
        },
        ignore);
    each_plan(
        db_,
        [&](PlanEntry&& entry, int64_t used) {
          good.plans += entry.champion.has_value();
          good.comparisons += static_cast<int64_t>(entry.comparisons.size());
          if (!stays(entry.key.device, entry.key.compiler, used)) return;
          const RowKey at = row_key(entry.key);
          if (entry.champion) add("plan", at, used);
          for (const Comparison& of : entry.comparisons) {
            add("comparison", at, used, of.champion, of.challenger);
          }
        },
        ignore);
    return good;
  }

  void remove_the_rest() {
    db_.run(
        "DELETE FROM kernels WHERE (kernel, device, compiler) NOT IN "
        "(SELECT subject, device, compiler FROM keep WHERE kind = 'kernel');"
        "DELETE FROM plans WHERE (question, device, compiler) NOT IN "
        "(SELECT subject, device, compiler FROM keep WHERE kind = 'plan');"
        "DELETE FROM comparisons WHERE (question, device, compiler, champion, challenger) NOT IN "
        "(SELECT subject, device, compiler, champion, challenger FROM keep WHERE kind = "
        "'comparison');"
        "DELETE FROM devices WHERE fingerprint NOT IN (SELECT subject FROM keep WHERE kind = "
        "'device') OR fingerprint NOT IN (SELECT CAST(content AS TEXT) FROM texts WHERE digest IN "
        "(SELECT device FROM kernels UNION SELECT device FROM plans UNION "
        "SELECT device FROM comparisons))");
    remove_unused_texts(db_);
  }

  // Takes the least recently used sixteenth off the list; false if nothing is left. A plan and its
  // comparisons have the same time of use and are removed together.
  bool shorten() {
    const int64_t left = integer_from(db_, "SELECT count(*) FROM keep WHERE kind <> 'device'");
    if (left == 0) return false;
    Query(db_,
          "DELETE FROM keep WHERE (subject, device, compiler) IN (SELECT subject, device, compiler "
          "FROM keep WHERE kind <> 'device' ORDER BY used, subject, device, compiler LIMIT ?)")
        .integer((left + 15) / 16)
        .run();
    return true;
  }

  void forget() { db_.run("DROP TABLE temp.keep"); }

 private:
  void add(std::string_view kind, const RowKey& at, int64_t used, std::string_view champion = {},
           std::string_view challenger = {}) {
    Query query(db_, "INSERT INTO temp.keep VALUES(?, ?, ?, ?, ?, ?, ?)");
    query.text(kind).text(at.subject).text(at.device).text(at.compiler);
    query.blob(champion).blob(challenger).integer(used).run();
  }

  Connection& db_;
  const PruneOptions& options_;
  int64_t now_;
};

}  // namespace

PruneResult prune_rows(Connection& db, const PruneOptions& options, int64_t now) {
  Transaction transaction(db);
  const Counts before = count(db);
  PruneResult result{.bytes_before = live_bytes(db)};
  Keeping keeping(db, options, now);
  const Counts good = keeping.list();
  keeping.remove_the_rest();
  while (options.most_bytes && live_bytes(db) > *options.most_bytes && keeping.shorten()) {
    keeping.remove_the_rest();
  }
  const Counts after = count(db);
  result.kernels = good.kernels - after.kernels;
  result.plans = good.plans - after.plans;
  result.comparisons = good.comparisons - after.comparisons;
  result.damaged = before.kernels + before.plans + before.comparisons - good.kernels - good.plans -
                   good.comparisons;
  result.bytes_after = live_bytes(db);
  keeping.forget();
  // A dry run does everything, then rolls back.
  if (!options.dry_run) transaction.commit();
  return result;
}

}  // namespace luminal::records
