// Tests workbooks by reading their XML.
#include "base/utf8.h"
#include "temp_folder.h"
#include "writers/writer.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <zip.h>

namespace rankscope {
namespace {

/// Returns one part of a workbook; empty if there is no part of that name.
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
    EXPECT_TRUE(has("sqref=\"B1:C1\"")); // neighbouring cells share one validation
    EXPECT_TRUE(has("<dataValidations count=\"2\">"));
    EXPECT_FALSE(has("xxxx")) << "longer than a message can be";
    EXPECT_EQ(sheet_of(table, "xlsx_plain").find("dataValidation"), std::string::npos);
  }
}

TEST(Xlsx, SelectedHeadersSayTheUnitThatTheyDoNotName) {
  Table table("t",
              {Column("a", "skew_mean", Unit::kUs, CellKind::kDouble, "of the starts", {}),
               Column("b", "skew_mean (\u00b5s)", Unit::kUs, CellKind::kDouble, "of the ends", {}),
               {"dur_max", Unit::kMs}});
  table.add_row({Value(1.0), Value(2.0), Value(3.0)});
  const std::string xml = sheet_of(table);
  for (const char* prompt : {"of the starts; in us", "of the ends", "in ms"})
    EXPECT_NE(xml.find("prompt=\"" + std::string(prompt) + "\""), std::string::npos) << prompt;
}

TEST(Xlsx, ColumnsWithoutAMeaningHaveNoMessage) {
  Table table("t", {{"plain"}});
  table.add_row({Value(1)});
  EXPECT_EQ(sheet_of(table).find("dataValidation"), std::string::npos);
}

/// A column that contains only names of sheets of the workbook links to these sheets, with the
/// names that the sheets have in the file.
TEST(Xlsx, ColumnsOfSheetNamesLinkToTheSheets) {
  const std::string unusual = "a[sheet]'s name, longer than Excel takes it";
  Table first("first", {{"what"}, {"sheet"}, {"mixed"}});
  first.add_row({Value("one"), Value("second"), Value("second")});
  first.add_row({Value("two"), Value(), Value("no sheet")});
  first.add_row({Value("three"), Value(unusual), Value()});
  Report report;
  report.tables = {first, Table("second", {{"x"}}), Table(unusual, {{"x"}})};
  const test::TempFolder folder;
  const std::string path = folder.path("t.xlsx");
  ASSERT_TRUE(find_writer("xlsx")->write(report, path));
  const std::string xml = part_of(path, "xl/worksheets/sheet1.xml");
  const auto has = [&](const std::string& text) { return xml.find(text) != std::string::npos; };
  EXPECT_TRUE(has("<hyperlink ref=\"B2\" location=\"'second'!A1\"")) << xml;
  EXPECT_TRUE(has("<hyperlink ref=\"B4\" location=\"'a_sheet__s name, longer than Ex'!A1\""))
      << xml;
  EXPECT_FALSE(has("ref=\"C2\"") && has("hyperlink ref=\"C"));
  const std::string book = part_of(path, "xl/workbook.xml");
  EXPECT_NE(book.find("name=\"a_sheet__s name, longer than Ex\""), std::string::npos) << book;
}

TEST(Xlsx, OnlySignificantChangesHaveAColour) {
  Column change("change");
  change.delta = true;
  Column status("status");
  status.status = true;
  Table table("t", {{"name"}, change});
  table.add_row({Value("a"), Value(-4.64)});
  EXPECT_NE(sheet_of(table).find("<colorScale>"), std::string::npos);
  Table judged("t", {{"name"}, change, status});
  judged.add_row({Value("a"), Value(-4.64), Value("Similar")});
  const std::string xml = sheet_of(judged);
  EXPECT_EQ(xml.find("<colorScale>"), std::string::npos) << xml;
  EXPECT_NE(xml.find("<conditionalFormatting sqref=\"B2\">"), std::string::npos) << xml;
  EXPECT_NE(xml.find("<formula>LEFT($C2,5)=\"Worse\"</formula>"), std::string::npos) << xml;
}

TEST(Xlsx, SentencesOfFindingsAreBrokenIntoLines) {
  const auto style_of = [](const char* name) {
    Table table(name, {{"evidence"}});
    table.add_row(
        {Value("95 % CI 0.80 to 1.09 ms per step; all kernel families are slower by it")});
    const std::string xml = sheet_of(table);
    const std::size_t cell = xml.find("<c r=\"A2\"");
    return xml.substr(cell, xml.find('>', cell) - cell);
  };
  EXPECT_NE(style_of("findings").find(" s=\""), std::string::npos) << style_of("findings");
  EXPECT_EQ(style_of("kernels").find(" s=\""), std::string::npos) << style_of("kernels");
}

/// If a table has more than 30 rows, its chart is next to the table, because below the table it
/// would not be visible.
TEST(Xlsx, ChartsOfLongTablesStandBesideThem) {
  for (const int rows : {5, 100}) {
    Table table("t", {{"name"}, {"value"}});
    for (int i = 0; i < rows; ++i)
      table.add_row({Value("row"), Value(i)});
    table.charts.push_back({Chart::Kind::kBars, "title", "ms", 0, {1}, 0, 5});
    Report report;
    report.tables.push_back(table);
    const test::TempFolder folder;
    const std::string path = folder.path("t.xlsx");
    ASSERT_TRUE(find_writer("xlsx")->write(report, path));
    const std::string drawing = part_of(path, "xl/drawings/drawing1.xml");
    const std::string from =
        rows == 5 ? "<xdr:from><xdr:col>0</xdr:col>" : "<xdr:from><xdr:col>3</xdr:col>";
    EXPECT_NE(drawing.find(from), std::string::npos) << drawing;
    const std::string row = rows == 5 ? "<xdr:row>8</xdr:row>" : "<xdr:row>1</xdr:row>";
    EXPECT_NE(drawing.find(row), std::string::npos) << drawing;
  }
}

