// The inside of a Store: a connection behind a lock, with what was read of it in memory.
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
  // What find() found, as long as no other connection writes to the file.
  std::unordered_map<KernelKey, KernelRecord, KernelKeyHash> known;
  int64_t known_version = -1;
  // Rows whose time of use is to be written, with the next write or at the end.
  std::vector<KernelKey> used_kernels;
  std::vector<PlanKey> used_plans;

  void forget_if_changed();
  void write_used();

  // Runs `work` alone; what SQLite reports becomes an error that says the way out.
  template <typename Work>
  auto guarded(const Work& work) {
    const std::lock_guard lock(mutex);
    try {
      return work();
    } catch (const DatabaseError& error) {
      throw_for_user(error, file);
    }
  }
  // The same for reading one thing: where the file is damaged it is absent, and counted.
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
