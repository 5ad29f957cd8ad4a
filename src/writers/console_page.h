// A page of text for a terminal: headings, sentences, bars, and tables that shorten names. No line
// is wider than the page, whatever the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct PageStyle {
  std::size_t width = 80; ///< width in columns, at least 40
  bool colour = false;
  bool unicode = false; ///< use bars and marks beyond ASCII
};

/// The meaning of a text. Without colour, all meanings look the same.
enum class Ink { kPlain, kStrong, kFaint, kGood, kWarn, kBad };

/// One column of a table on a page.
struct PageColumn {
  std::string header;
  bool right = true;     ///< align to the right
  std::size_t least = 0; ///< minimum columns when texts lose their middle; 0: texts stay complete
  int keep = 0;          ///< lowest numbers are omitted first if space is short; 0: never
};

struct PageCell {
  std::string text;
  Ink ink = Ink::kPlain;
};

class ConsolePage {
public:
  explicit ConsolePage(const PageStyle& style);

  /// Adds a heading, followed by `remark` in fainter ink. A blank line precedes each heading except
  /// the first.
  void heading(std::string_view text, std::string_view remark = {});
  /// Adds words, with line breaks between words. The first line begins with `mark`; later lines are
  /// indented by two more columns.
  void sentence(std::string_view text, std::string_view mark = "  ", Ink ink = Ink::kPlain);
  /// Adds a table with one cell per column; missing cells are blank. Make bars with bar() and
  /// bar_width().
  void table(const std::vector<PageColumn>& columns,
             const std::vector<std::vector<PageCell>>& rows);
  /// Adds a command. Words are separated by blanks; a line break there is indented. Pieces of a
  /// word may be separated by a backslash and a line break, without indent.
  void command(const std::vector<std::vector<std::string>>& words);

  /// Returns a bar for `percent` of `width` columns, filled up with blanks. On a Unicode page it
  /// has a resolution of an eighth of a column.
  [[nodiscard]] std::string bar(double percent, std::size_t width) const;
  /// Returns the width of bars on this page: a fifth of the page width, from 6 to 32.
  [[nodiscard]] std::size_t bar_width() const;
  [[nodiscard]] const PageStyle& style() const { return style_; }
  /// Returns untrusted text in the form that the page shows.
  [[nodiscard]] std::string shown(std::string_view text) const;

  [[nodiscard]] const std::string& text() const { return out_; }

private:
  void line(const std::vector<PageCell>& parts);

  PageStyle style_;
  std::string out_;
};

/// Returns the first `rows` lines of a page and a last line with the number of the others; 0: all
/// lines.
[[nodiscard]] std::string first_lines(const std::string& page, std::size_t rows);

} // namespace rankscope
