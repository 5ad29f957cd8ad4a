#include "sql/database.h"

#include "base/ascii.h"
#include "base/noncopyable.h"
#include "os/library_memory.h"
#include "sql/query_result.h"
#include "sql/statements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace rankscope {
namespace {

using namespace duckdb;

/// Owns a result, and releases it in the destructor.
class OwnedResult : NonCopyable {
public:
  explicit OwnedResult(const DuckDbLibrary& calls) : calls_(calls) {}
  ~OwnedResult() { calls_.destroy_result(&block_); }
  [[nodiscard]] ResultBlock& block() { return block_; }

private:
  const DuckDbLibrary& calls_;
  ResultBlock block_;
};

class OwnedStatement : NonCopyable {
public:
  explicit OwnedStatement(const DuckDbLibrary& calls) : calls_(calls) {}
  ~OwnedStatement() { calls_.destroy_prepare(&prepared); }
  Prepared prepared = nullptr;

private:
  const DuckDbLibrary& calls_;
};

std::string as_readable(Readable how, std::uint64_t column) {
  switch (how) {
  case Readable::kAsDouble:
    return fmt::format("CAST(#{} AS DOUBLE)", column);
  case Readable::kAsJson:
    return fmt::format("to_json(#{})", column);
  case Readable::kAsText:
    return fmt::format("CAST(#{} AS VARCHAR)", column);
  case Readable::kAsIs:
    break;
  }
  return fmt::format("#{}", column);
}

ErrorCode code_of(std::string_view message) {
  if (message.starts_with("INTERRUPT"))
    return ErrorCode::kInterrupted;
  if (message.starts_with("IO Error"))
    return ErrorCode::kOutput;
  if (message.starts_with("Out of Memory"))
    return ErrorCode::kUnreadable;
  return ErrorCode::kUsage;
}

} // namespace

std::string one_line(std::string_view message) {
  std::string out;
  bool blank_line = false;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t end = std::min(message.find('\n', at), message.size());
    std::string_view line = message.substr(at, end - at);
    at = end + 1;
    while (!line.empty() && line.front() == ' ')
      line.remove_prefix(1);
    if (line.empty()) {
      blank_line = true;
      continue;
    }
    if (line.find_first_not_of("^ ") == std::string_view::npos)
      continue; // this line only marks a position in the line above
    if (blank_line && !line.starts_with("LINE ") && !line.starts_with("Candidate") &&
        !line.starts_with("Did you mean"))
      break;
    out += out.empty() ? "" : "; ";
    out += line;
  }
  return out;
}

Result<std::unique_ptr<SqlDatabase>> SqlDatabase::open(SqlSource& source,
                                                       const SqlOptions& options) {
  constexpr std::size_t kSmallest = std::size_t{96} << 20U; // memory for a database with a small
                                                            // result
  RS_TRY(const DuckDbLibrary* const calls, DuckDbLibrary::get());
  RS_CHECK(LibraryMemory::claim(kSmallest, "DuckDB"));
  std::unique_ptr<SqlDatabase> out(new SqlDatabase(*calls, source, options.threads));
  RS_CHECK(out->open_in_memory());
  RS_CHECK(register_scan(out->scan_, out->database_, out->connection_));
  RS_CHECK(out->lock(options));
  return out;
}

Result<void> SqlDatabase::open_in_memory() {
  Config config = nullptr;
  calls_.create_config(&config);
  const auto set = [&](const char* name, const std::string& value) {
    calls_.set_config(config, name, value.c_str());
  };
  set("threads", std::to_string(std::max(1U, scan_.threads)));
  set("autoinstall_known_extensions", "false");
  set("autoload_known_extensions", "false");
  set("allow_community_extensions", "false");
  set("allow_persistent_secrets", "false");
  set("temp_directory", "");
  char* why = nullptr;
  const int state = calls_.open_ext(nullptr, &database_, config, &why);
  calls_.destroy_config(&config);
  if (state == kSuccess && calls_.connect(database_, &connection_) == kSuccess)
    return {};
  const Error error{ErrorCode::kInternal, calls_.path,
                    why == nullptr ? "cannot be started" : one_line(why), ""};
  calls_.free(why);
  return error;
}

