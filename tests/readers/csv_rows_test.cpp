// The one CSV parser: what it takes for rows and fields.
#include "readers/reports/csv_rows.h"

#include "readers/reports/report_tables.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using Rows = std::vector<CsvRow>;

TEST(CsvRows, EndsOfLinesAreLfCrLfOrCr) {
  const Rows want{{"a", "b"}, {"1", "2"}};
  for (const char* text : {"a,b\n1,2\n", "a,b\r\n1,2\r\n", "a,b\r1,2",
                           "\xef\xbb\xbf"
                           "a,b\n1,2"})
    EXPECT_EQ(parse_csv(text), want) << text;
}

TEST(CsvRows, QuotedFieldsHoldAnything) {
  EXPECT_EQ(parse_csv("\"a,\"\"b\"\"\r\nc\",2\n"), (Rows{{"a,\"b\"\r\nc", "2"}}));
  EXPECT_EQ(parse_csv("5\" disk,x\"y\"\n"), (Rows{{"5\" disk", "x\"y\""}})); // no quoted field
  EXPECT_EQ(parse_csv("\"open\n1,2"), (Rows{{"open\n1,2"}}));
}

TEST(CsvRows, EmptyFieldsStay) {
  EXPECT_EQ(parse_csv("a,b,\n,,\n"), (Rows{{"a", "b", ""}, {"", "", ""}}));
  EXPECT_EQ(parse_csv("a,"), (Rows{{"a", ""}}));
  EXPECT_EQ(parse_csv(""), Rows());
}

TEST(CsvRows, BlankLinesAreCellsOfOneColumnOnly) {
  EXPECT_EQ(parse_csv("\na,b\n\n1,2\n\n"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(parse_csv("a\n1\n\n3\n"), (Rows{{"a"}, {"1"}, {""}, {"3"}}));
  EXPECT_EQ(table_from_csv("t", "a\n1\n\n3\n").rows(), 3U);
}

} // namespace
} // namespace rankscope
