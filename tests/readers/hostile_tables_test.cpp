// Tests workbooks and databases that need much more time or memory than their size suggests, and
// rows with impossible values.
#include "cost.h"
#include "readers/nsys/nsys_csv.h"
#include "readers/nsys/nsys_sqlite.h"
#include "readers/reports/report_tables.h"
#include "sanitized.h"
#include "temp_folder.h"

#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <zip.h>

namespace rankscope {
namespace {

void write_workbook(const std::string& path, const std::string& sheet) {
  const std::pair<const char*, std::string> parts[] = {
      {"xl/workbook.xml", R"(<workbook><sheets><sheet name="s" r:id="a"/></sheets></workbook>)"},
      {"xl/_rels/workbook.xml.rels",
       R"(<Relationships><Relationship Id="a" Target="worksheets/s.xml"/></Relationships>)"},
      {"xl/worksheets/s.xml", sheet},
  };
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  ASSERT_NE(archive, nullptr);
  for (const auto& [name, text] : parts)
    ASSERT_GE(zip_file_add(archive, name, zip_source_buffer(archive, text.data(), text.size(), 0),
                           ZIP_FL_OVERWRITE),
              0);
  ASSERT_EQ(zip_close(archive), 0);
}

std::string rows(std::size_t count, const std::string& cell) {
  std::string out = "<worksheet><sheetData>";
  for (std::size_t i = 0; i < count; ++i)
    out += "<row>" + cell + "</row>";
  return out + "</sheetData></worksheet>";
}

TEST(HostileWorkbook, RowsOfOneCellInTheLastColumnAreBounded) {
  const test::TempFolder folder;
  const std::string path = folder.path("wide.xlsx");
  const std::string cell = R"(<c r="XFD1"><v>1</v></c>)";
  constexpr std::size_t kFew = test::kSanitized ? 10 : 100;
  write_workbook(path, rows(kFew, cell));
  const auto small = read_report_tables(path);
  ASSERT_TRUE(small) << small.error().message();
  EXPECT_EQ(small->tables.at(0).rows(), kFew - 1);
  EXPECT_EQ(small->tables.at(0).cols(), 16384U);
  write_workbook(path, rows(1000, cell)); // 16 million cells in 4 kB
  EXPECT_LT(std::filesystem::file_size(path), 10000U);
  const auto large = read_report_tables(path);
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().message().find("more cells than a report can contain"),
            std::string::npos);
  EXPECT_NE(large.error().message().find(path), std::string::npos);
}

TEST(HostileWorkbook, APartThatUnpacksToGigabytesIsRefusedBeforeItIsUnpacked) {
  const test::TempFolder folder;
  const std::string path = folder.path("bomb.xlsx");
  write_workbook(path, rows(2, "<c><v>1</v></c>"));
  std::string bytes = test::bytes_of(path);
  // the sheet's entry in the central directory: its uncompressed size is at offset 24, its name at
  // 46
  const std::size_t entry = bytes.rfind("xl/worksheets/s.xml") - 46;
  ASSERT_EQ(bytes.substr(entry, 4), "PK\x01\x02");
  bytes.replace(entry + 24, 4, std::string("\0\0\0\x40", 4)); // 1 GiB
  const auto report = read_report_tables(folder.write("bomb.xlsx", bytes));
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message().find("unpacks to more than a report can contain"),
            std::string::npos)
      << report.error().message();
}

TEST(HostileWorkbook, ManyTagsAreBounded) {
  const test::TempFolder folder;
  const std::string path = folder.path("tags.xlsx");
  write_workbook(path, "<worksheet>" + std::string(41'000'000, '<'));
  const auto report = read_report_tables(path);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message().find("unpacks to more"), std::string::npos);
}