/// Points with both axes logarithmic; lines in the chart have no markers.
TEST(Xlsx, PointsAndLinesOnLogarithmicAxes) {
  Table table("t", {{"what"}, {"x"}, {"y"}});
  for (int i = 1; i <= 5; ++i)
    table.add_row({Value("row"), Value(i), Value(10 * i)});
  Chart chart;
  chart.kind = Chart::Kind::kPoints;
  chart.title = "Roofline";
  chart.label_title = "FLOPS/Byte";
  chart.value_title = "TFLOPS/s";
  chart.label_column = 1;
  chart.value_columns = {2};
  chart.last_row = 5;
  chart.parts = {{"=operators", 3, false}, {"none", 0, false}, {"peak", 2, true}};
  table.charts.push_back(chart);
  Report report;
  report.tables.push_back(table);
  const test::TempFolder folder;
  const std::string path = folder.path("t.xlsx");
  ASSERT_TRUE(find_writer("xlsx")->write(report, path));
  const std::string xml = part_of(path, "xl/charts/chart1.xml");
  const auto count = [&](const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = xml.find(text); at != std::string::npos; at = xml.find(text, at + 1))
      ++n;
    return n;
  };
  EXPECT_EQ(count("<c:scatterChart>"), 1U) << xml;
  EXPECT_EQ(count("<c:ser>"), 2U); // a part of the chart without rows is left out
  EXPECT_EQ(count("<c:logBase val=\"10\"/>"), 2U);
  EXPECT_EQ(count("<c:f>t!$B$2:$B$4</c:f>"), 1U);
  EXPECT_EQ(count("<c:f>t!$C$2:$C$4</c:f>"), 1U);
  EXPECT_EQ(count("<c:f>t!$B$5:$B$6</c:f>"), 1U);
  EXPECT_EQ(count("<c:f>t!$C$5:$C$6</c:f>"), 1U);
  EXPECT_EQ(count("<c:symbol val=\"none\"/>"), 1U);
  EXPECT_GE(count("=operators"), 1U); // a name that looks like a formula stays text
  for (const char* title : {"Roofline", "FLOPS/Byte", "TFLOPS/s"})
    EXPECT_EQ(count(title), 1U) << title;
}

TEST(Xlsx, AFigureStandsOverItsMembersAndEqualKeysOnce) {
  Table table("t", {{"name"}, {"cat"}, {"count_0"}, {"count_3"}, {"mean_0"}});
  table.pivot = Pivot{"rank", 2, {{"count", 0}, {"count", 3}, {"mean", 0}}};
  table.add_row({Value("a"), Value("driver"), Value(1), Value(2), Value(0.5)});
  table.add_row({Value("a"), Value("runtime"), Value(3), Value(), Value(1.5)});
  table.add_row({Value("b"), Value("runtime"), Value(4), Value(5), Value(2.5)});
  const std::string xml = sheet_of(table);
  const auto has = [&](const char* text) { return xml.find(text) != std::string::npos; };
  EXPECT_TRUE(has("<mergeCell ref=\"C1:D1\"/>")) << xml; // `count` over two members
  EXPECT_FALSE(has("ref=\"E1:"));                        // one member: no merged cell
  EXPECT_TRUE(has("<mergeCell ref=\"A4:A5\"/>"));
  EXPECT_TRUE(has("<mergeCells count=\"2\">")) << "the last key is never merged";
  EXPECT_TRUE(has("<dimension ref=\"A1:E6\"/>"));
  EXPECT_FALSE(has("autoFilter")) << "merged cells do not sort";
}

/// Returns whether the text is UTF-8 and contains only characters that XML 1.0 allows.
bool is_xml_text(const std::string& text) {
  for (const char* none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    if (text.find(none) != std::string::npos)
      return false;
  return is_utf8(text) && std::ranges::none_of(text, [](char c) {
           return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
         });
}

// Names of kernels are bytes of a trace. Excel does not open a workbook whose XML is not
// well-formed.
TEST(Xlsx, AnyTextIsWrittenAsXml) {
  Table table("t", {"name"});
  std::string accents = "x";
  for (int i = 0; i < 20000; ++i)
    accents += "\xc3\xa9"; // longer than a cell can be
  for (const std::string& text :
       {std::string("a\xef\xbf\xbez"), std::string("b\xef\xbf\xbfz"), std::string("c\x01z"),
        std::string("d\xfcz"), accents, accents.substr(1)})
    table.add_row({Value(std::string_view(text))});
  const test::TempFolder folder;
  Report report;
  report.tables.push_back(table);
  const std::string path = folder.path("t.xlsx");
  ASSERT_TRUE(find_writer("xlsx")->write(report, path));
  const std::string xml = part_of(path, "xl/sharedStrings.xml");
  EXPECT_TRUE(is_xml_text(xml));
  for (const char* text : {"a?z", "b?z", "c?z", "d\xef\xbf\xbdz"})
    EXPECT_NE(xml.find(text), std::string::npos) << text;
}

TEST(Xlsx, EqualTablesGiveEqualBytes) { // HA-D13
  const test::TempFolder folder;
  Report report;
  report.tables.emplace_back("t", std::vector<Column>{column("a", "a number")});
  const std::string path = folder.path("t.xlsx");
  ASSERT_TRUE(find_writer("xlsx")->write(report, path));
  const std::string about = part_of(path, "docProps/core.xml");
  EXPECT_NE(about.find(">1980-01-01T00:00:00Z</dcterms:created>"), std::string::npos) << about;
}

} // namespace
} // namespace rankscope
