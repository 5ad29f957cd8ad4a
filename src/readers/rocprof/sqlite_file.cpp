#include "readers/rocprof/sqlite_file.h"

#include "base/percent_encoding.h"
#include "os/byte_source.h"
#include "os/input_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sqlite3.h>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

constexpr int kStepsPerCheck = 1000;
constexpr int kLongestText = 1 << 24; // bytes of one name or of an environment

/// sqlite3_progress_handler: other than 0 ends the query. `budget` points to the steps left.
int count_steps(void* budget) {
  std::uint64_t& left = *static_cast<std::uint64_t*>(budget);
  left -= std::min<std::uint64_t>(left, kStepsPerCheck);
  return left == 0 ? 1 : 0;
}

std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    out += c;
    if (c == '"')
      out += c;
  }
  return out + '"';
}

/// "file:" and the path, with what has a meaning in a URI escaped.
std::string uri_of(const std::string& path, bool immutable) {
  return "file:" + percent_encoded(path, [](char c) { return c != '%' && c != '?' && c != '#'; }) +
         (immutable ? "?immutable=1" : "");
}

bool holds_bytes(const std::string& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec) && fs::file_size(path, ec) > 0 && !ec;
}

Result<void> unpack(ByteSource& source, const std::string& path, const std::string& to) {
  std::ofstream out(to, std::ios::binary);
  std::string buffer(std::size_t{1} << 18, '\0');
  for (std::size_t got = buffer.size(); got == buffer.size();) {
    got = source.read(buffer.data(), buffer.size());
    out.write(buffer.data(), static_cast<std::streamsize>(got));
  }
  out.close();
  if (!out)
    return Error{ErrorCode::kOutput, path, "cannot be unpacked into a temporary file",
                 "is there room in TMPDIR?"};
  return {};
}

Result<void> copy_with_log(const std::string& path, const std::string& to) {
  std::error_code ec;
  fs::copy_file(path, to, ec);
  if (!ec)
    fs::copy_file(path + "-wal", to + "-wal", ec);
  if (ec)
    return Error{ErrorCode::kOutput, path, "cannot be copied to be read with its log",
                 "is there room in TMPDIR? or checkpoint the database"};
  std::error_code ignored;
  fs::permissions(to, fs::perms::owner_write, fs::perm_options::add, ignored);
  fs::permissions(to + "-wal", fs::perms::owner_write, fs::perm_options::add, ignored);
  return {};
}

} // namespace

bool is_sqlite(std::string_view head) {
  return head.starts_with(std::string_view("SQLite format 3\0", 16));
}

bool lies_on_disk(std::string_view path) {
  std::error_code ec;
  return path != "-" && fs::is_regular_file(fs::path(path), ec);
}

SqliteQuery::SqliteQuery(sqlite3* db, const std::string& sql)
    : statement_(nullptr, sqlite3_finalize), status_(SQLITE_OK) {
  sqlite3_stmt* raw = nullptr;
  status_ = sqlite3_prepare_v2(db, sql.c_str(), -1, &raw, nullptr);
  statement_.reset(raw);
}

bool SqliteQuery::step() {
  if (status_ == SQLITE_OK || status_ == SQLITE_ROW)
    status_ = sqlite3_step(statement_.get());
  return status_ == SQLITE_ROW;
}

bool SqliteQuery::failed() const {
  return status_ != SQLITE_OK && status_ != SQLITE_ROW && status_ != SQLITE_DONE;
}

bool SqliteQuery::null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::optional<std::int64_t> SqliteQuery::integer(int column) const {
  if (sqlite3_column_type(statement_.get(), column) != SQLITE_INTEGER)
    return std::nullopt;
  return sqlite3_column_int64(statement_.get(), column);
}

std::optional<double> SqliteQuery::real(int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
    return std::nullopt;
  const double value = sqlite3_column_double(statement_.get(), column);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::int64_t SqliteQuery::integer_or(int column, std::int64_t otherwise) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER
             ? sqlite3_column_int64(statement_.get(), column)
             : otherwise;
}

