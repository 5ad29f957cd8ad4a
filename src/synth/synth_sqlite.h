// Writes databases in the formats of the simulated tools. Each database is written once.
#pragma once

#include "os/output_file.h"
#include "synth/synth_emit.h"

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <unordered_map>
#include <utility>

namespace rankscope::synth {

/// A new database. After the first failure, all later operations fail too. It replaces each '@' in
/// an SQL text by `at`.
class Database {
public:
  Database(const std::string& path, std::string at)
      : db_(nullptr, sqlite3_close), at_(std::move(at)) {
    sqlite3* raw = nullptr;
    good_ = sqlite3_open(path.c_str(), &raw) == SQLITE_OK;
    db_.reset(raw);
    run("PRAGMA journal_mode=off; PRAGMA synchronous=off; BEGIN;");
  }
  void run(const std::string& sql) {
    good_ = good_ &&
            sqlite3_exec(db_.get(), filled(sql).c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  [[nodiscard]] std::string filled(std::string sql) const {
    for (std::size_t i = sql.find('@'); i != std::string::npos; i = sql.find('@', i + at_.size()))
      sql.replace(i, 1, at_);
    return sql;
  }
  [[nodiscard]] sqlite3* get() const { return db_.get(); }
  void fail() { good_ = false; }
  [[nodiscard]] bool good() const { return good_; }

private:
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> db_;
  std::string at_;
  bool good_ = false;
};

/// Inserts rows one by one. `into` is "table" or "table(columns)". Ids count from 1.
class Table {
public:
  Table(Database& db, const std::string& into, int columns)
      : db_(db), statement_(nullptr, sqlite3_finalize) {
    std::string sql = "INSERT INTO " + into + " VALUES (?";
    for (int i = 1; i < columns; ++i)
      sql += ", ?";
    sqlite3_stmt* raw = nullptr;
    if (!db.good() ||
        sqlite3_prepare_v2(db.get(), db.filled(sql + ")").c_str(), -1, &raw, nullptr) != SQLITE_OK)
      db.fail();
    statement_.reset(raw);
  }
  /// Adds a row: `numbers` for the columns after the id, then `texts` for the next columns. Returns
  /// the id.
  std::int64_t add(std::initializer_list<std::int64_t> numbers,
                   std::initializer_list<std::string> texts = {}) {
    return put(rows_ + 1, numbers, texts);
  }
  /// Adds a row whose id is the id of a row in another table.
  std::int64_t put(std::int64_t id, std::initializer_list<std::int64_t> numbers,
                   std::initializer_list<std::string> texts = {}) {
    if (!db_.good())
      return 0;
    int at = 1;
    sqlite3_bind_int64(statement_.get(), at++, id);
    for (const std::int64_t n : numbers)
      sqlite3_bind_int64(statement_.get(), at++, n);
    for (const std::string& text : texts)
      sqlite3_bind_text(statement_.get(), at++, text.c_str(), -1, SQLITE_TRANSIENT);
    if (sqlite3_step(statement_.get()) != SQLITE_DONE)
      db_.fail();
    sqlite3_reset(statement_.get());
    ++rows_;
    return id;
  }
  [[nodiscard]] std::int64_t rows() const { return rows_; }

private:
  Database& db_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
  std::int64_t rows_ = 0;
};

/// Assigns ids to texts, in a table of (id, text).
class StringTable {
public:
  StringTable(Database& db, const std::string& into) : table_(db, into, 2) {}
  std::int64_t id(const std::string& text) {
    const auto [it, fresh] = ids_.try_emplace(text, 0);
    if (fresh)
      it->second = table_.add({}, {text});
    return it->second;
  }

private:
  Table table_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

/// Writes a database with `fill(db)`. The file gets its name when it is complete. Errors: kOutput.
template <class Fill>
Result<EmitResult> write_database(const std::string& path, const std::string& at, Fill&& fill) {
  RS_TRY(TempName name, TempName::reserve(path));
  EmitResult out;
  bool good = false;
  {
    Database db(name.temp_path(), at);
    out = fill(db);
    db.run("COMMIT;");
    good = db.good();
  }
  if (!good)
    return Error{ErrorCode::kOutput, path, "cannot write this database", "is there room?"};
  std::error_code ec;
  out.bytes = std::filesystem::file_size(name.temp_path(), ec);
  RS_CHECK(name.commit());
  return out;
}

} // namespace rankscope::synth
