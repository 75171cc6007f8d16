#include "luminal/records/schema.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <map>
#include <system_error>
#include <thread>

#include "luminal/base/errors.h"
#include "luminal/base/os/own_file.h"

namespace luminal::records {
namespace {

// "lumR": distinguishes our files from other programs' databases.
constexpr int64_t kApplication = 0x6c756d52;

struct Table {
  std::string_view name;
  std::string_view sql;
};

// Long texts are stored once, under their digest, and referenced by it: a plan's row and each of
// its comparisons name the same question. `used` is in seconds since 1970; `sum` is sum_of().
constexpr std::array<Table, 5> kTables = {{
    {"comparisons",
     "CREATE TABLE comparisons(question TEXT NOT NULL, device TEXT NOT NULL, compiler TEXT NOT "
     "NULL, champion BLOB NOT NULL, challenger BLOB NOT NULL, ratio REAL NOT NULL, low REAL NOT "
     "NULL, high REAL NOT NULL, rounds INTEGER NOT NULL, sum TEXT NOT NULL, used INTEGER NOT NULL, "
     "PRIMARY KEY(question, device, compiler, champion, challenger)) STRICT, WITHOUT ROWID"},
    {"devices",
     "CREATE TABLE devices(fingerprint TEXT NOT NULL PRIMARY KEY, description BLOB NOT NULL, peaks "
     "BLOB NOT NULL) STRICT, WITHOUT ROWID"},
    {"kernels",
     "CREATE TABLE kernels(kernel TEXT NOT NULL, device TEXT NOT NULL, compiler TEXT NOT NULL, "
     "seconds REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL, samples INTEGER NOT NULL, "
     "checked INTEGER NOT NULL, note BLOB NOT NULL, sum TEXT NOT NULL, used INTEGER NOT NULL, "
     "PRIMARY KEY(kernel, device, compiler)) STRICT, WITHOUT ROWID"},
    {"plans",
     "CREATE TABLE plans(question TEXT NOT NULL, device TEXT NOT NULL, compiler TEXT NOT NULL, "
     "plan TEXT NOT NULL, rank INTEGER NOT NULL, sum TEXT NOT NULL, used INTEGER NOT NULL, "
     "PRIMARY KEY(question, device, compiler)) STRICT, WITHOUT ROWID"},
    {"texts", "CREATE TABLE texts(digest TEXT NOT NULL PRIMARY KEY, content BLOB NOT NULL) STRICT"},
}};

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view what) {
  throw UserError(fmt::format("records: '{}' {}", file.string(), what));
}

// Throws if the path can't be a file of records; returns whether there is a file.
bool check_path(const std::filesystem::path& file, Mode mode) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    if (mode == Mode::ReadOnly) fail(file, "isn't there; nothing has been recorded in it yet");
    return false;
  }
  if (error) fail(file, fmt::format("can't be reached ({}); name another", error.message()));
  if (std::filesystem::is_directory(status)) fail(file, "is a folder; name a file in it");
  if (!std::filesystem::is_regular_file(status)) fail(file, "isn't a regular file; name another");
  return true;
}

void make_folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (base::make_private_folder(folder)) return;
  throw UserError(
      fmt::format("records: can't make the folder '{}'; name a file elsewhere", folder.string()));
}

// Records decide which plans run, so only this user or the administrator may own the file.
void check_owner(const std::filesystem::path& file) {
  std::error_code absent;
  std::filesystem::path real = std::filesystem::canonical(file, absent);
  if (absent) real = std::filesystem::absolute(file);
  const std::filesystem::path folder = real.parent_path();
  if (const std::string why = base::why_others_may_replace(folder); !why.empty()) {
    fail(file, fmt::format("isn't used, because of its folder: {}; chmod 700 the folder and remove "
                           "what others left in it, or name a file elsewhere",
                           why));
  }
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
    const std::string part = real.string() + ending;
    if (const std::string why = base::why_not_own(part); !why.empty()) {
      fail(file, fmt::format("isn't used, because of '{}': {}; remove it, or name another file",
                             part, why));
    }
  }
}

struct Header {
  int64_t application = 0;
  int64_t version = 0;
  std::map<std::string, std::string> tables = {};  // and indices, views, …: SQL by name
};