/// Locks the settings, so that statements cannot change them.
Result<void> SqlDatabase::lock(const SqlOptions& options) {
  allow_files_ = options.allow_files;
  std::vector<std::string> statements;
  if (!options.allow_files) {
    std::vector<std::string> paths;
    for (const std::string& path : options.writable)
      paths.push_back(sql_text(path));
    if (!paths.empty())
      statements.push_back(fmt::format("SET allowed_paths = [{}]", fmt::join(paths, ", ")));
    statements.emplace_back("SET enable_external_access = false");
  }
  statements.emplace_back("SET lock_configuration = true");
  for (const std::string& statement : statements)
    RS_CHECK(query(statement));
  return {};
}

/// Rejects statements that turn on DuckDB's log, because no setting disables it. The log can write
/// files and our standard output, and if DuckDB does not allow it, the error cannot be caught. The
/// name of the function is also rejected inside texts, because DuckDB's query() runs a text as a
/// statement.
Result<void> SqlDatabase::check_words(const std::string& statement) const {
  constexpr const char* kLog = "enable_logging";
  if (!allow_files_ && lowercase(statement).find(kLog) != std::string::npos)
    return Error{ErrorCode::kUsage, "SQL", fmt::format("{} writes files", kLog),
                 "--allow-files allows it"};
  return {};
}

SqlDatabase::~SqlDatabase() {
  if (connection_ != nullptr)
    calls_.disconnect(&connection_);
  if (database_ != nullptr)
    calls_.close(&database_);
}

Error SqlDatabase::error_of(const char* text) {
  if (scan_.error)
    return *std::exchange(scan_.error, std::nullopt);
  const std::string_view message = text == nullptr ? "refused" : text;
  const bool no_table = message.find("Table with name") != std::string_view::npos;
  std::string line = one_line(message);
  if (const std::size_t guess = line.find("; Did you mean"); no_table && guess != std::string::npos)
    line.erase(guess, line.find(';', guess + 1) - guess); // remove the suggestion: DuckDB only
                                                          // knows its own tables
  return {code_of(message), "SQL", std::move(line),
          no_table ? "rankscope query --tables lists them" : ""};
}

/// Returns the statement, or a query that contains it and whose columns query_table() can read.
Result<std::string> SqlDatabase::readable(const std::string& statement) {
  OwnedStatement inner(calls_);
  if (calls_.prepare(connection_, statement.c_str(), &inner.prepared) != kSuccess)
    return error_of(calls_.prepare_error(inner.prepared));
  std::string columns;
  bool needed = false;
  const std::uint64_t count = calls_.prepared_statement_column_count(inner.prepared);
  for (std::uint64_t c = 0; c < count; ++c) {
    const Readable how = readable_as(calls_.prepared_statement_column_type(inner.prepared, c));
    needed = needed || how != Readable::kAsIs;
    const char* const name = calls_.prepared_statement_column_name(inner.prepared, c);
    columns += fmt::format("{}{} AS {}", c > 0 ? ", " : "", as_readable(how, c + 1),
                           sql_name(name == nullptr ? "" : name));
    calls_.free(const_cast<char*>(name));
  }
  if (!needed)
    return statement;
  const std::string around = fmt::format("SELECT {} FROM (\n{}\n)", columns, statement);
  OwnedStatement tried(calls_); // fails if the statement is not a query, because only queries can
                                // be subqueries
  return calls_.prepare(connection_, around.c_str(), &tried.prepared) == kSuccess ? around
                                                                                  : statement;
}

Result<Table> SqlDatabase::query(const std::string& statement, const std::string& name) {
  if (statement.find('\0') != std::string::npos)
    return Error{ErrorCode::kUsage, "SQL", "a NUL byte in the statement", ""};
  RS_CHECK(check_words(statement));
  scan_.error.reset();
  // DuckDB counts lines from the first character that is not blank
  const std::size_t first = statement.find_first_not_of(" \t\r\n");
  RS_TRY(const std::string text,
         readable(statement.substr(first == std::string::npos ? 0 : first)));
  OwnedResult result(calls_);
  if (calls_.query(connection_, text.c_str(), &result.block()) != kSuccess)
    return error_of(calls_.result_error(&result.block()));
  if (calls_.result_return_type(result.block()) != kQueryResult)
    return Table(name, {});
  return query_table(calls_, result.block(), name);
}

void SqlDatabase::interrupt() const {
  calls_.interrupt(connection_);
}

} // namespace rankscope
