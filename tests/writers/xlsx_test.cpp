// Workbooks as unzipped XML.
#include "temp_folder.h"
#include "writers/writer.h"

#include <gtest/gtest.h>
#include <zip.h>

namespace rankscope {
namespace {

/// One part of a workbook; empty when it has none of that name.
std::string part_of(const std::string& path, const char* name) {
  int problem = 0;
  zip_t* const book = zip_open(path.c_str(), ZIP_RDONLY, &problem);
  if (book == nullptr)
    return {};
  std::string out;
  if (zip_file_t* const part = zip_fopen(book, name, 0)) {
    char buffer[4096];
    for (zip_int64_t n = zip_fread(part, buffer, sizeof buffer); n > 0;
         n = zip_fread(part, buffer, sizeof buffer))
      out.append(buffer, static_cast<std::size_t>(n));
    zip_fclose(part);
  }
  zip_discard(book);
  return out;
}

std::string sheet_of(const Table& table, const char* writer = "xlsx") {
  const test::TempFolder folder;
  Report report;
  report.tables.push_back(table);
  const std::string path = folder.path("t.xlsx");
  EXPECT_TRUE(find_writer(writer)->write(report, path));
  return part_of(path, "xl/worksheets/sheet1.xml");
}

Column column(const char* name, const std::string& help) {
  return {name, name, Unit::kNone, CellKind::kInt, help, {}};
}

TEST(Xlsx, SelectedHeadersSayWhatTheirColumnMeans) {
  Table table("t", {column("a", "less < more & \"so\""), column("b", "the same"),
                    column("c", "the same"), column("d", ""), column("e", std::string(256, 'x'))});
  table.add_row({Value(1), Value(2), Value(3), Value(4), Value(5)});
  for (const bool styled : {false, true}) {
    table.styled = styled;
    const std::string xml = sheet_of(table);
    const auto has = [&](const char* text) { return xml.find(text) != std::string::npos; };
    EXPECT_TRUE(has("prompt=\"less &lt; more &amp; &quot;so&quot;\"")) << xml;
    EXPECT_TRUE(has("sqref=\"A1\""));
    EXPECT_TRUE(has("sqref=\"B1:C1\"")); // neighbours share theirs
    EXPECT_TRUE(has("<dataValidations count=\"2\">"));
    EXPECT_FALSE(has("xxxx")) << "longer than a message can be";
    EXPECT_EQ(sheet_of(table, "xlsx_plain").find("dataValidation"), std::string::npos);
  }
}

TEST(Xlsx, ColumnsWithoutAMeaningHaveNoMessage) {
  Table table("t", {{"plain"}});
  table.add_row({Value(1)});
  EXPECT_EQ(sheet_of(table).find("dataValidation"), std::string::npos);
}

} // namespace
} // namespace rankscope
