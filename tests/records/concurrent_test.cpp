// Threads that share a store, and processes that share a file.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/records/samples.h"

namespace luminal::records {
namespace {

TEST(Concurrent, ThreadsMayShareAStore) {
  const TemporaryFolder folder;
  Store store = Store::open(folder / "records.sqlite");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        store.put(kernel_key(1000 * t + i), kernel_record(1e-3 * (t + 1)));
        store.put(kernel_key(-1), kernel_record(1e-3, 100 * t + i + 1));
        wrong += store.find(kernel_key(1000 * t + i)) != kernel_record(1e-3 * (t + 1));
        wrong += store.find(kernel_key(-1))->samples < 100 * t + i + 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(store.stats().kernels, 401);
  EXPECT_EQ(store.find(kernel_key(-1))->samples, 400);
}

// What a child process did; 0 when all went well.
int in_child(const std::function<bool()>& work) {
  int code = 2;
  try {
    code = work() ? 0 : 1;
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
  }
  fflush(nullptr);
  ::_exit(code);
}

TEST(Concurrent, ProcessesMayShareAFileFromItsFirstMomentOn) {
  const TemporaryFolder folder;
  const std::string file = folder / "records.sqlite";
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      in_child([&] {
        Store store = Store::open(file);
        for (int i = 0; i < 100; ++i) {
          store.put(kernel_key(1000 * p + i), kernel_record(1e-3));
          store.put(plan_key(0), comparison(std::to_string(1000 * p + i)));
          if (!store.find(kernel_key(1000 * p + i))) return false;
        }
        return true;
      });
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const Stats stats = Store::open(file).stats();
  EXPECT_EQ(stats.kernels, 400);
  EXPECT_EQ(stats.comparisons, 400);
  EXPECT_EQ(stats.damaged, 0);
  EXPECT_EQ(run_sql(file, "PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace luminal::records
