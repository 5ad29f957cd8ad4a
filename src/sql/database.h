// SqlDatabase: DuckDB in memory over the tables of a SqlSource. Statements of users run in it; by
// default it reaches no file, no network and no extension.
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
  std::vector<std::string> writable; ///< files that they may read and write all the same
};

class SqlDatabase : NonCopyable {
public:
  /// `source` outlives the database. Errors: kMissingTool without DuckDB's library, kInternal.
  static Result<std::unique_ptr<SqlDatabase>> open(SqlSource& source, const SqlOptions& options);
  ~SqlDatabase();

  /// Runs one statement. Returns its rows as a table called `name`, without columns if it has no
  /// result. Nested values are JSON in text columns marked so. Decimals and integers beyond 64 bits
  /// become doubles, other types text. Errors: kUsage with DuckDB's message in one line; the error
  /// of the source; kOutput if a file could not be written; kInterrupted.
  Result<Table> query(const std::string& statement, const std::string& name = "result");

  /// Ends a running query() of another thread, which then returns kInterrupted.
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

/// Returns DuckDB's message in one line: its first paragraph, and from the second the line of SQL
/// that it points at.
[[nodiscard]] std::string one_line(std::string_view message);

} // namespace rankscope
