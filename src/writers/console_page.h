// A page of text for a terminal: headings, sentences, tables whose names give way, bars. No line is
// wider than the page, whatever the texts hold.
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

/// What a text means; without colour all look alike.
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

  /// A heading with a remark in fainter ink behind it; a blank line in front, but for the first.
  void heading(std::string_view text, std::string_view remark = {});
  /// Words, broken between blanks; the lines after the first are indented by two more. `mark`
  /// stands in front of the first.
  void sentence(std::string_view text, std::string_view mark = "  ", Ink ink = Ink::kPlain);
  /// Cells per row as many as columns, fewer are blank. A bar is made by bar() with bar_width().
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
  /// Text of somebody else as the page shows it.
  [[nodiscard]] std::string shown(std::string_view text) const;

  [[nodiscard]] const std::string& text() const { return out_; }

private:
  void line(const std::vector<PageCell>& parts);

  PageStyle style_;
  std::string out_;
};

/// Lines of a page cut to the first `rows`, with a last one that says how many are left out; 0:
/// all.
[[nodiscard]] std::string first_lines(const std::string& page, std::size_t rows);

} // namespace rankscope
