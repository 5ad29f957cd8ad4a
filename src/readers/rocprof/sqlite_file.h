// A read-only SQLite file. No file is written next to it, code in it never runs, and the work and
// texts of its queries are limited (os/foreign_sqlite.h).
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"
#include "os/foreign_sqlite.h"
#include "os/scratch_folder.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

class ByteSource;

/// Returns whether `head` starts with "SQLite format 3" and the byte after it.
[[nodiscard]] bool is_sqlite(std::string_view head);

/// Returns whether the path can be opened a second time; a pipe cannot.
[[nodiscard]] bool lies_on_disk(std::string_view path);

/// A prepared query. step() returns false at the end and on damage; failed() distinguishes the two.
class SqliteQuery {
public:
  SqliteQuery(sqlite3* db, const std::string& sql, SqliteBudget* budget = nullptr);
  bool step();
  [[nodiscard]] bool failed() const;
  [[nodiscard]] bool null(int column) const;
  /// Returns the value if it is an integer; nullopt for text, blob, real and NULL.
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const;
  [[nodiscard]] std::int64_t integer_or(int column, std::int64_t otherwise) const;
  /// Returns the value if it is a finite number.
  [[nodiscard]] std::optional<double> real(int column) const;
  /// Returns a text, valid until the next step(); "" for NULL, and after the text budget is used
  /// up.
  [[nodiscard]] std::string_view text(int column) const;

private:
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
  SqliteBudget* budget_; ///< budget for texts; nullptr: no limit
  int status_;
};

class SqliteFile {
public:
  /// Opens `path` in place; compressed or piped input is unpacked into a temporary file. A database
  /// with a write-ahead log is copied and read with the log. `source`: the opened `path`, or
  /// nullptr. Errors: kUnreadable when it is not a database.
  static Result<SqliteFile> open(const std::string& path, ByteSource* source = nullptr);

  /// Returns whether an ordinary table exists. Views and virtual tables do not count: they are code
  /// from the file's author.
  [[nodiscard]] bool has(const std::string& table) const { return tables_.count(table) > 0; }
  [[nodiscard]] bool has(const std::string& table, const std::string& column) const;
  [[nodiscard]] const std::map<std::string, std::set<std::string>>& tables() const {
    return tables_;
  }
  /// Returns "column" in quotes, or NULL if the table does not have it.
  [[nodiscard]] std::string column(const std::string& table, const std::string& name) const;
  [[nodiscard]] SqliteQuery query(const std::string& sql) const {
    return {db_.get(), sql, budget_.get()};
  }
  /// Returns the named columns of all rows, in file order.
  [[nodiscard]] SqliteQuery rows(const std::string& table,
                                 const std::vector<std::string>& columns) const;
  /// Returns why the last query failed.
  [[nodiscard]] std::string problem() const;
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Reports a file that ends before the end of its database.
  void report(const std::string& path, Diagnostics& diagnostics) const;

private:
  SqliteFile() : db_(nullptr, sqlite3_close) {}
  Result<void> connect(const std::string& path, const std::string& file, bool immutable);
  Result<void> list_tables(const std::string& path);

  std::shared_ptr<const ScratchFolder> scratch_;
  std::unique_ptr<SqliteBudget> budget_;
  SqliteHandle db_;
  std::map<std::string, std::set<std::string>> tables_;
  std::uint64_t bytes_ = 0;
  bool shortened_ = false;
};

/// Row numbers of a table by id. Dense ids need no search, other ids a binary search.
class RowIndex {
public:
  /// Adds the id of the next row. Returns false if it is not larger than the id before: it is then
  /// not a key.
  bool add(std::int64_t id);
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  static constexpr std::size_t kNone = SIZE_MAX;
  [[nodiscard]] std::size_t find(std::int64_t id) const;

private:
  std::vector<std::int64_t> ids_;
};

} // namespace rankscope
