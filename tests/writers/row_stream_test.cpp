// Tests tables whose rows are created while they are written: the files equal those of tables in
// memory.
#include "temp_folder.h"
#include "writers/stream_writer.h"

#include <gtest/gtest.h>
#include <zip.h>

namespace rankscope {
namespace {

std::string sheet_of(const std::string& workbook, int number) {
  int problem = 0;
  zip_t* const book = zip_open(workbook.c_str(), ZIP_RDONLY, &problem);
  if (book == nullptr)
    return "no workbook";
  std::string out;
  const std::string name = "xl/worksheets/sheet" + std::to_string(number) + ".xml";
  if (zip_file_t* const part = zip_fopen(book, name.c_str(), 0)) {
    char buffer[4096];
    for (zip_int64_t n = zip_fread(part, buffer, sizeof buffer); n > 0;
         n = zip_fread(part, buffer, sizeof buffer))
      out.append(buffer, static_cast<std::size_t>(n));
    zip_fclose(part);
  }
  zip_discard(book);
  return out;
}

Table some_rows(std::size_t from, std::size_t to) {
  Table t("long", {{"number"}, {"text"}, {"half", Unit::kUs}});
  for (std::size_t i = from; i < to; ++i) {
    const std::string text = i % 7 == 0 ? "a \"quoted\", <odd>\ntext" : "t" + std::to_string(i % 5);
    t.add_row({Value(static_cast<std::int64_t>(i)), i % 3 == 0 ? Value() : Value(text),
               Value(static_cast<double>(i) / 2)});
  }
  return t;
}

class Pieces final : public RowStream {
public:
  Pieces(std::size_t rows, std::size_t each) : rows_(rows), each_(each) {}
  [[nodiscard]] std::size_t rows() const override { return rows_; }
  [[nodiscard]] Result<void> each(const Use& use) const override {
    for (std::size_t from = 0; from < rows_; from += each_)
      RS_CHECK(use(some_rows(from, std::min(rows_, from + each_))));
    RS_CHECK(use(some_rows(0, 0))); // a piece without rows adds nothing
    if (fails)
      return Error{ErrorCode::kUnreadable, "rows", "are gone", ""};
    return {};
  }
  bool fails = false;

private:
  std::size_t rows_, each_;
};

Report report_of(Table table) {
  Report out;
  out.title = "t";
  table.notes = {"a note"};
  Table other("other", {{"x"}});
  other.add_row({Value(1)});
  out.tables = {other, std::move(table), other};
  out.tables.back().set_name("behind");
  return out;
}

TEST(RowStream, FilesAreThoseOfHeldRows) {
  const test::TempFolder folder;
  const std::size_t rows = 2500;
  const Report stored = report_of(some_rows(0, rows));
  const Report empty = report_of(some_rows(0, 0));
  for (const std::size_t each : {std::size_t{1000}, std::size_t{60}, rows}) {
    const RowStreams streams = {{"long", std::make_shared<Pieces>(rows, each)}};
    for (const auto* writer : {&json_writer, &markdown_writer}) {
      const std::string want = folder.path("want");
      const std::string got = folder.path("got");
      ASSERT_TRUE(writer->write(stored, want));
      ASSERT_TRUE(write_streams(*writer, empty, streams, got));
      EXPECT_EQ(test::bytes_of(got), test::bytes_of(want)) << writer->name << " " << each;
    }
    ASSERT_TRUE(write_streams(csv_writer, empty, streams, folder.path("csv")));
    EXPECT_EQ(test::bytes_of(folder.path("csv/long.csv")), csv_text(stored.tables[1]));
    EXPECT_EQ(test::bytes_of(folder.path("csv/behind.csv")), "x\n1\n");
    ASSERT_TRUE(xlsx_writer.write(stored, folder.path("want.xlsx")));
    ASSERT_TRUE(write_streams(xlsx_writer, empty, streams, folder.path("got.xlsx")));
    for (int sheet = 1; sheet <= 4; ++sheet)
      EXPECT_EQ(sheet_of(folder.path("got.xlsx"), sheet),
                sheet_of(folder.path("want.xlsx"), sheet));
    EXPECT_EQ(sheet_of(folder.path("got.xlsx"), 4), ""); // there are only three sheets
    EXPECT_GT(sheet_of(folder.path("got.xlsx"), 2).size(), 50'000U);
  }
}

TEST(RowStream, RowsThatCannotBeReadLeaveNoFile) {
  const test::TempFolder folder;
  const auto pieces = std::make_shared<Pieces>(10, 5);
  pieces->fails = true;
  for (const auto* writer : {&json_writer, &markdown_writer, &xlsx_writer}) {
    const std::string path = folder.path(std::string("x") + writer->ending);
    const auto done = write_streams(*writer, report_of(some_rows(0, 0)), {{"long", pieces}}, path);
    ASSERT_FALSE(done) << writer->name;
    EXPECT_EQ(done.error().what, "are gone");
    EXPECT_EQ(test::bytes_of(path), "") << writer->name;
  }
}

} // namespace
} // namespace rankscope
