#include "app/query.h"

#include "app/query_views.h"
#include "app/write_outputs.h"
#include "base/nearest.h"
#include "sql/statements.h"
#include "writers/writer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

struct FormatName {
  QueryFormat format;
  std::string_view name, ending;
};
constexpr std::array<FormatName, 6> kFormats = {{{QueryFormat::kTable, "table", ""},
                                                 {QueryFormat::kCsv, "csv", ".csv"},
                                                 {QueryFormat::kJson, "json", ".json"},
                                                 {QueryFormat::kParquet, "parquet", ".parquet"},
                                                 {QueryFormat::kWorkbook, "xlsx", ".xlsx"},
                                                 {QueryFormat::kMarkdown, "markdown", ".md"}}};

std::string_view name_of(QueryFormat format) {
  return std::ranges::find(kFormats, format, &FormatName::format)->name;
}

std::string temporary_path(const TempName& name) {
  std::error_code ec;
  return std::filesystem::absolute(name.temp_path(), ec).string();
}

} // namespace

Result<QueryFormat> query_format(const std::string& name, const std::string& file) {
  for (const FormatName& f : kFormats)
    if (f.name == name)
      return f.format;
  if (file.empty())
    return QueryFormat::kTable;
  const std::string ending = std::filesystem::path(file).extension().string();
  for (const FormatName& f : kFormats)
    if (!ending.empty() && f.ending == ending)
      return f.format;
  return Error{ErrorCode::kUsage, file,
               fmt::format("{}; expected .csv, .json, .parquet, .xlsx or .md",
                           ending.empty() ? "the file name has no ending"
                                          : fmt::format("'{}' is not a known file ending", ending)),
               "or set the format with --format"};
}

Result<std::unique_ptr<Query>> Query::over(Session& session, RunTablesRequest request) {
  std::unique_ptr<Query> out(new Query(session));
  RS_TRY(out->tables_, RunTables::open(session, std::move(request)));
  return out;
}

Result<void> Query::open_database(const SqlOptions& options) {
  RS_TRY(database_, SqlDatabase::open(*tables_, options));
  return {};
}

Result<std::unique_ptr<Query>> Query::open(Session& session, RunTablesRequest request,
                                           bool allow_files, const std::string& file,
                                           QueryFormat format) {
  RS_CHECK(DuckDbLibrary::get()); // before folders are searched
  std::unique_ptr<Query> out(new Query(session));
  SqlOptions options;
  options.threads = session.threads;
  options.allow_files = allow_files;
  out->file_ = file;
  if (format == QueryFormat::kParquet) {
    RS_TRY(TempName temporary, TempName::reserve(file));
    options.writable = {temporary_path(temporary)};
    out->temporary_.emplace(std::move(temporary));
  } else if (!file.empty()) {
    RS_CHECK(OutputFile::create(file)); // then discarded: reports a bad path early
  }
  RS_TRY(out->tables_, RunTables::open(session, std::move(request)));
  RS_CHECK(out->open_database(options));
  return out;
}

/// Adds the tables and views that a statement needs, including those of its views. A word with the
/// name of a table selects that table too, unless AS is before it.
void Query::name_tables(const std::string& statement, std::set<std::string>& tables,
                        std::vector<std::size_t>& views) const {
  for (const std::string& name : words_of(statement)) {
    if (!tables.insert(name).second)
      continue;
    const auto all = query_views();
    for (std::size_t v = 0; v < all.size(); ++v)
      if (all[v].name == name) {
        name_tables(std::string(all[v].sql), tables, views);
        views.push_back(v);
      }
  }
}

Result<void> Query::prepare(const std::vector<std::string>& statements) {
  std::set<std::string> tables;
  std::vector<std::size_t> views;
  for (const std::string& statement : statements)
    name_tables(statement, tables, views);
  RS_CHECK(tables_->need(tables));
  for (const std::size_t v : views) {
    if (!views_.insert(v).second)
      continue;
    RS_CHECK(database_->query(fmt::format("CREATE VIEW IF NOT EXISTS {} AS {}",
                                          query_views()[v].name, query_views()[v].sql)));
  }
  return {};
}

Result<Table> Query::run(const std::string& statement) {
  if (database_ == nullptr) {
    SqlOptions options;
    options.threads = session_.threads;
    RS_CHECK(open_database(options));
  }
  RS_CHECK(prepare({statement}));
  return database_->query(statement);
}

Result<std::shared_ptr<const SqlTable>> Query::table(const std::string& name) {
  if (tables_->has(name))
    return tables_->table(name);
  if (std::ranges::find(query_views(), name, &QueryView::name) != query_views().end()) {
    RS_TRY(Table rows, run("FROM " + name));
    rows.set_name(name);
    return std::make_shared<const SqlTable>(
        table_of_result(std::make_shared<const Table>(std::move(rows))));
  }
  std::vector<std::string> names;
  for (const RunTableInfo& table : run_table_list())
    names.push_back(table.name);
  for (const QueryView& view : query_views())
    names.emplace_back(view.name);
  return Error{ErrorCode::kUsage, "query",
               fmt::format("no table named '{}'{}", name, did_you_mean(name, names)),
               "rankscope query --tables lists them"};
}

/// Writes the rows to the temporary file through DuckDB. DuckDB may write no other file.
Result<void> Query::write_parquet(const std::string& statement) {
  RS_CHECK(prepare({statement}));
  RS_CHECK(database_->query(
      fmt::format("COPY (\n{}\n) TO {} (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)",
                  statement, sql_text(temporary_path(*temporary_)))));
  return temporary_->commit();
}

Result<void> Query::write(const std::string& statement, QueryFormat format) {
  if (format == QueryFormat::kParquet)
    return write_parquet(statement);
  RS_TRY(Table table, run(statement));
  if (table.cols() == 0)
    return Error{ErrorCode::kUsage, "SQL", "the statement has no rows to write", ""};
  ReportOutputs outputs;
  outputs.file = file_;
  outputs.format = name_of(format);
  if (format == QueryFormat::kCsv) {
    return write_file(file_, csv_text(table));
  }
  RS_CHECK(write_outputs(query_report(std::move(table), session_), outputs));
  return {};
}

Report query_report(Table result, const Session& session) {
  Report out;
  out.title = "query";
  out.tables.push_back(std::move(result));
  out.diagnostics = session.diagnostics;
  return out;
}

} // namespace rankscope
