#include "readers/rocprof/sqlite_file.h"

#include "base/ascii.h"
#include "base/counters.h"
#include "os/byte_source.h"
#include "os/input_file.h"
#include "readers/rocprof/unpacked_databases.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sqlite3.h>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

bool holds_bytes(const std::string& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec) && fs::file_size(path, ec) > 0 && !ec;
}

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i)
    out = out << 8U | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

/// Returns whether the header contains a larger number of pages than the file has.
bool is_cut_off(const std::string& file, std::uint64_t bytes) {
  constexpr std::size_t kHeader = 100;
  std::ifstream in(file, std::ios::binary);
  std::string head(kHeader, '\0');
  if (!in.read(head.data(), kHeader))
    return false;
  const std::uint64_t page = big_endian(head, 14) & 0xffffU;
  return big_endian(head, 28) * (page == 1 ? std::uint64_t{65536} : page) > bytes;
}

/// Copies those frames of a write-ahead log that belong to its header. The rest of the file is from
/// an earlier log or was never written, and may have any size. Returns false if copying fails.
bool copy_log(const std::string& from, const std::string& to) {
  constexpr std::size_t kLogHeader = 32;
  constexpr std::size_t kFrameHeader = 24;
  constexpr std::size_t kSalts = 8;
  std::ifstream in(from, std::ios::binary);
  std::ofstream out(to, std::ios::binary);
  std::string bytes(kLogHeader, '\0');
  if (!in.read(bytes.data(), kLogHeader) || (big_endian(bytes, 0) & ~1U) != 0x377f0682U)
    return static_cast<bool>(out); // not a log: SQLite ignores it too
  out.write(bytes.data(), kLogHeader);
  const std::string salts = bytes.substr(16, kSalts);
  const std::size_t page = std::min<std::size_t>(big_endian(bytes, 8), 65536);
  bytes.resize(kFrameHeader + page);
  while (out && in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) &&
         bytes.compare(kSalts, kSalts, salts) == 0)
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return static_cast<bool>(out);
}

Result<void> copy_with_log(const std::string& path, const std::string& to) {
  std::error_code ec;
  remember_input(path + "-wal");
  fs::copy_file(path, to, ec);
  if (ec || !copy_log(path + "-wal", to + "-wal"))
    return Error{ErrorCode::kOutput, path, "cannot be copied together with its write-ahead log",
                 "is there free space in TMPDIR? Otherwise checkpoint the database"};
  std::error_code ignored;
  fs::permissions(to, fs::perms::owner_write, fs::perm_options::add, ignored);
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

SqliteQuery::SqliteQuery(sqlite3* db, const std::string& sql, SqliteBudget* budget)
    : statement_(nullptr, sqlite3_finalize), budget_(budget), status_(SQLITE_OK) {
  sqlite3_stmt* raw = nullptr;
  status_ = sqlite3_prepare_v2(db, sql.c_str(), -1, &raw, nullptr);
  statement_.reset(raw);
}

bool SqliteQuery::step() {
  if (budget_ != nullptr && budget_->text_bytes_left == 0)
    status_ = SQLITE_TOOBIG;
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
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  if (budget_ != nullptr && !budget_->spend_text(size))
    return {};
  return {reinterpret_cast<const char*>(bytes), size};
}

Result<SqliteFile> SqliteFile::open(const std::string& path, ByteSource* source) {
  std::unique_ptr<ByteSource> opened;
  if (source == nullptr) {
    RS_TRY(opened, ByteSource::open(path));
    source = opened.get();
  }
  std::error_code ec;
  const bool as_it_lies = !source->compressed() && lies_on_disk(path);
  const bool logged = as_it_lies && holds_bytes(path + "-wal");
  SqliteFile out;
  std::string file = path;
  if (logged) {
    RS_TRY(ScratchFolder folder, ScratchFolder::create());
    out.scratch_ = std::make_shared<const ScratchFolder>(std::move(folder));
  } else if (!as_it_lies) {
    RS_TRY(out.scratch_, unpacked_database(path, *source));
  }
  if (out.scratch_ != nullptr)
    file = out.scratch_->path() + "/database";
  if (logged)
    RS_CHECK(copy_with_log(path, file));
  out.bytes_ = fs::file_size(file, ec);
  // a real database is at most some ten times as large as its compressed file
  const std::uint64_t packed = source->compressed() ? source->file_bytes() : 0;
  out.budget_ =
      std::make_unique<SqliteBudget>(packed > 0 ? std::min(out.bytes_, 4 * packed) : out.bytes_);
  RS_CHECK(out.connect(path, file, !logged));
  Result<void> listed = out.list_tables(path);
  if (!listed && is_cut_off(file, out.bytes_)) { // the pages that exist can still be read
    allow_missing_pages(out.db_.get());
    out.shortened_ = out.list_tables(path).has_value() && !out.tables_.empty();
  }
  if (!listed && !out.shortened_)
    return std::move(listed.error());
  return out;
}

Result<void> SqliteFile::connect(const std::string& path, const std::string& file, bool immutable) {
  db_ = open_foreign_sqlite(file, immutable, *budget_);
  if (db_ == nullptr)
    return Error{ErrorCode::kUnreadable, path, "cannot open this database", ""};
  return {};
}

Result<void> SqliteFile::list_tables(const std::string& path) {
  std::vector<std::string> names;
  {
    SqliteQuery q = query(kSqliteTables);
    while (q.step())
      names.emplace_back(q.text(0));
    if (q.failed())
      return Error{ErrorCode::kUnreadable, path,
                   fmt::format("is not a readable database ({})", problem()), ""};
  }
  for (const std::string& name : names) {
    std::set<std::string>& columns = tables_[name];
    SqliteQuery q = query(fmt::format("PRAGMA table_info({})", in_quotes(name)));
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
  return has(table, name) ? in_quotes(name) : "NULL";
}

SqliteQuery SqliteFile::rows(const std::string& table,
                             const std::vector<std::string>& columns) const {
  std::string sql = "SELECT ";
  for (std::size_t i = 0; i < columns.size(); ++i)
    sql += (i > 0 ? ", " : "") + column(table, columns[i]);
  // NOT INDEXED: otherwise SQLite may read the rows in the order of an index
  return query(sql + " FROM " + in_quotes(table) + " NOT INDEXED");
}

void SqliteFile::report(const std::string& path, Diagnostics& diagnostics) const {
  if (shortened_)
    diagnostics.add(counters::database_truncated(), path);
}

std::string SqliteFile::problem() const {
  if (budget_->steps_left == 0)
    return "a query takes far more steps than a file of this size needs";
  if (budget_->text_bytes_left == 0)
    return "the texts in its rows are far larger than the file";
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
  // ids are ascending, so the index of an id is at most its difference from the first id
  const auto most = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(ids_.front());
  const std::size_t last = static_cast<std::size_t>(std::min<std::uint64_t>(most, ids_.size() - 1));
  if (ids_[last] == id)
    return last;
  const auto end = ids_.begin() + static_cast<std::ptrdiff_t>(last);
  const auto it = std::lower_bound(ids_.begin(), end, id);
  return it != end && *it == id ? static_cast<std::size_t>(it - ids_.begin()) : kNone;
}

} // namespace rankscope
