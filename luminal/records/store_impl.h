// Implementation of Store: a connection behind a lock, with a cache of the records read.
#pragma once

#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "luminal/base/hash.h"
#include "luminal/records/sqlite.h"
#include "luminal/records/store.h"

namespace luminal::records {

int64_t seconds_now();

struct KernelKeyHash {
  size_t operator()(const KernelKey& key) const {
    return base::combine(base::combine(base::hash(key.kernel), base::hash(key.device)),
                         base::hash(key.compiler));
  }
};

struct Store::Impl {
  std::filesystem::path file;
  Mode mode;
  std::unique_ptr<Connection> db;
  std::mutex mutex;
  int64_t refused = 0;
  // Cache of find(), valid as long as no other connection writes to the file.
  std::unordered_map<KernelKey, KernelRecord, KernelKeyHash> known;
  int64_t known_version = -1;
  // Rows whose time of use must be updated, with the next write or on closing.
  std::vector<KernelKey> used_kernels;
  std::vector<PlanKey> used_plans;
  bool missed_use = false;

  void forget_if_changed();
  void write_used();

  // Runs `work` under the lock; errors of SQLite become ones that say how to fix them.
  template <typename Work>
  auto guarded(const Work& work) {
    const std::lock_guard lock(mutex);
    try {
      return work();
    } catch (const DatabaseError& error) {
      throw_for_user(error, file);
    }
  }
  // The same for a lookup: if the file is damaged, the result is empty and counted as refused.
  template <typename Result, typename Work>
  Result looked_up(const Work& work) {
    return guarded([&]() -> Result {
      try {
        return work();
      } catch (const DatabaseError& error) {
        if (!error.is_damage()) throw;
        ++refused;
        return {};
      }
    });
  }
  // The same in a transaction.
  template <typename Work>
  void written(const Work& work) {
    check_writable();
    guarded([&] {
      Transaction transaction(*db);
      work();
      write_used();
      transaction.commit();
    });
  }
  void check_writable() const;
};

}  // namespace luminal::records
