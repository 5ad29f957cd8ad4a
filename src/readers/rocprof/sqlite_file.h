// An SQLite file that is only read: nothing is written beside it, no code of it runs, and work and
// texts of its queries are bounded (os/foreign_sqlite.h).
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

/// "SQLite format 3" and the byte behind it.
[[nodiscard]] bool is_sqlite(std::string_view head);

/// A file that can be opened a second time, which a pipe cannot.
[[nodiscard]] bool lies_on_disk(std::string_view path);

/// A prepared query; step() is false at the end and on damage, which failed() tells apart.
class SqliteQuery {
public:
  SqliteQuery(sqlite3* db, const std::string& sql, SqliteBudget* budget = nullptr);
  bool step();
  [[nodiscard]] bool failed() const;
  [[nodiscard]] bool null(int column) const;
  /// The value when it is an integer; texts, blobs, reals and NULL are none.
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const;
  [[nodiscard]] std::int64_t integer_or(int column, std::int64_t otherwise) const;
  /// The value when it is a number that is finite.
  [[nodiscard]] std::optional<double> real(int column) const;
  /// Valid until the next step; "" for NULL, and where the budget of texts is spent.
  [[nodiscard]] std::string_view text(int column) const;

private:
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
  SqliteBudget* budget_; ///< of the texts; none = without bound
  int status_;
};

class SqliteFile {
public:
  /// `path` as it lies there; what is packed or comes by a pipe is unpacked into a temporary file.
  /// A database with a write-ahead log is read with it, from a copy. `source`: `path` opened, or
  /// nullptr. Errors: kUnreadable when it is no database.
  static Result<SqliteFile> open(const std::string& path, ByteSource* source = nullptr);

  /// Ordinary tables only: views and virtual tables are code of whoever made the file.
  [[nodiscard]] bool has(const std::string& table) const { return tables_.count(table) > 0; }
  [[nodiscard]] bool has(const std::string& table, const std::string& column) const;
  [[nodiscard]] const std::map<std::string, std::set<std::string>>& tables() const {
    return tables_;
  }
  /// "column" in quotes, or NULL where the table lacks it.
  [[nodiscard]] std::string column(const std::string& table, const std::string& name) const;
  [[nodiscard]] SqliteQuery query(const std::string& sql) const {
    return {db_.get(), sql, budget_.get()};
  }
  /// The named columns of all rows, in the order of the file.
  [[nodiscard]] SqliteQuery rows(const std::string& table,
                                 const std::vector<std::string>& columns) const;
  /// Why the last query failed.
  [[nodiscard]] std::string problem() const;
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Says so when the file ends before the database does.
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

/// Rows of a table by their id: dense ids cost no search, others a binary one.
class RowIndex {
public:
  /// Ids of the rows in their order; `false` when they do not ascend (then they are no key).
  bool add(std::int64_t id);
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  static constexpr std::size_t kNone = SIZE_MAX;
  [[nodiscard]] std::size_t find(std::int64_t id) const;

private:
  std::vector<std::int64_t> ids_;
};

} // namespace rankscope
