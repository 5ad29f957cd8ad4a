// Opens SQLite databases from untrusted sources as SQLite's page "Defense Against The Dark Arts"
// recommends: the database is read only, no code from the file runs, and the work and the text
// sizes are limited. All code is in this header because this layer does not link SQLite.
#pragma once

#include "base/percent_encoding.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <string_view>

namespace rankscope {

/// Limits the cost of queries on one database. A normal scan takes about ten steps per row and
/// reads at most as many bytes of text as the file contains. In a malicious file, rows can share
/// pages, so that a scan returns much more text than the file contains.
struct SqliteBudget {
  explicit SqliteBudget(std::uint64_t file_bytes)
      : steps_left(20'000'000 + 50 * file_bytes),
        text_bytes_left((std::uint64_t{64} << 20U) + 16 * file_bytes) {}
  std::uint64_t steps_left, text_bytes_left;

  /// Subtracts `bytes` from the text budget. If less is left, returns false and sets the budget to
  /// 0.
  bool spend_text(std::uint64_t bytes) {
    const bool enough = bytes <= text_bytes_left;
    text_bytes_left = enough ? text_bytes_left - bytes : 0;
    return enough;
  }
};

using SqliteHandle = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

namespace foreign_sqlite {

inline constexpr int kStepsPerCheck = 1000;
inline constexpr int kLongestText = 1 << 24; // bytes of a text, for example a name or an
                                             // environment

/// Callback for sqlite3_progress_handler: a nonzero result ends the query.
inline int count_steps(void* steps_left) {
  std::uint64_t& left = *static_cast<std::uint64_t*>(steps_left);
  left -= std::min<std::uint64_t>(left, kStepsPerCheck);
  return left == 0 ? 1 : 0;
}

/// Callback for sqlite3_set_authorizer: allows reading the columns of tables (but not of the tables
/// that SQLite makes of pragmas), and the functions that our queries call.
inline int authorize(void*, int action, const char* name, const char* function, const char*,
                     const char* view) {
  const auto is_one_of = [](const char* text, std::initializer_list<std::string_view> known) {
    return text != nullptr && std::find(known.begin(), known.end(), text) != known.end();
  };
  const auto is_pragma = [](const char* table) {
    return table != nullptr && std::string_view(table).starts_with("pragma_");
  };
  const bool allowed = action == SQLITE_SELECT ||
                       (action == SQLITE_READ && view == nullptr && !is_pragma(name)) ||
                       (action == SQLITE_FUNCTION && is_one_of(function, {"count", "like"})) ||
                       (action == SQLITE_PRAGMA && is_one_of(name, {"table_info"}));
  return allowed ? SQLITE_OK : SQLITE_DENY;
}

} // namespace foreign_sqlite

/// Opens `file`; returns null when that fails. `immutable`: no process writes the file, so SQLite
/// uses no locks and creates no file next to it. `budget` must outlive the handle.
inline SqliteHandle open_foreign_sqlite(const std::string& file, bool immutable,
                                        SqliteBudget& budget) {
  const std::string uri =
      "file:" + percent_encoded(file, [](char c) { return c != '%' && c != '?' && c != '#'; }) +
      (immutable ? "?immutable=1" : "");
  sqlite3* raw = nullptr;
  const int status =
      sqlite3_open_v2(uri.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  SqliteHandle db{raw, sqlite3_close};
  if (status != SQLITE_OK)
    return {nullptr, sqlite3_close};
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_drop_modules(raw, nullptr); // virtual tables would run code
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, foreign_sqlite::kLongestText);
  sqlite3_limit(raw, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_exec(raw, "PRAGMA cell_size_check=ON", nullptr, nullptr, nullptr);
  sqlite3_exec(raw, "PRAGMA mmap_size=0", nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(raw, foreign_sqlite::authorize, nullptr);
  sqlite3_progress_handler(raw, foreign_sqlite::kStepsPerCheck, foreign_sqlite::count_steps,
                           &budget.steps_left);
  return db;
}

/// Lets `db` load the schema of a truncated file, although it refers to pages beyond the end of the
/// file.
inline void allow_missing_pages(sqlite3* db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
}

/// Selects the names of the ordinary tables, which have a root page, unlike views and virtual
/// tables.
inline constexpr const char* kSqliteTables =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND sql LIKE "
    "'create table%'";

} // namespace rankscope
