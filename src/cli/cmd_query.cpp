// rankscope query SQL|TRACE...: SQL over the records and reports of runs; without SQL a prompt.
#include "app/query.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "cli/parts_flags.h"
#include "cli/query_prompt.h"
#include "sql/statements.h"
#include "writers/writer.h"

#include <filesystem>
#include <memory>
#include <optional>

namespace rankscope {
namespace {

struct QueryFlags {
  std::vector<std::string> arguments; ///< SQL and inputs; only inputs after the SQL is removed
  std::optional<std::vector<std::string>> statements; ///< statements that were removed
  RunTablesRequest request;
  std::string format, output;
  bool tables = false, allow_files = false;
  std::uint64_t rows = 40;
};

/// Removes and returns the SQL. It is the first argument, unless that names an existing file or
/// folder. Then it is the last argument, if that has several words and is not a file (sqlite3 FILE
/// SQL).
std::vector<std::string> take_sql(std::vector<std::string>& arguments) {
  const auto there = [](const std::string& path) {
    std::error_code ec;
    return path == "-" || std::filesystem::exists(path, ec);
  };
  if (arguments.empty())
    return {};
  auto sql = arguments.begin();
  if (there(*sql)) {
    sql = std::prev(arguments.end());
    if (there(*sql) || sql->find_first_of(" \n\t") == std::string::npos)
      return {};
  }
  std::vector<std::string> statements = split_statements(*sql);
  arguments.erase(sql);
  return statements;
}

Result<void> list_tables(Context& ctx) {
  if (ctx.json)
    ctx.out(json_text(query_report(query_tables(), ctx)));
  else
    ctx.table(query_tables(), 1000, 100);
  return {};
}

Result<void> query_of(Context& ctx, QueryFlags& f) {
  if (f.tables)
    return list_tables(ctx);
  if (!f.statements)
    f.statements = take_sql(f.arguments);
  const std::vector<std::string>& statements = *f.statements;
  if (f.arguments.empty())
    return Error{ErrorCode::kUsage, "query", "needs a trace or a folder of rank traces",
                 "rankscope query --help"};
  if (statements.empty() && !f.output.empty())
    return Error{ErrorCode::kUsage, "query", "-o needs the SQL as an argument", ""};
  RS_TRY(QueryFormat format, query_format(f.format, f.output));
  if (ctx.json && f.format.empty() && f.output.empty())
    format = QueryFormat::kJson;
  if (f.output.empty() && format == QueryFormat::kParquet)
    return Error{ErrorCode::kUsage, "query", "Parquet needs a file", "-o FILE.parquet"};
  f.request.inputs = f.arguments;
  f.request.keep_traces = statements.size() != 1;
  RS_TRY(const std::unique_ptr<Query> query,
         Query::open(ctx, f.request, f.allow_files, f.output, format));
  QueryPrinter printer(ctx, format, f.rows);
  if (statements.empty())
    return query_prompt(ctx, *query, printer);
  if (statements.size() > 1)
    RS_CHECK(query->prepare(statements));
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const bool last = i + 1 == statements.size();
    if (last && !f.output.empty())
      return query->write(statements[i], format);
    RS_TRY(Table result, query->run(statements[i]));
    if (f.output.empty())
      printer.print(std::move(result));
  }
  return printer.finish();
}

Action setup_query(FlagSet& app) {
  auto f = std::make_shared<QueryFlags>();
  app.add_option("SQL|TRACE", f->arguments,
                 "SQL statements separated by ;, then traces, folders of ranks or a sweep; without "
                 "SQL: a prompt on a terminal, or statements from standard input");
  in_group(app, "Output", [&] {
    app.add(options::output, f->output, "file.csv, .json, .parquet, .xlsx or .md");
    app.add(options::format, f->format, "output format (default: from the file ending)")
        .one_of({"table", "csv", "json", "parquet", "xlsx", "markdown"});
    app.add_option("--rows", f->rows, "maximum number of rows of a table on the console")
        .capture_default_str();
    app.add(options::tables, f->tables, "list tables and views with their content");
  });
  in_group(app, "Running", [&] {
    app.add_flag("--allow-files", f->allow_files,
                 "let statements read and write files (default: no files, no network)");
    app.add(options::gpu_arch, f->request.gpu_arch);
    app.add(options::gpus_per_node, f->request.gpus_per_node);
    app.add(options::memory, f->request.memory_bytes);
  });
  add_discover_flags(app, f->request.discover, true);
  return {[f](Context& ctx) { return query_of(ctx, *f); },
          [f](const Context&) -> Result<std::vector<PartialRequest>> {
            f->statements = take_sql(f->arguments);
            if (f->arguments.empty()) // also for --tables, which needs no ranks
              return Error{ErrorCode::kUsage, "query", "needs the ranks of a run",
                           "rankscope query --help"};
            RunTablesRequest& r = f->request;
            return std::vector{
                run_of_ranks("query", f->arguments, r.discover,
                             {.gpu_arch = &r.gpu_arch, .memory_bytes = &r.memory_bytes})};
          }};
}

} // namespace

const Command query_command{
    "query", "run SQL over events, kernels, operators, collectives, steps and reports",
    "  rankscope query 'SELECT name, sum(dur_ns) FROM kernels GROUP BY 1' run\n"
    "  rankscope query 'FROM slow_ranks' run --json\n"
    "  rankscope query 'FROM gemm_by_shape' sweep -o gemms.parquet\n"
    "  rankscope query run        (a prompt)",
    setup_query};

} // namespace rankscope
