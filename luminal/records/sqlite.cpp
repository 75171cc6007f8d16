#include "luminal/records/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/records/record.h"

namespace luminal::records {
namespace {

// Transactions take well below a millisecond each; a wait this long means that one is stuck.
constexpr int kBusyMilliseconds = 30'000;

int primary(int code) { return code & 0xff; }

// A path as a URI, through which SQLite takes options.
std::string uri_of(const std::filesystem::path& file, std::string_view options) {
  std::string uri = "file:";
  for (unsigned char c : std::filesystem::absolute(file).string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '-' || c == '_' || c == '.';
    uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02x}", c);
  }
  return uri + std::string(options);
}

}  // namespace

std::string_view sqlite_version() { return sqlite3_libversion(); }

bool DatabaseError::is_damage() const {
  return primary(code_) == SQLITE_CORRUPT || primary(code_) == SQLITE_NOTADB ||
         primary(code_) == SQLITE_TOOBIG || code_ == SQLITE_IOERR_SHORT_READ;
}

bool DatabaseError::is_access() const {
  return primary(code_) == SQLITE_CANTOPEN || primary(code_) == SQLITE_READONLY ||
         primary(code_) == SQLITE_PERM;
}

bool DatabaseError::is_busy() const {
  return primary(code_) == SQLITE_BUSY || primary(code_) == SQLITE_LOCKED;
}

void throw_for_user(const DatabaseError& error, const std::filesystem::path& file) {
  const auto fail = [&](std::string_view what) {
    throw UserError(fmt::format("records: '{}' {}", file.string(), what));
  };
  if (primary(error.code()) == SQLITE_NOTADB) {
    fail("isn't a file of tuning records; name another, or remove it");
  }
  if (error.is_damage()) {
    fail(
        fmt::format("is damaged ({}); save what can be read with 'luminal tune export', remove "
                    "the file and import again",
                    error.what()));
  }
  if (error.is_busy()) {
    fail(
        fmt::format("has been locked by another process for {} s; end that one, or name another "
                    "file",
                    kBusyMilliseconds / 1000));
  }
  if (error.is_access()) {
    fail(
        fmt::format("can't be opened for this ({}); check the permissions of the file and its "
                    "folder, or name another file",
                    error.what()));
  }
  if (primary(error.code()) == SQLITE_FULL) {
    fail(
        "can't grow: the disk is full; free some space, 'luminal tune prune', or name a file on "
        "another disk");
  }
  if (primary(error.code()) == SQLITE_IOERR) {
    fail(
        fmt::format("can't be read or written ({}); check the disk and its free space, or name a "
                    "file on another disk",
                    error.what()));
  }
  throw DeviceError(fmt::format("records: '{}': {} (SQLite's code {})", file.string(), error.what(),
                                error.code()));
}

Connection::Connection(const std::filesystem::path& file, Access access) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE;
  flags |=
      access == Access::Create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  const std::string uri = uri_of(file, access == Access::ReadUnchanging ? "?immutable=1" : "");
  const int code = sqlite3_open_v2(uri.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) {
    const DatabaseError error(code, sqlite3_errstr(code));
    sqlite3_close(handle_);
    throw error;
  }
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  // The file is untrusted: no code in it (triggers, views) may run, and lengths are limited.
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, static_cast<int>(2 * kMostTextBytes));
}

Connection::~Connection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

void Connection::fail(int code) const { throw DatabaseError(code, sqlite3_errmsg(handle_)); }

void Connection::run(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

sqlite3_stmt* Connection::prepared(std::string_view sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  statements_.emplace(sql, statement);
  return statement;
}

int64_t Connection::changed() const { return sqlite3_changes64(handle_); }

Query::Query(Connection& connection, std::string_view sql)
    : connection_(connection), statement_(connection.prepared(sql)) {
  LUMINAL_CHECK(!sqlite3_stmt_busy(statement_), "a statement is used again while in use");
}

Query::~Query() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::text(std::string_view value) {
  const int code = sqlite3_bind_text(statement_, next_++, value.empty() ? "" : value.data(),
                                     static_cast<int>(value.size()), SQLITE_STATIC);
  if (code != SQLITE_OK) connection_.fail(code);
  return *this;
}

Query& Query::blob(std::string_view value) {
  const int code = sqlite3_bind_blob(statement_, next_++, value.empty() ? "" : value.data(),
                                     static_cast<int>(value.size()), SQLITE_STATIC);
  if (code != SQLITE_OK) connection_.fail(code);
  return *this;
}

Query& Query::integer(int64_t value) {
  const int code = sqlite3_bind_int64(statement_, next_++, value);
  if (code != SQLITE_OK) connection_.fail(code);
  return *this;
}

Query& Query::real(double value) {
  const int code = sqlite3_bind_double(statement_, next_++, value);
  if (code != SQLITE_OK) connection_.fail(code);
  return *this;
}

bool Query::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) connection_.fail(code);
  return false;
}

std::string Query::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

int64_t Query::integer_at(int column) const { return sqlite3_column_int64(statement_, column); }
double Query::real_at(int column) const { return sqlite3_column_double(statement_, column); }
bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

int64_t integer_from(Connection& connection, std::string_view sql) {
  Query query(connection, sql);
  return query.step() ? query.integer_at(0) : 0;
}

Transaction::Transaction(Connection& connection) : connection_(connection) {
  Query(connection_, "BEGIN IMMEDIATE").run();
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    connection_.run("ROLLBACK");
  } catch (const DatabaseError&) {
    // Some errors have already rolled it back.
  }
}

void Transaction::commit() {
  Query(connection_, "COMMIT").run();
  open_ = false;
}

}  // namespace luminal::records
