// SQLite, as little of it as records need: a connection, statements prepared once, transactions.
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

// Of the library in use.
std::string_view sqlite_version();

// What SQLite reported. The store turns it into an error that says the way out.
class DatabaseError : public std::runtime_error {
 public:
  DatabaseError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }
  // The file's content is at fault: what was asked for counts as absent.
  bool is_damage() const;
  // The file or its folder can't be opened as asked.
  bool is_access() const;
  // Somebody else holds the file's lock.
  bool is_busy() const;

 private:
  int code_;  // extended
};

// UserError, or DeviceError where there is no way out, for what happened to this file.
[[noreturn]] void throw_for_user(const DatabaseError& error, const std::filesystem::path& file);

enum class Access : uint8_t {
  Create,  // read and write; an absent file is made
  Read,
  ReadUnchanging,  // for folders that can't be written to: no locks, nobody writes meanwhile
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

// A prepared statement in use, free for the next use when this goes. Texts and columns are numbered
// from 0.
class Query {
 public:
  Query(Connection& connection, std::string_view sql);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // What is bound must stay until the query goes.
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

// What a query of one number finds; 0 where it finds nothing.
int64_t integer_from(Connection& connection, std::string_view sql);

// Waits for the lock to write, at most as long as the connection does. Undone unless committed.
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
