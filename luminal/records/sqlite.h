// A minimal wrapper of SQLite for records: a connection, cached prepared statements, transactions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace luminal::records {

// Version of the library in use.
std::string_view sqlite_version();

// An error reported by SQLite. The store turns it into one that says how to fix it.
class DatabaseError : public std::runtime_error {
 public:
  DatabaseError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }
  // The file's content is damaged: the requested record counts as absent.
  bool is_damage() const;
  // The file or its folder can't be opened as asked.
  bool is_access() const;
  // Another connection holds the file's lock.
  bool is_busy() const;

 private:
  int code_;  // extended
};

// Throws a UserError, or a DeviceError if the user can't fix it, for an error with this file.
[[noreturn]] void throw_for_user(const DatabaseError& error, const std::filesystem::path& file);

enum class Access : uint8_t {
  Create,  // read and write; an absent file is created
  Read,
  ReadUnchanging,  // without locks, for read-only folders, where nobody writes meanwhile
};

class Connection {
 public:
  Connection(const std::filesystem::path& file, Access access);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Statements without results.
  void run(const std::string& sql);
  // Statements are prepared at their first use; `sql` must outlive the connection.
  sqlite3_stmt* prepared(std::string_view sql);
  [[noreturn]] void fail(int code) const;
  // Rows that the last statement changed.
  int64_t changed() const;

 private:
  sqlite3* handle_ = nullptr;
  std::map<std::string_view, sqlite3_stmt*> statements_;
};

// A prepared statement in use, reset by the destructor. Columns are numbered from 0.
class Query {
 public:
  Query(Connection& connection, std::string_view sql);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // Bound texts and blobs must outlive the query.
  Query& text(std::string_view value);
  Query& blob(std::string_view value);
  Query& integer(int64_t value);
  Query& real(double value);

  bool step();  // whether there is a row
  void run() {
    while (step()) {
    }
  }

  std::string bytes(int column) const;  // of a text or a blob
  int64_t integer_at(int column) const;
  double real_at(int column) const;
  bool is_null(int column) const;

 private:
  Connection& connection_;
  sqlite3_stmt* statement_;
  int next_ = 1;
};

// The result of a query for one number; 0 if it has no row.
int64_t integer_from(Connection& connection, std::string_view sql);

// Waits for the write lock, at most for the connection's timeout. Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Connection& connection);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection& connection_;
  bool open_ = true;
};

}  // namespace luminal::records
