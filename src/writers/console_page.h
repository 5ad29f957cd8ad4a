// A page of text for a terminal: headings, sentences, tables that shorten names, bars. No line is
// wider than the page, for any text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct PageStyle {
  std::size_t width = 80; ///< columns, at least 40
  bool colour = false;
  bool unicode = false; ///< bars and marks beyond ASCII
};

/// The meaning of a text; without colour all look alike.
enum class Ink { kPlain, kStrong, kFaint, kGood, kWarn, kBad };

/// One column of a table on a page.
struct PageColumn {
  std::string header;
  bool right = true;     ///< aligned
  std::size_t least = 0; ///< its texts lose their middle, down to so many columns; 0: they never do
  int keep = 0;          ///< where room is short those with the lowest number go first; 0: never
};

struct PageCell {
  std::string text;
  Ink ink = Ink::kPlain;
};

class ConsolePage {
public:
  explicit ConsolePage(const PageStyle& style);

  /// A heading, followed by `remark` in fainter ink; a blank line in front, except for the first.
  void heading(std::string_view text, std::string_view remark = {});
  /// Words, broken between blanks. The first line begins with `mark`; the others are indented by
  /// two more.
  void sentence(std::string_view text, std::string_view mark = "  ", Ink ink = Ink::kPlain);
  /// One cell per column; missing cells are blank. Make bars with bar() and bar_width().
  void table(const std::vector<PageColumn>& columns,
             const std::vector<std::vector<PageCell>>& rows);
  /// Pieces that may be cut apart by `cut` and a line end (the next line begins at once); words are
  /// parted by blanks, where a cut is indented.
  void command(const std::vector<std::vector<std::string>>& words);

  /// `percent` of `width` columns, eighths of a column where the page has Unicode; blanks behind.
  [[nodiscard]] std::string bar(double percent, std::size_t width) const;
  /// For a page as wide as this one: a fifth, from 6 to 32.
  [[nodiscard]] std::size_t bar_width() const;
  [[nodiscard]] const PageStyle& style() const { return style_; }
  /// Returns untrusted text as the page shows it.
  [[nodiscard]] std::string shown(std::string_view text) const;

  [[nodiscard]] const std::string& text() const { return out_; }

private:
  void line(const std::vector<PageCell>& parts);

  PageStyle style_;
  std::string out_;
};

/// Returns the first `rows` lines of a page, with a last line that counts the others; 0: all lines.
[[nodiscard]] std::string first_lines(const std::string& page, std::size_t rows);

} // namespace rankscope
