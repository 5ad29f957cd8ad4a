// Tests the SQL files that are shipped for the engines of clusters, with a dataset. DuckDB replaces
// these engines, with the statement that examples/sql/README.md has for it. The results are
// compared with rankscope's views and with the generator.
#include "run_binary.h"
#include "sql/duckdb_fixture.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <simdjson.h>
#include <string>
#include <vector>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using Rows = std::vector<std::vector<std::string>>;

const fs::path kFiles = test::source_dir() / "examples" / "sql";

Rows query(const std::string& sql, const std::string& input) {
  const test::RunResult r = run_binary({"query", sql, input, "--allow-files", "--json", "-q"});
  EXPECT_EQ(r.code, 0) << sql << ": " << r.err;
  simdjson::dom::parser parser;
  const auto root = parser.parse(r.out);
  Rows out;
  simdjson::dom::array rows;
  if (root.error() != simdjson::SUCCESS ||
      root["tables"]["result"]["rows"].get(rows) != simdjson::SUCCESS)
    return out;
  for (const simdjson::dom::array row : rows) {
    out.emplace_back();
    for (const simdjson::dom::element cell : row)
      out.back().push_back(cell.is_string() ? std::string(std::string_view(cell))
                                            : simdjson::minify(cell));
  }
  return out;
}

double number(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

/// Two steps of eight ranks, with rank 5 late by 2 ms per step, and the dataset of this run.
class ClusterSql : public testing::Test {
protected:
  void SetUp() override {
    RS_NEEDS_DUCKDB();
    ASSERT_EQ(run_binary({"synth", folder.path("sweep"), "--threads", "256", "--channels", "28",
                          "--ranks", "8", "--layers", "2", "--steps", "2", "--straggler", "5",
                          "--straggler-us", "2000", "-q"})
                  .code,
              0);
    ASSERT_EQ(run_binary({"export", "--parquet", folder.path("DATASET"), folder.path("sweep"),
                          "--tables", "collectives", "-q"})
                  .code,
              0);
  }

  /// Runs a file on the dataset, with the view that the README defines for DuckDB.
  Rows file(const std::string& name) {
    const std::string readme = test::bytes_of((kFiles / "README.md").string());
    std::smatch bind;
    if (!std::regex_search(readme, bind, std::regex(R"(\| DuckDB \| `([^`]*)`)")))
      ADD_FAILURE() << "no line for DuckDB";
    const std::string view =
        std::regex_replace(bind[1].str(), std::regex("DATASET"), folder.path("DATASET"));
    return query(view + ";\n" + test::bytes_of((kFiles / name).string()), folder.path("sweep"));
  }

  test::TempFolder folder;
};

TEST_F(ClusterSql, TheLateRankIsTheGenerators) {
  const Rows rows = file("late_ranks.sql");
  ASSERT_EQ(rows.size(), 8U); // columns: run, rank, collectives, times_last, wait_ms
  EXPECT_EQ(rows[0][1], "5");
  const Rows want = query("FROM late_ranks", folder.path("sweep"));
  ASSERT_EQ(want.size(), rows.size());
  double last = 0;
  for (const auto& row : rows) {
    last += number(row[3]);
    const auto same =
        std::find_if(want.begin(), want.end(), [&](const auto& r) { return r[1] == row[1]; });
    ASSERT_NE(same, want.end());
    EXPECT_EQ(row[2], (*same)[2]);
    EXPECT_NEAR(number(row[4]), number((*same)[3]), 1e-9);
    if (row[1] != "5") {
      EXPECT_LT(number(rows[0][4]), number(row[4])); // the other ranks wait, rank 5 does not
      EXPECT_GT(number(rows[0][3]), number(row[3]));
    }
  }
  EXPECT_GE(last, 10); // each of the ten collectives has a rank that is last
}

TEST_F(ClusterSql, TheLongestWaitsAreForTheLateRank) {
  const Rows rows = file("longest_waits.sql");
  ASSERT_EQ(rows.size(), 10U);
  EXPECT_EQ(rows[0][7], "5");
  EXPECT_EQ(rows[0][4], "8");
  EXPECT_GT(number(rows[0][6]), 1); // in ms, of the 2 ms by which it is late per step
  double total = 0;
  for (const auto& row : rows)
    total += number(row[5]);
  const Rows want = query("SELECT sum(wait_ns) / 1e6 FROM collectives", folder.path("sweep"));
  EXPECT_NEAR(total, number(want[0][0]), 1e-9);
}

TEST_F(ClusterSql, BandwidthBySize) {
  const Rows rows = file("bandwidth_by_size.sql");
  const Rows want = query("SELECT run, name, dtype, mib, group_size, collectives, exposed_ms "
                          "FROM collectives_by_size",
                          folder.path("sweep"));
  ASSERT_EQ(rows.size(), want.size());
  ASSERT_GE(rows.size(), 3U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t column = 0; column < 6; ++column)
      EXPECT_EQ(rows[i][column], want[i][column]);
    EXPECT_NEAR(number(rows[i][9]), number(want[i][6]), 1e-9);
    EXPECT_LE(number(rows[i][7]), number(rows[i][6]));
    EXPECT_LE(number(rows[i][6]), number(rows[i][8]));
  }
  EXPECT_GT(number(rows[0][6]), 100); // GB/s of the generated all-gathers
}

// Running the files would not show SQL that only DuckDB accepts.
TEST(ClusterSqlFiles, AreStandardAndEachIsNamed) {
  const std::string readme = test::bytes_of((kFiles / "README.md").string());
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(kFiles)) {
    if (entry.path().extension() != ".sql")
      continue;
    const std::string name = entry.path().filename().string();
    files.insert(name);
    EXPECT_NE(readme.find("`" + name + "`"), std::string::npos) << name;
    const std::string text = test::bytes_of(entry.path().string());
    for (const char* word : {"::", "QUALIFY", "FILTER", "ALL", "median(", "any_value", ";"})
      EXPECT_EQ(text.find(word), std::string::npos) << name << ": " << word;
  }
  EXPECT_EQ(files.size(), 3U); // each of them has a test above
}

} // namespace
} // namespace rankscope
