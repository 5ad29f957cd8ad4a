// Tests rows and fields of the CSV parser, which all readers use.
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
    EXPECT_EQ(parse_csv(text).value().rows, want) << text;
}

TEST(CsvRows, QuotedFieldsHoldAnything) {
  EXPECT_EQ(parse_csv("\"a,\"\"b\"\"\r\nc\",2\n").value().rows, (Rows{{"a,\"b\"\r\nc", "2"}}));
  EXPECT_EQ(parse_csv("5\" disk,x\"y\"\n").value().rows,
            (Rows{{"5\" disk", "x\"y\""}})); // not a quoted field
  // an unclosed quote
  EXPECT_EQ(parse_csv("\"open\n1,2").value().rows, (Rows{{"\"open"}, {"1", "2"}}));
}

TEST(CsvRows, EmptyFieldsStay) {
  EXPECT_EQ(parse_csv("a,b,\n,,\n").value().rows, (Rows{{"a", "b", ""}, {"", "", ""}}));
  EXPECT_EQ(parse_csv("a,").value().rows, (Rows{{"a", ""}}));
  EXPECT_EQ(parse_csv("").value().rows, Rows());
}

TEST(CsvRows, BlankLinesAreCellsOfOneColumnOnly) {
  EXPECT_EQ(parse_csv("\na,b\n\n1,2\n\n").value().rows, (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(parse_csv("a\n1\n\n3\n").value().rows, (Rows{{"a"}, {"1"}, {""}, {"3"}}));
  EXPECT_EQ(table_from_csv("t", "a\n1\n\n3\n").value().rows(), 3U);
}

// Regression test: a damaged row was read as a row with other columns, without a warning.
TEST(CsvRows, TornRowsAreLeftOutAndCounted) {
  const std::string header = "name,count\n";
  for (const auto& [text, torn] : {std::pair{"\"a\"\"b\",1\nc,2\n", 0U},
                                   {"a,1\n\"b,2\nc,3\n", 1U},
                                   {"a,1\nb", 1U},
                                   {"a,1\nb,2", 0U},
                                   {"a,1\nb\n", 0U}}) {
    const CsvRows rows = parse_csv(header + text).value();
    EXPECT_EQ(rows.torn, torn) << text;
    EXPECT_EQ(rows.rows.size(), 3U - (std::string_view(text).ends_with("b") ? 1U : 0U)) << text;
  }
}

} // namespace
} // namespace rankscope