/// Like write_workbook(), with shared texts.
void write_shared(const std::string& path, const std::string& shared, std::size_t cells) {
  write_workbook(path, rows(cells + 1, R"(<c t="s"><v>0</v></c>)"));
  const std::string texts = "<sst><si><t>" + shared + "</t></si></sst>";
  zip_t* const archive = zip_open(path.c_str(), 0, nullptr);
  ASSERT_NE(archive, nullptr);
  ASSERT_GE(zip_file_add(archive, "xl/sharedStrings.xml",
                         zip_source_buffer(archive, texts.data(), texts.size(), 0),
                         ZIP_FL_OVERWRITE),
            0);
  ASSERT_EQ(zip_close(archive), 0);
}

// HA-E7: a text of 5 MB that 10,000 cells share was copied for each cell, which took a minute.
TEST(HostileWorkbook, ALongTextThatManyCellsShareIsBounded) {
  const test::TempFolder folder;
  const std::string path = folder.path("shared.xlsx");
  write_shared(path, std::string(5'000'000, 'x'), 10'000);
  EXPECT_LT(std::filesystem::file_size(path), 100'000U);
  const auto report = read_report_tables(path);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kUnreadable);
  EXPECT_NE(report.error().message().find("more text than a report can contain"), std::string::npos)
      << report.error().message();
  write_shared(path, "short", 10'000);
  EXPECT_TRUE(read_report_tables(path));
}

// HA-E7: for each escape, the rest of the text was moved.
TEST(ReaderCost, EscapesOfAWorkbookCostTheirSize) {
  const test::TempFolder folder;
  const std::string path = folder.path("escapes.xlsx");
  test::expect_near_linear(test::kSanitized ? 5'000 : 40'000, [&](std::size_t n) {
    std::string escapes;
    for (std::size_t i = 0; i < n; ++i)
      escapes += "_x0041_";
    write_shared(path, escapes + "_x005F_x0041_", 2);
    const auto report = read_report_tables(path);
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->tables.at(0).at(0, 0).text.size(), n + 7);
  });
}

// HA-E5: a header with many columns and many short rows: in the table, each row has all columns.
TEST(HostileCsv, ShortRowsUnderManyColumnsAreBounded) {
  const test::TempFolder folder;
  std::string text = "c";
  for (int i = 0; i < 8000; ++i)
    text += ",c";
  text += '\n';
  for (int i = 0; i < 25'000; ++i)
    text += "a\n";
  folder.write("ops_summary.csv", text);
  const auto report = read_report_tables(folder.path());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kUnreadable);
  EXPECT_NE(report.error().message().find("more cells than a report can contain"),
            std::string::npos)
      << report.error().message();
  EXPECT_NE(report.error().message().find("ops_summary.csv"), std::string::npos);
  EXPECT_FALSE(table_from_csv("t", std::string(7'000'000, ',')));
}

constexpr const char* kKernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, correlationId, demangledName);";

std::string database(const test::TempFolder& folder, const std::string& sql) {
  const std::string path = folder.path("export.sqlite");
  std::filesystem::remove(path);
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, ("PRAGMA page_size=512;" + sql).c_str(), nullptr, nullptr, nullptr),
            SQLITE_OK)
      << sqlite3_errmsg(db);
  sqlite3_close(db);
  return path;
}

TEST(HostileExport, AViewIsNoTable) {
  const test::TempFolder folder;
  const auto data = read_nsys_sqlite(
      database(folder,
               "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE c(x) AS (SELECT 1 UNION "
               "ALL SELECT x + 1 FROM c) SELECT x AS start, x + 1 AS end, 0 AS deviceId, "
               "1 AS correlationId, 1 AS demangledName FROM c"),
      false, false);
  ASSERT_FALSE(data);
  EXPECT_NE(data.error().message().find("no table CUPTI_ACTIVITY_KIND_KERNEL"), std::string::npos);
}

