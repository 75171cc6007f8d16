// Records to test with, and a way behind the store's back into its file.
#pragma once

#include <sqlite3.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "luminal/base/digest.h"
#include "luminal/records/store.h"
#include "tests/io/temporary_folder.h"

namespace luminal::records {

inline KernelKey kernel_key(int number, const std::string& device = "this device") {
  return {"(kernel " + std::to_string(number) + " (sizes 4 5))", device, "compiler 1"};
}

inline KernelRecord kernel_record(double seconds, int samples = 10) {
  return {.seconds = seconds,
          .low = 0.9 * seconds,
          .high = 1.25 * seconds,
          .samples = samples,
          .checked = true,
          .note = "a note"};
}

inline PlanKey plan_key(int number) {
  return {std::string("question\0\xff", 10) + std::to_string(number), "this device", "compiler 1"};
}

inline Comparison comparison(const std::string& challenger, double ratio = 1.5, int rounds = 7) {
  return {.champion = base::digest("a plan"),
          .challenger = base::digest(challenger),
          .ratio = ratio,
          .low = ratio / 2,
          .high = ratio * 2,
          .rounds = rounds};
}

inline Device device(const std::string& description) {
  return {.fingerprint = base::digest(description), .description = description};
}

inline std::string exported(const Store& store) {
  std::ostringstream out;
  store.export_lines(out);
  return out.str();
}

inline MergeResult import_text(Store& store, const std::string& text) {
  std::istringstream in(text);
  return store.import_lines(in, "test");
}

// Statements on a file, as somebody without this library would run them; the first column of the
// last row.
inline std::string run_sql(const std::string& file, const std::string& sql) {
  sqlite3* db = nullptr;
  sqlite3_open(file.c_str(), &db);
  sqlite3_busy_timeout(db, 10'000);
  std::string result;
  const auto take = [](void* to, int columns, char** values, char**) {
    if (columns > 0 && values[0] != nullptr) *static_cast<std::string*>(to) = values[0];
    return 0;
  };
  const int code = sqlite3_exec(db, sql.c_str(), take, &result, nullptr);
  const std::string message = sqlite3_errmsg(db);
  sqlite3_close(db);
  if (code != SQLITE_OK) throw std::runtime_error(sql + ": " + message);
  return result;
}

}  // namespace luminal::records
