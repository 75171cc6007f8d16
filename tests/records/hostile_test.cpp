// Files that no store wrote, or that were changed since: a named error, or records that are absent;
// never a wrong record, a crash or a hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "tests/records/samples.h"
#include "tests/support/random_source.h"
#include "tests/support/user_error.h"

namespace luminal::records {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr int kKernels = 40;

std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

class HostileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Store store = Store::open(file_);
    for (int i = 0; i < kKernels; ++i) store.put(kernel_key(i), kernel_record(1e-3 * (i + 1)));
    for (int i = 0; i < 5; ++i) {
      store.put(plan_key(i), comparison("b"));
      store.put_plan(plan_key(i), "plan " + std::to_string(i));
    }
    store.put(device("a processor"));
  }

  std::string open_fault() {
    return tests::user_error([&] { Store::open(file_); });
  }

  // Every record that is found is the one that was written; how many are.
  int count_true_records(const Store& store) {
    int found = 0;
    for (int i = 0; i < kKernels; ++i) {
      const auto record = store.find(kernel_key(i));
      if (!record) continue;
      ++found;
      EXPECT_EQ(record, kernel_record(1e-3 * (i + 1))) << i;
    }
    for (int i = 0; i < 5; ++i) {
      const auto plan = store.plan(plan_key(i));
      EXPECT_EQ(plan.value_or("plan " + std::to_string(i)), "plan " + std::to_string(i));
      for (const Comparison& of : store.comparisons(plan_key(i))) EXPECT_EQ(of, comparison("b"));
      found += plan.has_value();
    }
    return found;
  }

  // After `sql`, which alters one kernel's row, that one is absent, and all says so.
  void expect_one_refused(const std::string& sql) {
    SCOPED_TRACE(sql);
    run_sql(file_, sql);
    Store store = Store::open(file_);
    EXPECT_FALSE(store.find(kernel_key(0)));
    EXPECT_EQ(store.refused(), 1);
    EXPECT_TRUE(store.find(kernel_key(1)));
    const Stats stats = store.stats();
    EXPECT_EQ(stats.damaged, 1);
    EXPECT_EQ(stats.kernels, kKernels - 1);
    ASSERT_EQ(stats.damage.size(), 1u);
    EXPECT_NE(stats.damage[0].why, "");
    // Measured again it is back.
    store.put(kernel_key(0), kernel_record(1e-3));
    EXPECT_EQ(store.find(kernel_key(0)), kernel_record(1e-3));
    EXPECT_EQ(store.stats().damaged, 0);
  }

  TemporaryFolder folder_;
  std::string file_ = folder_ / "records.sqlite";
  std::string whose_ = " WHERE kernel = '" + base::digest(kernel_key(0).kernel) + "'";
};

TEST_F(HostileTest, RowsThatNobodyMeasuredAreRefused) {
  for (const char* change :
       {"seconds = 1.0000001e-3", "seconds = -1", "seconds = 0", "seconds = 9e999",
        "seconds = 5e-3", "low = 2e-3", "high = 0.5e-3", "low = -1", "samples = 0", "samples = -3",
        "samples = 11", "samples = 4294967306", "checked = 0", "note = x'00'", "sum = 'nonsense'",
        "sum = ''"}) {
    expect_one_refused("UPDATE kernels SET " + std::string(change) + whose_);
  }
}

TEST_F(HostileTest, TextsThatArentThoseOfTheirDigestAreRefused) {
  const std::string digest = base::digest(kernel_key(0).kernel);
  expect_one_refused("UPDATE texts SET content = x'616263' WHERE digest = '" + digest + "'");
  expect_one_refused("UPDATE texts SET content = x'' WHERE digest = '" + digest + "'");
  expect_one_refused("DELETE FROM texts WHERE digest = '" + digest + "'");
  expect_one_refused("UPDATE texts SET content = CAST(content || 'y' AS BLOB) WHERE digest = '" +
                     digest + "'");
}

TEST_F(HostileTest, ARowUnderAnotherKeyIsRefused) {
  const std::string other = base::digest(kernel_key(1).kernel);
  run_sql(file_, "DELETE FROM kernels" + whose_);
  run_sql(file_, "UPDATE kernels SET kernel = '" + base::digest(kernel_key(0).kernel) +
                     "' WHERE kernel = '" + other + "'");
  const Store store = Store::open(file_);
  EXPECT_FALSE(store.find(kernel_key(0))) << "it is kernel 1's time";
  EXPECT_FALSE(store.find(kernel_key(1)));
  EXPECT_EQ(store.refused(), 1);
}