/// Makes the only page of the table the leaf below `levels` inner pages, each of which references
/// the next page 40 times: 40^levels rows in (levels + 2) pages.
std::string multiply_rows(std::string file, std::size_t levels) {
  constexpr std::size_t kPage = 512;
  const auto number = [](std::uint32_t n) {
    std::string out;
    for (unsigned shift = 32; shift > 0; shift -= 8)
      out += static_cast<char>((n >> (shift - 8)) & 0xffU);
    return out;
  };
  const auto inner = [&](std::size_t next) {
    std::string page(kPage, '\0');
    constexpr std::size_t kCells = 40;
    std::string head = std::string("\x05\0\0\0", 4) + static_cast<char>(kCells) + // inner page
                       std::string("\x01\0\0", 3) + number(static_cast<std::uint32_t>(next));
    for (std::size_t i = 0; i < kCells; ++i) { // a child page and a key of one byte
      const std::size_t at = kPage - 5 * (i + 1);
      head += number(static_cast<std::uint32_t>(at)).substr(2);
      page.replace(at, 5, number(static_cast<std::uint32_t>(next)) + static_cast<char>(i + 1));
    }
    page.replace(0, head.size(), head);
    return page;
  };
  const std::string leaf = file.substr(kPage, kPage); // page 2
  EXPECT_EQ(file.size(), 2 * kPage);
  file.replace(kPage, kPage, inner(3));
  for (std::size_t i = 1; i < levels; ++i)
    file += inner(3 + i);
  file += leaf;
  file.replace(28, 4, number(static_cast<std::uint32_t>(file.size() / kPage)));
  return file;
}

TEST(HostileExport, PagesThatNameEachOtherManyTimesEnd) {
  const test::TempFolder folder;
  const std::string path =
      database(folder, std::string(kKernels) +
                           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1, 2, 0, 1, 1)");
  const std::string plain = test::bytes_of(path);
  folder.write("export.sqlite", multiply_rows(plain, 2));
  const auto few = read_nsys_sqlite(path, false, false);
  ASSERT_TRUE(few) << few.error().message();
  EXPECT_EQ(few->kernels.at(0).count,
            41 * 41); // the pages are read correctly: 40 cells and the right-most child
  folder.write("export.sqlite", multiply_rows(plain, 9));
  const auto many = read_nsys_sqlite(path, false, false);
  ASSERT_FALSE(many);
  EXPECT_NE(
      many.error().message().find("a query takes far more steps than a file of this size needs"),
      std::string::npos)
      << many.error().message();
}

TEST(HostileExport, RowsWhoseTimesCannotBeAreLeftOutAndCounted) {
  const test::TempFolder folder;
  const auto data = read_nsys_sqlite(
      database(folder, std::string(kKernels) +
                           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 30, 0, 1, 1),"
                           "(30, 10, 0, 2, 1), ('x', 9, 0, 3, 1), (1, x'00', 0, 4, 1),"
                           "(NULL, 5, 0, 5, 1), (1.5, 7, 0, 6, 1),"
                           "(-9223372036854775807, 9223372036854775807, 0, 7, 1);"
                           "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, end, correlationId);"
                           "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(9, 1, 8), (1, 9, 9)"),
      false, true);
  ASSERT_TRUE(data) << data.error().message();
  ASSERT_EQ(data->kernels.size(), 1U);
  EXPECT_EQ(data->kernels[0].count, 1);
  EXPECT_EQ(data->kernels[0].total_ns, 20);
  EXPECT_EQ(data->memory.at(0).total_ns, 8);
  EXPECT_EQ(data->rows_without_times, 7);
}

TEST(HostileTables, SumsOfNsysStatsAreNumbersFromZero) {
  const test::TempFolder folder;
  for (const char* cells : {"-1,5", "5,-1", "nan,5", "inf,5", "5,nan", "1e19,5", "5,1e13", "x,5"}) {
    const auto data = read_nsys_csv(
        folder.write("k.csv", std::string("Total Time (ns),Instances,Name\n") + cells + ",a\n"), "",
        "");
    ASSERT_FALSE(data) << cells;
    EXPECT_NE(data.error().message().find("k.csv: row 2"), std::string::npos);
  }
}

} // namespace
} // namespace rankscope
