// The use case behind `rankscope query`: runs statements over the tables and views of runs, and
// returns results as tables or files.
#pragma once

#include "app/run_tables.h"
#include "base/result.h"
#include "core/report.h"
#include "engine/session.h"
#include "os/output_file.h"
#include "sql/database.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rankscope {

enum class QueryFormat { kTable, kCsv, kJson, kParquet, kWorkbook, kMarkdown };

/// Returns the format with this name ("table", "csv", "json", "parquet"). If the name is empty, the
/// file's ending decides. Errors: kUsage for an ending that names no format.
Result<QueryFormat> query_format(const std::string& name, const std::string& file);

class Query {
public:
  /// Finds the traces but reads none. Only the first statement opens DuckDB, and only statements
  /// need it. Errors: those of plans_of().
  static Result<std::unique_ptr<Query>> over(Session& session, RunTablesRequest request);

  /// Finds the traces in the same way as over() and opens the database. `file`: the path that
  /// write() will write in this format, or empty. Errors: kMissingTool without DuckDB's library,
  /// those of plans_of().
  static Result<std::unique_ptr<Query>> open(Session& session, RunTablesRequest request,
                                             bool allow_files, const std::string& file,
                                             QueryFormat format);

  /// Declares the tables that statements will name, so that one pass over the traces serves them
  /// all.
  /// Errors: those of RunTables::need().
  Result<void> prepare(const std::vector<std::string>& statements);

  /// Runs one statement; returns a table without columns if the statement has no result.
  /// interrupt() ends a running statement. Errors: those of SqlDatabase::query().
  Result<Table> run(const std::string& statement);

  /// Returns all rows of a table or view. Only views need DuckDB. The result refers to this object.
  /// Errors: kUsage for another name, those of RunTables::table() and run().
  Result<std::shared_ptr<const SqlTable>> table(const std::string& name);

  /// Writes the rows of a statement to the file. Can be called once. Errors: those of run(),
  /// kOutput.
  Result<void> write(const std::string& statement, QueryFormat format);

  void interrupt() const { database_->interrupt(); }
  [[nodiscard]] std::size_t traces_read() const { return tables_->traces_read(); }

private:
  explicit Query(Session& session) : session_(session) {}
  void name_tables(const std::string& statement, std::set<std::string>& tables,
                   std::vector<std::size_t>& views) const;
  Result<void> write_parquet(const std::string& statement);

  Result<void> open_database(const SqlOptions& options);

  Session& session_;
  std::unique_ptr<RunTables> tables_;
  std::unique_ptr<SqlDatabase> database_;
  std::set<std::size_t> views_;       ///< views already made
  std::string file_;                  ///< path as given
  std::optional<TempName> temporary_; ///< for a Parquet file, which DuckDB writes
};

/// Returns the result as a report for the writers.
[[nodiscard]] Report query_report(Table result, const Session& session);

} // namespace rankscope
