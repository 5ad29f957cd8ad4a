// Tests Markdown escaping: no text of a label becomes a link, an image, markup or a mention.
#include "temp_folder.h"
#include "writers/markdown.h"
#include "writers/writer.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Returns the original text of a text from markdown_escaped() without control characters.
std::string markdown_unescaped(std::string_view text) {
  constexpr std::string_view kApart = "\xE2\x80\x8B";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '@' && text.substr(i + 1, kApart.size()) == kApart) {
      out += '@';
      i += kApart.size();
      continue;
    }
    if (text[i] == '\\' && i + 1 < text.size())
      ++i;
    out += text[i];
  }
  return out;
}

TEST(Markdown, LabelsAreNoLinksImagesOrMentions) {
  EXPECT_EQ(markdown_escaped("[c](javascript:alert(1))"), "\\[c\\](javascript:alert(1))");
  EXPECT_EQ(markdown_escaped("![i](http://x/y.png)"), "\\!\\[i\\](http://x/y.png)");
  EXPECT_EQ(markdown_escaped("@team"), "@\xE2\x80\x8Bteam");
  EXPECT_EQ(markdown_escaped("~~a~~ $x$"), "\\~\\~a\\~\\~ \\$x\\$");
  EXPECT_EQ(markdown_escaped("a|b\n<c>"), "a\\|b \\<c\\>");
  EXPECT_EQ(markdown_escaped("GPU_total_time"), "GPU_total_time");
  for (const char* text : {"[c](d)", "![i](u)", "@team @", "a\\b|c", "~~$x$~~"})
    EXPECT_EQ(markdown_unescaped(markdown_escaped(text)), text);
}

TEST(Markdown, AReportHasTheFirstRowsOfALongTable) { // HA-D15
  const test::TempFolder folder;
  Report report;
  Table& table = report.tables.emplace_back("t", std::vector<Column>{{"n"}});
  for (int i = 0; i < 250; ++i)
    table.add_row({Value(i)});
  ASSERT_TRUE(find_writer("markdown")->write(report, folder.path("t.md")));
  const std::string text = test::bytes_of(folder.path("t.md"));
  EXPECT_NE(text.find("| 99 |"), std::string::npos) << text;
  EXPECT_EQ(text.find("| 100 |"), std::string::npos) << text;
  EXPECT_NE(text.find("\n150 more rows"), std::string::npos) << text;
}

} // namespace
} // namespace rankscope
