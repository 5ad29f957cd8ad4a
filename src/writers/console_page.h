// A page of text for a terminal: headings, sentences, bars, and tables in which names are
// shortened. No line is wider than the page, whatever text is written.
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

/// The importance of a text, shown by its colour. Without colour, all texts look the same.
enum class Ink { kPlain, kStrong, kFaint, kGood, kWarn, kBad };

/// One column of a table on a page.
struct PageColumn {
  std::string header;
  bool right = true;     ///< align to the right
  std::size_t least = 0; ///< minimum width if texts are shortened in the middle; 0: texts are not
                         ///< shortened
  int keep = 0;          ///< if there is too little space, columns with the lowest number are
                         ///< omitted first; 0: never omitted
};

struct PageCell {
  std::string text;
  Ink ink = Ink::kPlain;
};

class ConsolePage {
public:
  explicit ConsolePage(const PageStyle& style);

  /// Adds a heading, followed by `note` in a weaker colour. There is a blank line before each
  /// heading except the first.
  void heading(std::string_view text, std::string_view note = {});
  /// Adds a text with line breaks between words. The first line begins with `mark`; the other lines
  /// are indented by two more columns.
  void sentence(std::string_view text, std::string_view mark = "  ", Ink ink = Ink::kPlain);
  /// Adds a table. Each row has one cell per column; missing cells are blank. Use bar() and
  /// bar_width() for bars in cells.
  void table(const std::vector<PageColumn>& columns,
             const std::vector<std::vector<PageCell>>& rows);
  /// Adds a command. Words are separated by a blank or, at a line break, by an indented new line.
  /// If a word is too long, it is broken between its parts with a backslash, without indentation.
  void command(const std::vector<std::vector<std::string>>& words);

  /// Returns a bar for `percent` of `width` columns; the rest is blank. On a Unicode page, the
  /// resolution is an eighth of a column.
  [[nodiscard]] std::string bar(double percent, std::size_t width) const;
  /// Returns the width of bars on this page: a fifth of the page width, from 6 to 32.
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

/// Returns the first lines of a page, at most `rows` in total; the last one contains the number of
/// lines that are not shown. 0: all lines.
[[nodiscard]] std::string first_lines(const std::string& page, std::size_t rows);

} // namespace rankscope
