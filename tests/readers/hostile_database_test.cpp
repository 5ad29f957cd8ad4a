// Tests databases whose schema contains code, or whose rows have much more data than the file
// (HA-E4, HA-E22).
#include "core/trace.h"
#include "readers/reader.h"
#include "readers/rocprof/sqlite_file.h"
#include "rocprof_files.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TempFolder;

const char* const kRpdTables =
    "CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid, tid, start, \"end\", apiName_id, args_id);"
    "CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId, queueId, start, \"end\", description_id, "
    "opType_id);"
    "CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id, op_id);"
    "INSERT INTO rocpd_api VALUES (1, 7, 7, 10, 20, 1, 1);"
    "INSERT INTO rocpd_op VALUES (1, 0, 0, 30, 40, 1, 1);"
    "INSERT INTO rocpd_api_ops VALUES (1, 1, 1);";

/// Returns SQL that writes a row of sqlite_master directly, with content that SQLite would not
/// write.
std::string schema_row(const std::string& type, const std::string& name, int page,
                       const std::string& sql) {
  return "PRAGMA writable_schema=ON; INSERT INTO sqlite_master VALUES ('" + type + "', '" + name +
         "', '" + name + "', " + std::to_string(page) + ", '" + sql + "');";
}

/// A view with a text of 14 MB in each of many rows.
const char* const kEndlessView =
    "CREATE VIEW rocpd_string AS WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c "
    "LIMIT 2000) SELECT id, hex(zeroblob(7000000)) || id AS string FROM c";

TEST(HostileDatabase, AViewThatCallsItselfATableIsNotRead) {
  for (const int page : {0, 2, 3}) {
    const TempFolder folder;
    const std::string path = folder.path("x.rpd");
    test::run_sql(path, kRpdTables + schema_row("table", "rocpd_string", page, kEndlessView));
    const Result<Trace> read = read_trace(path);
    ASSERT_FALSE(read) << page;
    EXPECT_EQ(read.error().code, ErrorCode::kUnreadable);
  }
}

TEST(HostileDatabase, NothingOfASchemaRunsInAFileThatWasCutOff) {
  for (const char* sql :
       {kEndlessView, "CREATE  VIRTUAL TABLE rocpd_string USING fts5(id, string)"})
    for (const int page : {0, 3}) {
      const TempFolder folder;
      const std::string path = folder.path("x.rpd");
      test::run_sql(path, std::string(kRpdTables) +
                              "CREATE TABLE filler(x); INSERT INTO filler VALUES "
                              "(zeroblob(100000));" +
                              schema_row("table", "rocpd_string", page, sql));
      const std::string bytes = test::bytes_of(path);
      const std::string cut = folder.write("cut.rpd", bytes.substr(0, bytes.size() - 8192));
      const Result<Trace> read = read_trace(cut);
      if (read) { // the other tables can be read: kernels without names
        EXPECT_EQ(read->events.size(), 2U);
        EXPECT_TRUE(read->diagnostics.data_lost());
      } else {
        EXPECT_EQ(read.error().code, ErrorCode::kUnreadable);
      }
    }
}

TEST(HostileDatabase, AVirtualTableIsNoTableHoweverItIsSpelled) {
  const TempFolder folder;
  const std::string path = folder.path("x.rpd");
  test::run_sql(path, std::string(kRpdTables) +
                          "CREATE  VIRTUAL TABLE rocpd_string USING fts5(id, string);"
                          "INSERT INTO rocpd_string VALUES (1, 'from the module');");
  const Result<SqliteFile> file = SqliteFile::open(path);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_FALSE(file->has("rocpd_string"));
  EXPECT_TRUE(file->has("rocpd_api"));
  const Result<Trace> read = read_trace(path);
  ASSERT_TRUE(read) << read.error().message();
  for (EventId i = 0; i < read->events.size(); ++i)
    EXPECT_NE(read->name(i), "from the module");
  // a query with the name of this table must not run the module either
  EXPECT_TRUE(file->query("SELECT * FROM rocpd_string").failed());
}

TEST(HostileDatabase, QueriesOfTheFileItselfAreRefused) {
  const TempFolder folder;
  const std::string path = folder.path("x.rpd");
  test::run_sql(path, kRpdTables);
  const Result<SqliteFile> file = SqliteFile::open(path);
  ASSERT_TRUE(file) << file.error().message();
  for (const char* sql :
       {"SELECT hex(id) FROM rocpd_api", "ATTACH 'x' AS y", "SELECT * FROM pragma_database_list",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c",
        "PRAGMA writable_schema=ON", "SELECT load_extension('x')"})
    EXPECT_TRUE(file->query(sql).failed()) << sql;
  SqliteQuery good = file->query("SELECT count(*) FROM \"rocpd_api\"");
  ASSERT_TRUE(good.step());
  EXPECT_EQ(good.integer(0), 1);
}

TEST(HostileDatabase, TextsFarLargerThanTheFileEndTheQuery) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, "CREATE TABLE t(x); INSERT INTO t VALUES ('" + std::string(100'000, 'x') +
                          "'); INSERT INTO t SELECT 1 FROM t;");
  const Result<SqliteFile> file = SqliteFile::open(path);
  ASSERT_TRUE(file) << file.error().message();
  // reading one table again and again is like reading rows that share pages
  std::uint64_t bytes = 0;
  bool failed = false;
  for (int i = 0; i < 2000 && !failed; ++i) {
    SqliteQuery q = file->rows("t", {"x"});
    while (q.step())
      bytes += q.text(0).size();
    failed = q.failed();
  }
  EXPECT_TRUE(failed);
  EXPECT_LT(bytes, 80'000'000U);
  EXPECT_NE(file->problem().find("far larger than the file"), std::string::npos) << file->problem();
}

// HA-E22: a WAL file was copied before it was checked, whatever its size.
TEST(HostileDatabase, OfALogOnlyItsOwnFramesAreCopied) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES (7)",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  std::filesystem::copy_file(path, folder.path("y.db"));
  std::filesystem::copy_file(path + "-wal", folder.path("y.db-wal"));
  sqlite3_close(db);
  const auto rows_of = [&](const std::string& name) {
    const Result<SqliteFile> file = SqliteFile::open(folder.path(name));
    std::int64_t rows = -1;
    if (file && file->has("t")) {
      SqliteQuery q = file->query("SELECT count(*) FROM t");
      rows = q.step() ? q.integer_or(0, -1) : -1;
    }
    return rows;
  };
  EXPECT_EQ(rows_of("y.db"), 1);
  // frames that were never written: a hole of 64 GiB
  std::filesystem::resize_file(folder.path("y.db-wal"), std::uintmax_t{64} << 30U);
  EXPECT_EQ(rows_of("y.db"), 1);
  std::filesystem::remove(folder.path("y.db-wal"));
  folder.write("y.db-wal", "");
  std::filesystem::resize_file(folder.path("y.db-wal"), std::uintmax_t{64} << 30U);
  EXPECT_EQ(rows_of("y.db"), -1); // the database itself has no table
}

} // namespace
} // namespace rankscope
