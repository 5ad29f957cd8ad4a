// Tests tables of facts in DuckDB: cells are unchanged, only columns that a query uses are read,
// every type of result has a value, and queries cannot access files.
#include "sql/database.h"

#include "duckdb_fixture.h"
#include "temp_folder.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

namespace rankscope {
namespace {

Column column(const char* id, CellKind type) {
  return {id, id, Unit::kNone, type, "", ColumnStyle{}};
}

/// The table `numbers` has rows 0 to n-1 in two parts. The columns of row i are the integer i, half
/// of it, whether it is even, and a text; all are NULL where i is a multiple of 7.
class Numbers final : public SqlSource {
public:
  explicit Numbers(std::size_t rows) : rows_(rows) {}
  [[nodiscard]] bool has(const std::string& name) const override {
    return name == "numbers" || name == "broken" || name == "empty";
  }
  Result<std::shared_ptr<const SqlTable>> table(const std::string& name) override {
    if (name == "broken")
      return Error{ErrorCode::kUnreadable, "rank0.json", "cannot be read", ""};
    auto out = std::make_shared<SqlTable>();
    out->name = name;
    out->columns = {column("i", CellKind::kInt), column("half", CellKind::kDouble),
                    column("even", CellKind::kBool), column("text", CellKind::kText)};
    if (name == "empty")
      return std::shared_ptr<const SqlTable>(out);
    const std::size_t first = rows_ / 3;
    out->parts = {part(0, first), part(first, rows_ - first)};
    return std::shared_ptr<const SqlTable>(out);
  }
  std::array<std::atomic<std::size_t>, 4> cells_read{};

private:
  SqlPart part(std::size_t begin, std::size_t rows) {
    SqlPart out;
    out.rows = rows;
    out.read = [this, begin](std::size_t c, std::size_t first, std::size_t count,
                             const SqlPart::Take& use) {
      cells_read[c] += count;
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t i = begin + first + k;
        const std::string text = i % 3 == 0 ? "k\xff\xc3\xa9" : "a name longer than twelve bytes";
        const bool null = i % 7 == 0;
        use(k, null     ? Value()
               : c == 0 ? Value(static_cast<std::int64_t>(i))
               : c == 1 ? Value(static_cast<double>(i) / 2)
               : c == 2 ? Value(i % 2 == 0)
                        : Value(std::string_view(text)));
      }
    };
    return out;
  }
  std::size_t rows_;
};

std::unique_ptr<SqlDatabase> open(SqlSource& source, const SqlOptions& options = {4, false, {}}) {
  auto database = SqlDatabase::open(source, options);
  EXPECT_TRUE(database) << database.error().message();
  return database ? std::move(*database) : nullptr;
}

std::string text_of(const Value& v) {
  switch (v.kind) {
  case CellKind::kNull:
    return "NULL";
  case CellKind::kInt:
    return std::to_string(v.i);
  case CellKind::kBool:
    return v.i != 0 ? "true" : "false";
  case CellKind::kDouble:
    return std::to_string(v.d);
  case CellKind::kText:
    return std::string(v.text);
  }
  return "";
}

TEST(SqlDatabase, CellsComeBackAsTheyWentIn) {
  RS_NEEDS_DUCKDB();
  Numbers source(10'000);
  const auto database = open(source);
  const auto table = database->query("SELECT * FROM numbers");
  ASSERT_TRUE(table) << table.error().message();
  ASSERT_EQ(table->rows(), 10'000U);
  for (std::size_t i = 0; i < table->rows(); ++i) {
    if (i % 7 == 0) {
      for (std::size_t c = 0; c < 4; ++c)
        ASSERT_TRUE(table->at(i, c).is_null()) << i << ' ' << c;
      continue;
    }
    ASSERT_EQ(table->at(i, 0).i, static_cast<std::int64_t>(i));
    ASSERT_EQ(table->at(i, 1).d, static_cast<double>(i) / 2);
    ASSERT_EQ(table->at(i, 2).i, i % 2 == 0 ? 1 : 0);
    ASSERT_EQ(table->at(i, 3).text,
              i % 3 == 0 ? "k\xef\xbf\xbd\xc3\xa9" : "a name longer than twelve bytes");
  }
}

TEST(SqlDatabase, OnlyTheColumnsThatAreNamedAreRead) {
  RS_NEEDS_DUCKDB();
  Numbers source(50'000);
  const auto database = open(source);
  const auto count = database->query("SELECT count(*) FROM numbers");
  ASSERT_TRUE(count) << count.error().message();
  EXPECT_EQ(count->at(0, 0).i, 50'000);
  for (std::size_t c = 1; c < source.cells_read.size(); ++c)
    EXPECT_EQ(source.cells_read[c], 0U); // DuckDB reads the first column if a query uses no column
  source.cells_read[0] = 0;
  // table names ignore case
  const auto sum = database->query("SELECT sum(i), count(i) FROM Numbers");
  ASSERT_TRUE(sum) << sum.error().message();
  std::int64_t want = 0, rows = 0;
  for (std::int64_t i = 0; i < 50'000; ++i)
    if (i % 7 != 0) {
      want += i;
      ++rows;
    }
  EXPECT_EQ(sum->at(0, 0).i, want);
  EXPECT_EQ(sum->at(0, 1).i, rows);
  EXPECT_EQ(source.cells_read[0], 50'000U);
  EXPECT_EQ(source.cells_read[3], 0U);
  const auto none = database->query("SELECT * FROM empty");
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_EQ(none->rows(), 0U);
  EXPECT_EQ(none->cols(), 4U);
}

TEST(SqlDatabase, EveryTypeOfAResultHasAValue) {
  RS_NEEDS_DUCKDB();
  Numbers source(1);
  const auto database = open(source);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"true", "true"},
      {"(-5)::TINYINT", "-5"},
      {"300::SMALLINT", "300"},
      {"7::UTINYINT", "7"},
      {"70000::UINTEGER", "70000"},
      {"9223372036854775807", "9223372036854775807"},
      {"18446744073709551615::UBIGINT", "18446744073709551616.000000"},
      {"(-3)::HUGEINT", "-3"},
      {"9223372036854775808::HUGEINT", "9223372036854775808.000000"},
      {"1.25", "1.250000"},
      {"0.5::FLOAT", "0.500000"},
      {"NULL", "NULL"},
      {"'a text of more than twelve bytes'", "a text of more than twelve bytes"},
      {"DATE '2024-02-29'", "2024-02-29"},
      {"TIMESTAMP '2024-02-29 01:02:03'", "2024-02-29 01:02:03"},
      {"INTERVAL 3 DAY", "3 days"},
      {"'b'::ENUM('a', 'b')", "b"},
      {"[1, NULL, 3]", "[1,null,3]"},
      {"{'a': [1], 'b': 'x'}", R"({"a":[1],"b":"x"})"},
      {"MAP {'k': 1.5}", R"({"k":1.5})"},
      {"'\\x41'::BLOB", "A"},
      {"uuid '00000000-0000-0000-0000-000000000001'", "00000000-0000-0000-0000-000000000001"}};
  for (const auto& [sql, want] : cases) {
    const auto table = database->query("SELECT " + sql + " AS \"a \"\" name\"");
    ASSERT_TRUE(table) << sql << ": " << table.error().message();
    ASSERT_EQ(table->rows(), 1U) << sql;
    EXPECT_EQ(text_of(table->at(0, 0)), want) << sql;
    EXPECT_EQ(table->columns()[0].name, "a \" name");
    EXPECT_EQ(table->columns()[0].nested, want[0] == '[' || want[0] == '{') << sql;
  }
}

TEST(SqlDatabase, ErrorsAreOneLineWithACode) {
  RS_NEEDS_DUCKDB();
  Numbers source(10);
  const auto database = open(source);
  for (const char* sql : {"SELEC 1", "SELECT nope FROM numbers", "FROM nothing", "SELECT 'a'::INT",
                          "SELECT 1; SELECT 2", "FROM rankscope_table('nothing')"}) {
    const auto table = database->query(sql);
    ASSERT_FALSE(table) << sql;
    EXPECT_EQ(table.error().code, ErrorCode::kUsage) << sql;
    EXPECT_EQ(table.error().message().find('\n'), std::string::npos) << table.error().message();
  }
  const auto broken = database->query("FROM broken");
  ASSERT_FALSE(broken);
  // the error of the source, not an error text of DuckDB
  EXPECT_EQ(broken.error().code, ErrorCode::kUnreadable);
  EXPECT_EQ(broken.error().message(), "rank0.json: cannot be read");
  EXPECT_TRUE(database->query("SELECT 1")); // the next query works
}

TEST(SqlDatabase, ReachesNoFileUnlessItIsAllowed) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  const std::string file = folder.path("it's.csv");
  Numbers source(10);
  const auto shut = open(source);
  const std::string copy = "COPY numbers TO '" + folder.path("it''s.csv") + "' (FORMAT csv)";
  for (const std::string& sql :
       {copy, "ATTACH '" + folder.path("db") + "'", std::string("FROM read_csv('/etc/passwd')"),
        std::string("FROM read_text('/etc/passwd')"), std::string("FROM glob('/*')"),
        std::string("INSTALL httpfs"), std::string("LOAD httpfs"),
        std::string("SET enable_external_access = true"),
        std::string("SET autoinstall_known_extensions = true"),
        "EXPORT DATABASE '" + folder.path("all") + "'",
        "SET temp_directory = '" + folder.path("t") + "'"}) {
    const auto done = shut->query(sql);
    EXPECT_FALSE(done) << sql;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  const auto writing = open(source, {1, false, {file}});
  EXPECT_FALSE(writing->query("COPY numbers TO '" + folder.path("other.csv") + "'"));
  const auto written = writing->query(copy);
  EXPECT_TRUE(written) << written.error().message();
  EXPECT_TRUE(std::filesystem::exists(file));
  const auto open_one = open(source, {1, true, {}});
  EXPECT_TRUE(open_one->query("COPY numbers TO '" + folder.path("other.csv") + "'"));
}

TEST(SqlDatabase, AnInterruptEndsTheQuery) {
  RS_NEEDS_DUCKDB();
  Numbers source(1);
  const auto database = open(source);
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) {
      database->interrupt();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const auto table = database->query("SELECT sum(a.range * b.range) FROM range(10000000) a, "
                                     "range(10000000) b");
  done = true;
  other.join();
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::kInterrupted);
}

TEST(DuckDbLibrary, WhatIsNoDuckDbIsSaidSo) {
  const auto nothing = open_duckdb("/nowhere/libduckdb.so");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::kMissingTool);
  EXPECT_NE(nothing.error().message().find("/nowhere/libduckdb.so"), std::string::npos);
  const auto wrong = open_duckdb("libc.so.6");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kMissingTool);
  EXPECT_NE(wrong.error().message().find("has no duckdb_"), std::string::npos);
}

TEST(OneLine, KeepsWhatHelps) {
  EXPECT_EQ(one_line("Parser Error: syntax error at or near \"x\"\n\nLINE 1: x\n        ^"),
            "Parser Error: syntax error at or near \"x\"; LINE 1: x");
  EXPECT_EQ(one_line("Binder Error: no\nCandidate bindings: \"a\"\n\nStack Trace:\n0 x\n1 y"),
            "Binder Error: no; Candidate bindings: \"a\"");
  EXPECT_EQ(one_line(""), "");
}

} // namespace
} // namespace rankscope
