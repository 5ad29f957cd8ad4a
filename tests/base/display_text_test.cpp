// Tests texts for a terminal: which characters are printed, display width, and how names are
// shortened.
#include "base/display_text.h"

#include <clocale>
#include <cwchar>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace rankscope {
namespace {

TEST(DisplayText, LetsNothingThroughThatMovesTheCursor) {
  EXPECT_EQ(shown_text("a\x1b[31mred\x1b[0m\r\n\tb\x7f", true), "a?[31mred?[0m???b?");
  EXPECT_EQ(shown_text("\xc2\x9b"
                       "2J",
                       true),
            "?2J");                                         // C1: the 8-bit CSI
  EXPECT_EQ(shown_text("\u202egnp.exe", true), "?gnp.exe"); // right-to-left override
  EXPECT_EQ(shown_text("a\u200b\u2028\ufeff"
                       "b",
                       true),
            "a???b"); // zero width; separators
  EXPECT_EQ(shown_text("ok \u00e4 \u4e2d", true), "ok \u00e4 \u4e2d");
  EXPECT_EQ(shown_text("ok \u00e4 \u4e2d", false), "ok ? ?");
  EXPECT_EQ(shown_text("5 \u00b5s", false), "5 us");
}

TEST(DisplayText, BrokenUtf8IsShownByteByByte) {
  EXPECT_EQ(shown_text("a\xff\xfe"
                       "b",
                       true),
            "a??b");
  EXPECT_EQ(shown_text("\xe4\xb8", true), "??");    // incomplete
  EXPECT_EQ(shown_text("\xc0\xaf", true), "??");    // overlong '/'
  EXPECT_EQ(shown_text("\xed\xa0\x80", true), "?"); // a surrogate
  EXPECT_EQ(shown_text("\xf8\x88\x80\x80\x80", true), "?????");
}

TEST(DisplayText, ShortensTheMiddle) {
  EXPECT_EQ(shortened_middle("Cijk_Ailk_Bljk_MT256x256", 12, false), "Cijk_..6x256");
  EXPECT_EQ(shortened_middle("Cijk_Ailk_Bljk_MT256x256", 12, true), "Cijk_\u202656x256");
  EXPECT_EQ(shortened_middle("short", 12, true), "short");
  EXPECT_EQ(shortened_middle("abcdef", 3, true), "abc");
  // wide characters: the result never has more columns than the limit
  EXPECT_EQ(shortened_middle("\u4e2d\u4e2d\u4e2d\u4e2d", 7, true), "\u4e2d\u2026\u4e2d");
}

using Texts = std::vector<std::string>;

TEST(DisplayText, TextsThatDifferAreCutAtAPlaceWhereTheyStayDifferent) {
  EXPECT_EQ(shortened_apart(Texts{"GPU_exposed_comm_time", "GPU_exposed_memcpy_time"}, 12, false),
            (Texts{"GPU_..m_time", "GPU_..y_time"}));
  EXPECT_EQ(shortened_apart(Texts{"kernel_name_1", "kernel_name_1"}, 9, false),
            (Texts{"ker..me_1", "ker..me_1"}));
  // the difference is at the start, or in the middle of long texts
  const std::string same(100, 's');
  EXPECT_EQ(shortened_apart(Texts{"ab" + same, "ac" + same}, 7, false),
            (Texts{"ab..sss", "ac..sss"}));
  EXPECT_EQ(shortened_apart(Texts{same + "1" + same, same + "2" + same}, 12, true),
            (Texts{"ss\u2026s1ssssss\u2026", "ss\u2026s2ssssss\u2026"}));
  // the shortened form of one text is another text
  EXPECT_EQ(distinct_count(shortened_apart(Texts{"ab..yz", "abcdwxyz", "abefuvyz"}, 6, false)), 3U);
}

TEST(DisplayText, ShortenedTextsKeepWidthAndNumberWhateverTheTexts) {
  std::mt19937 random(7);
  static const char* const kPieces[] = {"a", "b", "_", "\u4e2d", "\xff", "\u00e4", ".."};
  std::size_t apart = 0, all = 0;
  for (int round = 0; round < 500; ++round) {
    Texts texts(1 + random() % 12);
    for (std::string& text : texts)
      for (std::size_t i = random() % 24; i > 0; --i)
        text += kPieces[random() % std::size(kPieces)];
    const std::size_t width = random() % 20;
    const Texts made = shortened_apart(texts, width, round % 2 == 0);
    ASSERT_EQ(made.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_LE(display_width(made[i]), width);
      if (display_width(texts[i]) <= width && distinct_count(made) == distinct_count(texts)) {
        EXPECT_EQ(made[i], texts[i]);
      }
    }
    if (width >= 8) {
      all += distinct_count(texts);
      apart += distinct_count(made);
    }
  }
  EXPECT_EQ(apart, all);
}

TEST(DisplayText, PadsByColumns) {
  EXPECT_EQ(padded_right("\u4e2d", 4), "\u4e2d  ");
  EXPECT_EQ(padded_left("ab", 4), "  ab");
  EXPECT_EQ(padded_left("abcde", 4), "abcde");
}

/// Compares with the width table of the C library, which never gives more columns than
/// display_width().
TEST(DisplayText, IsNeverWiderThanItSays) {
  const std::string before = std::setlocale(LC_CTYPE, nullptr);
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr)
    GTEST_SKIP() << "no locale with UTF-8";
  std::size_t checked = 0;
  for (wchar_t c = 1; c < 0x30000; ++c) {
    char bytes[16] = {};
    std::mbstate_t state{};
    const std::size_t n = std::wcrtomb(bytes, c, &state);
    if (n == static_cast<std::size_t>(-1))
      continue; // surrogates
    const std::string shown = shown_text(std::string_view(bytes, n), true);
    if (shown == "?")
      continue;
    const int width = ::wcwidth(c);
    EXPECT_LE(width, static_cast<int>(display_width(shown))) << "U+" << std::hex << int(c);
    ++checked;
  }
  EXPECT_GT(checked, 100000U);
  std::setlocale(LC_CTYPE, before.c_str());
}

TEST(DisplayText, RandomBytesKeepTheirWidth) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes(random() % 60, '\0');
    for (char& c : bytes)
      c = static_cast<char>(random());
    const bool unicode = random() % 2 == 0;
    const std::string shown = shown_text(bytes, unicode);
    EXPECT_EQ(shown_text(shown, unicode), shown); // shown_text() does not change its own output
    for (const char c : shown)
      EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    const std::size_t width = random() % 40;
    const std::string cut = shortened_middle(shown, width, unicode);
    EXPECT_LE(display_width(cut), width);
    EXPECT_EQ(shown_text(cut, true), cut); // no character is split
    EXPECT_LE(display_width(first_columns(shown, width)), width);
  }
}

TEST(DisplayText, ShapesAsPeopleWriteThem) {
  EXPECT_EQ(short_shapes("((4096, 4096), (4096, 14336), ())"), "4096x4096 4096x14336");
  EXPECT_EQ(short_shapes("((12288,), ())"), "12288");
  EXPECT_EQ(short_shapes("([(2, 3), (4,)], (-1, 0))"), "2x3 4 -1x0");
  EXPECT_EQ(short_shapes(""), "");
}

} // namespace
} // namespace rankscope
