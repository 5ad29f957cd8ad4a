// Markdown's escapes: nothing in a label becomes a link, an image, markup or a mention.
#include "writers/markdown.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

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

} // namespace
} // namespace rankscope
