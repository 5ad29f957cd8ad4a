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
    EXPECT_EQ(parse_csv(text).value(), want) << text;
}

TEST(CsvRows, QuotedFieldsHoldAnything) {
  EXPECT_EQ(parse_csv("\"a,\"\"b\"\"\r\nc\",2\n").value(), (Rows{{"a,\"b\"\r\nc", "2"}}));
  EXPECT_EQ(parse_csv("5\" disk,x\"y\"\n").value(),
            (Rows{{"5\" disk", "x\"y\""}}));                                   // no quoted field
  EXPECT_EQ(parse_csv("\"open\n1,2").value(), (Rows{{"\"open"}, {"1", "2"}})); // torn
}

TEST(CsvRows, EmptyFieldsStay) {
  EXPECT_EQ(parse_csv("a,b,\n,,\n").value(), (Rows{{"a", "b", ""}, {"", "", ""}}));
  EXPECT_EQ(parse_csv("a,").value(), (Rows{{"a", ""}}));
  EXPECT_EQ(parse_csv("").value(), Rows());
}

TEST(CsvRows, BlankLinesAreCellsOfOneColumnOnly) {
  EXPECT_EQ(parse_csv("\na,b\n\n1,2\n\n").value(), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(parse_csv("a\n1\n\n3\n").value(), (Rows{{"a"}, {"1"}, {""}, {"3"}}));
  EXPECT_EQ(table_from_csv("t", "a\n1\n\n3\n").value().rows(), 3U);
}

} // namespace
} // namespace rankscope