TEST_F(HostileTest, PlansAndComparisonsThatWereChangedAreRefused) {
  const std::string question = " WHERE question = '" + base::digest(plan_key(0).question) + "'";
  for (const std::string& change :
       {"UPDATE plans SET rank = 7" + question, "UPDATE plans SET rank = -1" + question,
        "UPDATE plans SET plan = '" + base::digest("plan 1") + "'" + question,
        "UPDATE texts SET content = x'00' WHERE digest = '" + base::digest("plan 0") + "'",
        "UPDATE plans SET sum = 'x'" + question}) {
    SCOPED_TRACE(change);
    run_sql(file_, change);
    Store store = Store::open(file_);
    EXPECT_FALSE(store.plan(plan_key(0)));
    EXPECT_EQ(store.refused(), 1);
    EXPECT_EQ(store.stats().damaged, 1);
    store.put_plan(plan_key(0), "plan 0");
    EXPECT_EQ(store.plan(plan_key(0)), "plan 0");
    EXPECT_EQ(store.stats().damaged, 0);
  }
  for (const char* change : {"ratio = 1.1", "low = 9", "rounds = 8", "rounds = 0", "sum = 'x'"}) {
    SCOPED_TRACE(change);
    run_sql(file_, "UPDATE comparisons SET " + std::string(change) + question);
    Store store = Store::open(file_);
    EXPECT_TRUE(store.comparisons(plan_key(0)).empty());
    EXPECT_EQ(store.refused(), 1);
    EXPECT_EQ(store.stats().damaged, 1);
    store.put(plan_key(0), comparison("b"));
    EXPECT_EQ(store.comparisons(plan_key(0)), std::vector{comparison("b")});
  }
  run_sql(file_, "UPDATE devices SET description = x'00'");
  EXPECT_EQ(Store::open(file_).stats().damaged, 1);
}

TEST_F(HostileTest, FilesThatArentRecordsAreNamed) {
  write(file_,
        "this is a letter, not a database; it is longer than the header of one, which has "
        "100 bytes, so that nobody takes it for one that is still short");
  EXPECT_THAT(open_fault(), HasSubstr("isn't a file of tuning records"));
  EXPECT_THAT(tests::user_error([&] { Store::open(file_, Mode::ReadOnly); }),
              HasSubstr("isn't a file of tuning records"));
  std::filesystem::remove(file_);
  run_sql(file_, "CREATE TABLE kernels(a)");
  EXPECT_THAT(open_fault(), HasSubstr("another program's database"));
  std::filesystem::remove(file_);
  run_sql(file_, "PRAGMA user_version = 1; CREATE TABLE t(a)");
  EXPECT_THAT(open_fault(), HasSubstr("another program's database"));
}

TEST_F(HostileTest, OtherVersionsAreNamed) {
  run_sql(file_, "PRAGMA user_version = 3");
  EXPECT_THAT(open_fault(), HasSubstr("version 3, and this program knows up to 2"));
  run_sql(file_, "PRAGMA user_version = 0");
  EXPECT_THAT(open_fault(), HasSubstr("version 0"));
  run_sql(file_, "PRAGMA user_version = -1");
  EXPECT_THAT(open_fault(), HasSubstr("version -1"));
}

TEST_F(HostileTest, TablesTriggersAndViewsThatArentOursAreNamed) {
  const std::string good = bytes_of(file_);
  for (const char* sql :
       {"DROP TABLE plans", "ALTER TABLE kernels ADD COLUMN more INTEGER", "CREATE TABLE more(a)",
        "CREATE INDEX i ON kernels(seconds)",
        "CREATE TRIGGER t AFTER INSERT ON kernels BEGIN DELETE FROM kernels; END",
        "DROP TABLE devices; CREATE VIEW devices AS SELECT 'a' AS fingerprint, 'b' AS description",
        "DROP TABLE devices; CREATE TABLE devices(fingerprint, description)"}) {
    write(file_, good);
    run_sql(file_, sql);
    EXPECT_THAT(open_fault(), HasSubstr("doesn't have the tables of tuning records")) << sql;
  }
}

TEST_F(HostileTest, AnEmptyFileIsANewStore) {
  write(file_, "");
  EXPECT_THAT(tests::user_error([&] { Store::open(file_, Mode::ReadOnly); }),
              HasSubstr("is empty"));
  Store::open(file_).put(kernel_key(0), kernel_record(1e-3));
  EXPECT_TRUE(Store::open(file_).find(kernel_key(0)));
}