// Read in one transaction: another process may be creating the tables.
Header read_header(Connection& db) {
  Header header;
  db.run("SAVEPOINT header");
  {
    header.application = integer_from(db, "PRAGMA application_id");
    header.version = integer_from(db, "PRAGMA user_version");
    Query query(db, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL");
    while (query.step()) header.tables[query.bytes(0)] = query.bytes(1);
  }
  db.run("RELEASE header");
  return header;
}

enum class Content { Nothing, Records };

// Checks the file's application and version before anything in it is used.
Content look(Connection& db, const std::filesystem::path& file) {
  const auto [application, version, tables] = read_header(db);
  if (application == 0 && version == 0 && tables.empty()) return Content::Nothing;
  if (application != kApplication) {
    fail(file, "is another program's database; name a file of its own for records");
  }
  if (version > kSchemaVersion) {
    fail(file,
         fmt::format("has records of version {}, and this program knows up to {}; use a newer "
                     "one, or name another file",
                     version, kSchemaVersion));
  }
  if (version < kSchemaVersion) {
    fail(file, fmt::format("has records of version {}, which no released program wrote; remove it",
                           version));
  }
  bool as_known = tables.size() == kTables.size();
  for (const Table& table : kTables) {
    const auto found = tables.find(std::string(table.name));
    as_known = as_known && found != tables.end() && found->second == table.sql;
  }
  if (!as_known)
    fail(file, "doesn't have the tables of tuning records, so it was changed; remove it");
  return Content::Records;
}

// With a write-ahead log readers don't wait for writers, and a killed process leaves no partial
// writes. Switching a file to it needs an exclusive lock, for which SQLite doesn't always wait.
void use_write_ahead_log(Connection& db) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (true) {
    try {
      Query(db, "PRAGMA journal_mode = WAL").run();
      break;
    } catch (const DatabaseError& error) {
      if (!error.is_busy() || std::chrono::steady_clock::now() > deadline) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  // A commit survives a crash of the process at once, and of the machine from the next checkpoint
  // on. That is enough: measurements can be repeated.
  db.run("PRAGMA synchronous = NORMAL");
  db.run("PRAGMA journal_size_limit = 16777216");
}

void create_tables(Connection& db, const std::filesystem::path& file) {
  Transaction transaction(db);
  if (look(db, file) == Content::Nothing) {  // no other process created them meanwhile
    for (const Table& table : kTables) db.run(std::string(table.sql));
    db.run(fmt::format("PRAGMA application_id = {}", kApplication));
    db.run(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
  }
  transaction.commit();
}

// A damaged page must give an error, not a wrong answer.
void be_strict(Connection& db) {
  db.run("PRAGMA cell_size_check = ON");
  db.run("PRAGMA mmap_size = 0");
}

std::unique_ptr<Connection> open_to_write(const std::filesystem::path& file) {
  auto db = std::make_unique<Connection>(file, Access::Create);
  be_strict(*db);
  const Content content = look(*db, file);
  use_write_ahead_log(*db);
  if (content == Content::Nothing) create_tables(*db, file);
  return db;
}

std::unique_ptr<Connection> open_to_read(const std::filesystem::path& file, Access access) {
  auto db = std::make_unique<Connection>(file, access);
  be_strict(*db);
  if (look(*db, file) == Content::Nothing) fail(file, "is empty; nothing has been recorded in it");
  return db;
}

bool has_log(const std::filesystem::path& file) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(file.string() + "-wal", error);
  return !error && size > 0;
}

}  // namespace

std::unique_ptr<Connection> open_database(const std::filesystem::path& file, Mode mode) {
  if (!check_path(file, mode)) make_folder_of(file);
  check_owner(file);
  try {
    if (mode == Mode::ReadWrite) return open_to_write(file);
    try {
      return open_to_read(file, Access::Read);
    } catch (const DatabaseError& error) {
      // Even readers create a lock file beside the database. If the folder can't be written to,
      // nobody else writes the database either, so no lock is needed.
      if (!error.is_access() || has_log(file)) throw;
      return open_to_read(file, Access::ReadUnchanging);
    }
  } catch (const DatabaseError& error) {
    throw_for_user(error, file);
  }
}

}  // namespace luminal::records
