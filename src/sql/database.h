// SqlDatabase: an in-memory DuckDB database with the tables of a SqlSource. It runs SQL statements
// of users. By default, statements cannot access files, the network or extensions.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "core/table.h"
#include "sql/table_scan.h"

#include <memory>
#include <string>
#include <vector>

namespace rankscope {

struct SqlOptions {
  unsigned threads = 1;
  bool allow_files = false;          ///< statements may read and write all files
  std::vector<std::string> writable; ///< paths that statements may always read and write
};

class SqlDatabase : NonCopyable {
public:
  /// Opens a database. `source` must outlive it. Errors: kMissingTool if DuckDB's library is
  /// missing, kInternal.
  static Result<std::unique_ptr<SqlDatabase>> open(SqlSource& source, const SqlOptions& options);
  ~SqlDatabase();

  /// Runs one statement. Returns its rows as a table with the name `name`, which has no columns if
  /// the statement has no result. Nested values become JSON texts, and their columns are marked as
  /// nested. Decimals, and integers that do not fit in 64 bits, become doubles; values of all other
  /// types become texts. Errors: kUsage with DuckDB's message on one line; the error of the source;
  /// kOutput if a file could not be written; kInterrupted.
  Result<Table> query(const std::string& statement, const std::string& name = "result");

  /// Ends a query() that runs on another thread. That query() then returns kInterrupted.
  void interrupt() const;

private:
  SqlDatabase(const DuckDbLibrary& calls, SqlSource& source, unsigned threads)
      : calls_(calls), scan_{calls, source, threads} {}
  Result<void> open_in_memory();
  Result<void> lock(const SqlOptions& options);
  [[nodiscard]] Result<void> check_words(const std::string& statement) const;
  Result<std::string> readable(const std::string& statement);
  [[nodiscard]] Error error_of(const char* text);

  const DuckDbLibrary& calls_;
  TableScan scan_;
  bool allow_files_ = false;
  duckdb::Database database_ = nullptr;
  duckdb::Connection connection_ = nullptr;
};

/// Returns DuckDB's message on one line: its first paragraph and, from the second paragraph, the
/// line of SQL that contains the error.
[[nodiscard]] std::string one_line(std::string_view message);

} // namespace rankscope
