// SqlDatabase: an in-memory DuckDB over the tables of a SqlSource. It runs the statements of users.
// By default it cannot access files, the network or extensions.
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
  bool allow_files = false;          ///< statements may read and write files
  std::vector<std::string> writable; ///< always allowed to read and write
};

class SqlDatabase : NonCopyable {
public:
  /// Opens a database. `source` must outlive it. Errors: kMissingTool without DuckDB's library,
  /// kInternal.
  static Result<std::unique_ptr<SqlDatabase>> open(SqlSource& source, const SqlOptions& options);
  ~SqlDatabase();

  /// Runs one statement. Returns its rows as a table called `name`, without columns if the
  /// statement has no result. Nested values become JSON in text columns that are marked as JSON.
  /// Decimals and integers beyond 64 bits become doubles; values of other types become text.
  /// Errors: kUsage with DuckDB's message in one line; the error of the source; kOutput if a file
  /// could not be written; kInterrupted.
  Result<Table> query(const std::string& statement, const std::string& name = "result");

  /// Ends a query() that runs on another thread; it then returns kInterrupted.
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

/// Returns DuckDB's message in one line: its first paragraph and, from the second one, the line of
/// SQL with the error.
[[nodiscard]] std::string one_line(std::string_view message);

} // namespace rankscope