std::string_view SqliteQuery::text(int column) const {
  const auto* const bytes = sqlite3_column_text(statement_.get(), column);
  if (bytes == nullptr)
    return {};
  return {reinterpret_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<SqliteFile> SqliteFile::open(const std::string& path, ByteSource* source) {
  std::unique_ptr<ByteSource> own;
  if (source == nullptr) {
    RS_TRY(own, ByteSource::open(path));
    source = own.get();
  }
  std::error_code ec;
  const bool as_it_lies = !source->compressed() && lies_on_disk(path);
  const bool logged = as_it_lies && holds_bytes(path + "-wal");
  SqliteFile out;
  std::string file = path;
  if (!as_it_lies || logged) {
    RS_TRY(ScratchFolder folder, ScratchFolder::create());
    out.scratch_.emplace(std::move(folder));
    file = out.scratch_->path() + "/database";
    RS_CHECK(logged ? copy_with_log(path, file) : unpack(*source, path, file));
  }
  out.bytes_ = fs::file_size(file, ec);
  RS_CHECK(out.connect(path, file, !logged));
  Result<void> listed = out.list_tables(path);
  if (!listed) { // shorter than its header says: what is there can still be read
    sqlite3_exec(out.db_.get(), "PRAGMA writable_schema=ON", nullptr, nullptr, nullptr);
    out.shortened_ = out.list_tables(path).has_value() && !out.tables_.empty();
    if (!out.shortened_)
      return std::move(listed.error());
  }
  return out;
}

Result<void> SqliteFile::connect(const std::string& path, const std::string& file, bool immutable) {
  sqlite3* raw = nullptr;
  const int status = sqlite3_open_v2(uri_of(file, immutable).c_str(), &raw,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  db_ = {raw, sqlite3_close};
  if (status != SQLITE_OK)
    return Error{ErrorCode::kUnreadable, path, "cannot open this database", ""};
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kLongestText);
  // a scan takes some ten steps a row, a row some ten bytes, and no table is scanned twice
  budget_ = std::make_unique<Budget>();
  budget_->steps_left = 20'000'000 + 50 * bytes_;
  sqlite3_progress_handler(raw, kStepsPerCheck, count_steps, &budget_->steps_left);
  return {};
}

Result<void> SqliteFile::list_tables(const std::string& path) {
  std::vector<std::string> names;
  {
    SqliteQuery q = query("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE "
                          "'create virtual%'");
    while (q.step())
      names.emplace_back(q.text(0));
    if (q.failed())
      return Error{ErrorCode::kUnreadable, path,
                   fmt::format("not a database that can be read ({})", problem()), ""};
  }
  for (const std::string& name : names) {
    std::set<std::string>& columns = tables_[name];
    SqliteQuery q = query(fmt::format("PRAGMA table_info({})", quoted(name)));
    while (q.step())
      columns.emplace(q.text(1));
  }
  return {};
}

bool SqliteFile::has(const std::string& table, const std::string& column) const {
  const auto it = tables_.find(table);
  return it != tables_.end() && it->second.count(column) > 0;
}

std::string SqliteFile::column(const std::string& table, const std::string& name) const {
  return has(table, name) ? quoted(name) : "NULL";
}

SqliteQuery SqliteFile::rows(const std::string& table,
                             const std::vector<std::string>& columns) const {
  std::string sql = "SELECT ";
  for (std::size_t i = 0; i < columns.size(); ++i)
    sql += (i > 0 ? ", " : "") + column(table, columns[i]);
  // an index that covers the columns would be read in its own order
  return query(sql + " FROM " + quoted(table) + " NOT INDEXED");
}

void SqliteFile::report(const std::string& path, Diagnostics& diagnostics) const {
  if (shortened_)
    diagnostics.add(Severity::kDataLoss, "database_truncated", path,
                    "the file is shorter than the database says (cut off?); rows that can be "
                    "read were kept");
}

std::string SqliteFile::problem() const {
  if (budget_ != nullptr && budget_->steps_left == 0)
    return "a query takes far longer than the rows of the file do";
  return sqlite3_errmsg(db_.get());
}

bool RowIndex::add(std::int64_t id) {
  if (!ids_.empty() && id <= ids_.back())
    return false;
  ids_.push_back(id);
  return true;
}

std::size_t RowIndex::find(std::int64_t id) const {
  if (ids_.empty() || id < ids_.front() || id > ids_.back())
    return kNone;
  // ascending ids lie at or before their distance from the first one
  const auto most = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(ids_.front());
  const std::size_t last = static_cast<std::size_t>(std::min<std::uint64_t>(most, ids_.size() - 1));
  if (ids_[last] == id)
    return last;
  const auto end = ids_.begin() + static_cast<std::ptrdiff_t>(last);
  const auto it = std::lower_bound(ids_.begin(), end, id);
  return it != end && *it == id ? static_cast<std::size_t>(it - ids_.begin()) : kNone;
}

} // namespace rankscope
