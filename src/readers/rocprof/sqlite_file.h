// A read-only SQLite file. No file is created next to it, no code in it runs, and the work and text
// sizes of its queries are limited (os/foreign_sqlite.h).
#pragma once

#include "base/counters.h"
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
#include <utility>
#include <vector>

namespace rankscope {

class ByteSource;

/// Returns whether `head` starts with "SQLite format 3" and a zero byte.
[[nodiscard]] bool is_sqlite(std::string_view head);

/// Returns whether the path can be opened a second time; a pipe cannot.
[[nodiscard]] bool lies_on_disk(std::string_view path);

/// A prepared query. step() returns false at the end of the rows and also on an error; failed()
/// returns true only after an error.
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
  /// Returns a text, which is valid until the next step(). Returns "" for NULL, and if the text
  /// budget is exhausted.
  [[nodiscard]] std::string_view text(int column) const;

private:
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
  SqliteBudget* budget_; ///< budget for texts; nullptr: no limit
  int status_;
};

class SqliteFile {
public:
  /// Opens the database. A database with compressed content or from a pipe is first written to a
  /// temporary file. A database with a write-ahead log is copied together with the log. `source`:
  /// the opened `path`, or nullptr. Errors: kUnreadable if it is not a database.
  static Result<SqliteFile> open(const std::string& path, ByteSource* source = nullptr);

  /// Returns whether the table exists. Views and virtual tables are not accepted, because they
  /// contain code from the author of the file.
  [[nodiscard]] bool has(const std::string& table) const { return tables_.count(table) > 0; }
  [[nodiscard]] bool has(const std::string& table, const std::string& column) const;
  [[nodiscard]] const std::map<std::string, std::set<std::string>>& tables() const {
    return tables_;
  }
  /// Returns the quoted name of a column; "NULL" if the table does not have the column.
  [[nodiscard]] std::string column(const std::string& table, const std::string& name) const;
  [[nodiscard]] SqliteQuery query(const std::string& sql) const {
    return {db_.get(), sql, budget_.get()};
  }
  /// Returns the named columns of all rows, in file order.
  [[nodiscard]] SqliteQuery rows(const std::string& table,
                                 const std::vector<std::string>& columns) const;
  /// Calls `use` with the named columns of each row, if the table exists. Reports an error if the
  /// query ends before the end of the table.
  template <class Use>
  void each_row(const std::string& table, const std::vector<std::string>& columns,
                Diagnostics& diagnostics, const Use& use) const {
    if (!has(table))
      return;
    SqliteQuery q = rows(table, columns);
    while (q.step())
      use(std::as_const(q));
    if (q.failed())
      diagnostics.add(counters::database_damaged(problem()), table);
  }
  /// Returns why the last query failed.
  [[nodiscard]] std::string problem() const;
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Reports a warning if the file is shorter than its database.
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

/// Finds the row number of an id. If ids are dense, the position is computed; otherwise a binary
/// search is used.
class RowIndex {
public:
  /// Adds the id of the next row. Returns false if the id is not larger than the previous one: such
  /// an id cannot be found.
  bool add(std::int64_t id);
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  static constexpr std::size_t kNone = SIZE_MAX;
  [[nodiscard]] std::size_t find(std::int64_t id) const;

private:
  std::vector<std::int64_t> ids_;
};

} // namespace rankscope
