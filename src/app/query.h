// The use case behind `rankscope query`: statements over the tables and views of runs, and their
// results as tables or files.
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

/// By name ("table", "csv", "json", "parquet") or, where that is empty, by the file's ending.
/// Errors: kUsage for an ending that names none.
Result<QueryFormat> query_format(const std::string& name, const std::string& file);

class Query {
public:
  /// Finds the traces; no trace is read. DuckDB is opened by the first statement, and needed for
  /// that alone. Errors: those of plans_of().
  static Result<std::unique_ptr<Query>> over(Session& session, RunTablesRequest request);

  /// The same with the database opened. `file`: what write() will write in this format, or empty.
  /// Errors: kMissingTool without DuckDB's library, those of plans_of().
  static Result<std::unique_ptr<Query>> open(Session& session, RunTablesRequest request,
                                             bool allow_files, const std::string& file,
                                             QueryFormat format);

  /// Says which tables statements will name, so that one pass over the traces serves them all.
  /// Errors: those of RunTables::need().
  Result<void> prepare(const std::vector<std::string>& statements);

  /// Runs one statement; returns a table without columns if the statement has no result.
  /// interrupt() ends a running statement. Errors: those of SqlDatabase::query().
  Result<Table> run(const std::string& statement);

  /// All rows of a table or view; only views need DuckDB. It refers to this object. Errors: kUsage
  /// for another name, those of RunTables::table() and run().
  Result<std::shared_ptr<const SqlTable>> table(const std::string& name);

  /// The rows of a statement as the file; once. Errors: those of run(), kOutput.
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
  std::set<std::size_t> views_;       ///< that were made
  std::string file_;                  ///< as given
  std::optional<TempName> temporary_; ///< of a Parquet file, which DuckDB writes
};

/// The result as the report that writers take.
[[nodiscard]] Report query_report(Table result, const Session& session);

/// One row per table and view: name, kind, help.
[[nodiscard]] Table query_tables();

} // namespace rankscope
