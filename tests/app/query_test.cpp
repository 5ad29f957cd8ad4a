// Tests the use case `query`: traces are parsed once for all sources that statements use, and no
// view uses itself.
#include "app/query.h"

#include "app/export_dataset.h"
#include "app/query_views.h"
#include "sql/duckdb_fixture.h"
#include "sql/statements.h"
#include "test_paths.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

RunTablesRequest two_ranks() {
  RunTablesRequest request;
  request.inputs = {(test::source_dir() / "tests/data/synth/amd").string()};
  return request;
}

TEST(Query, EachTraceIsParsedOnceForAllThatIsNamed) {
  RS_NEEDS_DUCKDB();
  Session session;
  session.threads = 2;
  auto query = Query::open(session, two_ranks(), false, "", QueryFormat::kTable);
  ASSERT_TRUE(query) << query.error().message();
  EXPECT_EQ((*query)->traces_read(), 0U);
  ASSERT_TRUE((*query)->run("SELECT 1"));
  EXPECT_EQ((*query)->traces_read(), 0U);
  const auto table =
      (*query)->run("SELECT (SELECT count(*) FROM slow_ranks), (SELECT count(*) FROM gemm), "
                    "(SELECT count(*) FROM "
                    "nccl_long), (SELECT count(*) FROM top_ranks), (SELECT count(*) FROM kernels)");
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ(table->at(0, 4).i, 320);
  EXPECT_EQ((*query)->traces_read(), 2U); // both ranks, each once
  ASSERT_TRUE((*query)->run("FROM operators_by_time"));
  EXPECT_EQ((*query)->traces_read(), 2U); // the traces that were read for `kernels` are reused
}

TEST(Query, SeveralStatementsShareOnePass) {
  RS_NEEDS_DUCKDB();
  Session session;
  session.threads = 2;
  auto query = Query::open(session, two_ranks(), false, "", QueryFormat::kTable);
  ASSERT_TRUE(query) << query.error().message();
  const std::vector<std::string> statements = {"FROM steps", "FROM kernel_summary",
                                               "FROM findings"};
  ASSERT_TRUE((*query)->prepare(statements));
  for (const std::string& statement : statements)
    EXPECT_TRUE((*query)->run(statement)) << statement;
  EXPECT_EQ((*query)->traces_read(), 2U);
}

TEST(QueryViews, NameOnlyTablesAndViewsBeforeThem) {
  std::set<std::string> known;
  for (const RunTableInfo& table : run_table_list())
    EXPECT_TRUE(known.insert(table.name).second) << table.name;
  for (const QueryView& view : query_views()) {
    EXPECT_EQ(words_of(view.sql).count(std::string(view.name)), 0U) << view.name;
    EXPECT_TRUE(known.insert(std::string(view.name)).second) << view.name;
    EXPECT_TRUE(view.help.ends_with('?')) << view.name;
  }
}

TEST(QueryFormats, TheEndingChoosesUnlessItIsSaid) {
  EXPECT_EQ(*query_format("", ""), QueryFormat::kTable);
  EXPECT_EQ(*query_format("", "a.b/x.parquet"), QueryFormat::kParquet);
  EXPECT_EQ(*query_format("csv", "x.foo"), QueryFormat::kCsv);
  for (const char* file : {"x", "x.foo", "x.CSV", ".csv"})
    EXPECT_FALSE(query_format("", file)) << file;
}

TEST(HiveValue, OtherBytesAreEscaped) {
  EXPECT_EQ(hive_value("256thread_28ch"), "256thread_28ch");
  EXPECT_EQ(hive_value("a=b/c d%"), "a%3Db%2Fc%20d%25");
  EXPECT_EQ(hive_value(".."), "_..");
  EXPECT_EQ(hive_value(""), "_");
}

} // namespace
} // namespace rankscope