TEST_F(HostileTest, PathsThatCantBeFilesAreNamed) {
  const auto fault = [](const std::string& path) {
    return tests::user_error([&] { Store::open(path); });
  };
  EXPECT_THAT(fault(folder_.path()), HasSubstr("is a folder"));
  std::filesystem::create_symlink(folder_ / "b", folder_ / "a");
  std::filesystem::create_symlink(folder_ / "a", folder_ / "b");
  EXPECT_THAT(fault(folder_ / "a"), HasSubstr("can't be reached"));
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(fault(folder_ / "pipe"), HasSubstr("isn't a regular file"));
  EXPECT_THAT(fault("/dev/null"), HasSubstr("isn't a regular file"));
  EXPECT_THAT(fault(file_ + "/below"), AnyOf(HasSubstr("can't"), HasSubstr("isn't")));
  EXPECT_THAT(fault("/proc/records.sqlite"), HasSubstr("name another file"));
  EXPECT_THAT(fault("/proc/new/records.sqlite"), HasSubstr("can't make the folder"));
  EXPECT_THAT(fault(folder_ / std::string(300, 'x')), HasSubstr("can't be reached"));
  // Names that mean something to SQLite are names like others here.
  Store::open(folder_ / "100% ?mode=memory#x").put(kernel_key(0), kernel_record(1e-3));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "100% ?mode=memory#x"));
}

TEST_F(HostileTest, WhateverPartOfAFileIsLeftIsAnErrorOrTrueRecords) {
  const std::string whole = bytes_of(file_);
  tests::RandomSource random(7);
  int opened = 0;
  for (int round = 0; round < 60; ++round) {
    write(file_, whole.substr(0, static_cast<size_t>(random.below(std::ssize(whole)))));
    std::filesystem::remove(file_ + "-wal");
    std::filesystem::remove(file_ + "-shm");
    try {
      const Store store = Store::open(file_);
      count_true_records(store);
      store.stats();
      exported(store);
      ++opened;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("'" + file_ + "'"));
    }
  }
  EXPECT_GT(opened, 0);
}

// Of each table in turn, bytes of its pages are changed at random.
TEST_F(HostileTest, FlippedBytesAnywhereInAnyTableGiveTrueRecordsOrNone) {
  const std::string whole = bytes_of(file_);
  const int64_t page_size = std::stoll(run_sql(file_, "PRAGMA page_size"));
  const auto pages = static_cast<int64_t>(whole.size()) / page_size;
  tests::RandomSource random(11);
  int refused_somewhere = 0;
  for (int round = 0; round < 120; ++round) {
    std::string damaged = whole;
    // Each page in turn, so that tables, their indices and the header all get their share.
    const int64_t page = round % pages;
    for (int64_t k = random.between(1, 4); k > 0; --k) {
      const auto at = static_cast<size_t>(page * page_size + random.below(page_size));
      damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(random.between(1, 255)));
    }
    write(file_, damaged);
    try {
      Store store = Store::open(file_);
      count_true_records(store);
      refused_somewhere += store.stats().damaged > 0;
      Store merged = Store::open(folder_ / ("merged" + std::to_string(round)));
      merged.merge_from(file_);
      count_true_records(merged);
      EXPECT_EQ(merged.stats().damaged, 0);
      store.put(kernel_key(kKernels), kernel_record(1e-3));
      store.prune({});
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("records: '" + file_ + "'"));
    }
    std::filesystem::remove(file_ + "-wal");
    std::filesystem::remove(file_ + "-shm");
  }
  EXPECT_GT(refused_somewhere, 5);
}

TEST_F(HostileTest, ALogOfNonsenseBesideTheFileIsIgnored) {
  tests::RandomSource random(3);
  std::string nonsense(100'000, '\0');
  for (char& byte : nonsense) byte = static_cast<char>(random.bits());
  write(file_ + "-wal", nonsense);
  write(file_ + "-shm", nonsense.substr(0, 32'768));
  EXPECT_EQ(count_true_records(Store::open(file_)), kKernels + 5);
}

// A disk that takes no more, as a limit on the size of files makes it.
TEST_F(HostileTest, WhereNothingMoreCanBeWrittenTheErrorSaysSoAndNothingIsLost) {
  Store store = Store::open(file_);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 200'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const KernelKey large{std::string(300'000, 'x'), "device", "compiler"};
  const std::string fault = tests::user_error([&] { store.put(large, kernel_record(1e-3)); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_THAT(fault, HasSubstr("free space"));
  EXPECT_EQ(count_true_records(store), kKernels + 5);
  store.put(large, kernel_record(1e-3));
  EXPECT_TRUE(store.find(large));
  EXPECT_EQ(run_sql(file_, "PRAGMA integrity_check"), "ok");
}

TEST_F(HostileTest, AFullDatabaseIsNamed) {
  EXPECT_THAT(tests::user_error([&] {
                throw_for_user(DatabaseError(SQLITE_FULL, "database or disk is full"), "f");
              }),
              HasSubstr("the disk is full; free some space"));
  EXPECT_THAT(tests::user_error([&] { throw_for_user(DatabaseError(SQLITE_BUSY, "locked"), "f"); }),
              HasSubstr("locked by another process"));
}

}  // namespace
}  // namespace luminal::records
