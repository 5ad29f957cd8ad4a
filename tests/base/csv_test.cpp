// Tests reading of CSV records, complete and damaged.
#include "base/csv.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Returns all records; a damaged record begins with a field "TORN". The first record sets the
/// number of columns.
Rows records_of(std::string_view text) {
  Rows out;
  std::vector<CsvField> fields;
  while (!text.empty()) {
    std::size_t used = 0;
    const CsvRecord found =
        next_csv_record(text, true, out.empty() ? 0 : out.front().size(), fields, used);
    EXPECT_GT(used, 0U);
    text.remove_prefix(used);
    out.emplace_back();
    if (found == CsvRecord::kTorn)
      out.back().emplace_back("TORN");
    else
      for (const CsvField& field : fields)
        out.back().push_back(field.unquoted());
  }
  return out;
}

TEST(Csv, FieldsAndLineEnds) {
  EXPECT_EQ(records_of("a,b\r\n1,\"x,\"\"y\"\"\"\n,\n\"\",2"),
            (Rows{{"a", "b"}, {"1", "x,\"y\""}, {"", ""}, {"", "2"}}));
  EXPECT_EQ(records_of("a,b\n5\" disk,x\"y\"\n"), (Rows{{"a", "b"}, {"5\" disk", "x\"y\""}}));
}

TEST(Csv, AFieldMayHaveLineBreaksWhereTheRecordIsWhole) {
  EXPECT_EQ(records_of("a,b\n\"x\ny\",2\n3,4\n"), (Rows{{"a", "b"}, {"x\ny", "2"}, {"3", "4"}}));
}

TEST(Csv, AQuoteThatNobodyDoubledIsText) {
  EXPECT_EQ(records_of("a,b\n\"say \"hi\" now\",2\n3,4\n"),
            (Rows{{"a", "b"}, {"say \"hi\" now", "2"}, {"3", "4"}}));
}

// HA-E3: a quote that was not closed consumed all rows after it.
TEST(Csv, ATornRecordCostsItself) {
  const std::string head = "\"kind\",\"agent\",\"n\"\n";
  const std::string row = "\"K\",\"Agent 4\",7\n";
  const std::vector<std::string> record = {"K", "Agent 4", "7"};
  const Rows want = {{"kind", "agent", "n"}, record, {"TORN"}, record, record};
  for (const char* torn : {"\"K\",\"Age\n", "\"K\",\"Agent 4\n", "\"\n", "\"K\n", "\"K\",\"\n"})
    EXPECT_EQ(records_of(head + row + torn + row + row), want) << torn;
  EXPECT_EQ(records_of(head + row + "\"K\",\"Agen"),
            (Rows{{"kind", "agent", "n"}, record, {"TORN"}}));
}

TEST(Csv, MoreIsAskedForOnlyWhereTheRecordGoesOn) {
  std::vector<CsvField> fields;
  std::size_t used = 0;
  EXPECT_EQ(next_csv_record("a,b", false, 0, fields, used), CsvRecord::kNeedsMore);
  EXPECT_EQ(next_csv_record("a,\"b\nc", false, 0, fields, used), CsvRecord::kNeedsMore);
  EXPECT_EQ(next_csv_record("a,\"b\n" + std::string(200'000, 'c'), false, 0, fields, used),
            CsvRecord::kTorn);
  EXPECT_EQ(used, 5U);
  EXPECT_EQ(next_csv_record("a,b\n", false, 0, fields, used), CsvRecord::kComplete);
  EXPECT_EQ(used, 4U);
}

} // namespace
} // namespace rankscope
