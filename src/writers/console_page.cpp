#include "writers/console_page.h"

#include "base/display_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2; ///< blanks between two columns of a table

const char* code_of(Ink ink) {
  switch (ink) {
  case Ink::kPlain:
    break;
  case Ink::kStrong:
    return "\x1b[1m";
  case Ink::kFaint:
    return "\x1b[2m";
  case Ink::kGood:
    return "\x1b[32m";
  case Ink::kWarn:
    return "\x1b[33m";
  case Ink::kBad:
    return "\x1b[31m";
  }
  return "";
}

/// Breaks a text into lines: the first one has at most `first` columns, the others `later`. Only a
/// word that is longer than a line is broken.
std::vector<std::string> broken(std::string_view text, std::size_t first, std::size_t later) {
  std::vector<std::string> lines(1);
  std::size_t room = first;
  const auto next = [&] {
    lines.emplace_back();
    room = later;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(' ', at);
    if (begin == std::string_view::npos)
      break;
    at = std::min(text.find(' ', begin), text.size());
    std::string word(text.substr(begin, at - begin));
    std::string& line = lines.back();
    if (const std::size_t with = display_width(line) + (line.empty() ? 0 : 1) + display_width(word);
        with <= room) {
      line += (line.empty() ? "" : " ") + word;
      continue;
    }
    if (!line.empty())
      next();
    while (display_width(word) > room) {
      lines.back() = first_columns(word, room);
      word.erase(0, lines.back().size());
      next();
    }
    lines.back() = std::move(word);
  }
  return lines;
}

constexpr std::size_t kLeftOut = static_cast<std::size_t>(-1); ///< the width of a column that is
                                                               ///< omitted

/// Returns the width of a line if all texts that may be shortened have their minimum width.
std::size_t least_width(const std::vector<PageColumn>& columns,
                        const std::vector<std::size_t>& widths) {
  std::size_t sum = kIndent;
  std::size_t shown = 0;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (widths[c] != kLeftOut)
      sum += (shown++ > 0 ? kGap : 0) +
             (columns[c].least > 0 ? std::min(widths[c], columns[c].least) : widths[c]);
  return sum;
}

/// Returns the column to omit next; the number of columns if no column may be omitted.
std::size_t least_worth(const std::vector<PageColumn>& columns,
                        const std::vector<std::size_t>& widths) {
  std::size_t out = columns.size();
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (widths[c] != kLeftOut && columns[c].keep > 0 &&
        (out == columns.size() || columns[c].keep < columns[out].keep))
      out = c;
  return out;
}

/// Returns the width of each column for a page of `width` columns; kLeftOut for columns that are
/// omitted.
std::vector<std::size_t> widths_of(const std::vector<PageColumn>& columns,
                                   const std::vector<std::vector<PageCell>>& rows,
                                   std::size_t width) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    widths.push_back(display_width(columns[c].header));
    for (const std::vector<PageCell>& row : rows)
      if (c < row.size())
        widths.back() = std::max(widths.back(), display_width(row[c].text));
  }
  while (least_width(columns, widths) > width) {
    const std::size_t out = least_worth(columns, widths);
    if (out == columns.size())
      break; // then lines are cut
    widths[out] = kLeftOut;
  }
  const std::size_t used = least_width(columns, widths);
  std::size_t room = width > used ? width - used : 0;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].least > 0 && widths[c] != kLeftOut && widths[c] > columns[c].least) {
      const std::size_t more = std::min(widths[c] - columns[c].least, room);
      widths[c] = columns[c].least + more;
      room -= more;
    }
  return widths;
}

} // namespace

ConsolePage::ConsolePage(const PageStyle& style) : style_(style) {
  style_.width = std::max<std::size_t>(style_.width, 40);
}

std::string ConsolePage::shown(std::string_view text) const {
  return shown_text(text, style_.unicode);
}

void ConsolePage::line(const std::vector<PageCell>& parts) {
  std::size_t room = style_.width;
  std::string made;
  std::string blanks; // written only before other text, so that lines do not end with blanks
  for (const PageCell& part : parts) {
    const std::string text(first_columns(part.text, room));
    room -= display_width(text);
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = text.find_last_not_of(' ') + 1;
    blanks += text.substr(0, begin);
    if (begin < text.size()) {
      const std::string words = text.substr(begin, end - begin);
      const std::string code = style_.colour ? code_of(part.ink) : "";
      made += blanks + (code.empty() ? words : code + words + "\x1b[0m");
      blanks = text.substr(end);
    }
  }
  out_ += made + '\n';
}

void ConsolePage::heading(std::string_view text, std::string_view note) {
  if (!out_.empty())
    out_ += '\n';
  const std::string title = shown(text);
  const std::string shown_note = shown(note);
  if (note.empty() || display_width(title) + 2 + display_width(shown_note) <= style_.width)
    return line({{shortened_middle(title, style_.width, style_.unicode), Ink::kStrong},
                 {note.empty() ? "" : "  " + shown_note, Ink::kFaint}});
  line({{shortened_middle(title, style_.width, style_.unicode), Ink::kStrong}});
  sentence(note, "  ", Ink::kFaint);
}

void ConsolePage::sentence(std::string_view text, std::string_view mark, Ink ink) {
  const std::size_t indent = display_width(mark);
  const std::size_t room = style_.width - indent;
  bool first = true;
  for (const std::string& part : broken(shown(text), room, room)) {
    line({{first ? std::string(mark) : std::string(indent, ' '), ink}, {part, ink}});
    first = false;
  }
}

void ConsolePage::table(const std::vector<PageColumn>& columns,
                        const std::vector<std::vector<PageCell>>& rows) {
  const std::vector<std::size_t> widths = widths_of(columns, rows, style_.width);
  // texts of the columns that may be shortened
  std::vector<std::vector<std::string>> shortened(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].least > 0 && widths[c] != kLeftOut) {
      std::vector<std::string> texts;
      for (const std::vector<PageCell>& row : rows)
        texts.push_back(c < row.size() ? row[c].text : "");
      shortened[c] = shortened_apart(texts, widths[c], style_.unicode);
    }
  const auto put = [&](const auto& cell_of) {
    std::vector<PageCell> parts{{std::string(kIndent, ' '), Ink::kPlain}};
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (widths[c] == kLeftOut)
        continue;
      PageCell cell = cell_of(c);
      cell.text = shortened_middle(cell.text, widths[c], style_.unicode);
      cell.text = columns[c].right ? padded_left(std::move(cell.text), widths[c])
                                   : padded_right(std::move(cell.text), widths[c]);
      if (parts.size() > 1)
        parts.push_back({std::string(kGap, ' '), Ink::kPlain});
      parts.push_back(std::move(cell));
    }
    line(parts);
  };
  put([&](std::size_t c) { return PageCell{shown(columns[c].header), Ink::kFaint}; });
  for (std::size_t r = 0; r < rows.size(); ++r)
    put([&](std::size_t c) {
      PageCell cell = c < rows[r].size() ? rows[r][c] : PageCell{};
      if (!shortened[c].empty())
        cell.text = shortened[c][r];
      return cell;
    });
}

void ConsolePage::command(const std::vector<std::vector<std::string>>& words) {
  std::string at(kIndent, ' ');
  const auto end_line = [&](std::string_view indent) {
    out_ += at + "\\\n";
    at = indent;
  };
  bool first = true;
  for (const std::vector<std::string>& word : words) {
    std::size_t width = 0;
    for (const std::string& piece : word)
      width += display_width(piece);
    // two columns are needed for a blank and the backslash
    if (!first && display_width(at) + 1 + width + 2 > style_.width) {
      at += ' ';
      end_line(std::string(2 * kIndent, ' '));
    } else if (!first) {
      at += ' ';
    }
    first = false;
    for (const std::string& piece : word) {
      if (display_width(at) + display_width(piece) + 2 > style_.width)
        end_line("");
      at += piece;
    }
  }
  out_ += at + '\n';
}

std::string ConsolePage::bar(double percent, std::size_t width) const {
  const double share = std::isfinite(percent) ? std::clamp(percent, 0.0, 100.0) / 100 : 0;
  if (!style_.unicode) {
    const auto full = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
    return std::string(full, '#') + std::string(width - full, ' ');
  }
  static constexpr const char* kEighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                             "\u258c", "\u258b", "\u258a", "\u2589"};
  const auto eighths =
      static_cast<std::size_t>(std::lround(share * static_cast<double>(width) * 8));
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i)
    out += "\u2588";
  out += kEighths[eighths % 8];
  return padded_right(std::move(out), width);
}

std::size_t ConsolePage::bar_width() const {
  return std::clamp<std::size_t>(style_.width / 5, 6, 32);
}

std::string first_lines(const std::string& page, std::size_t rows) {
  const auto lines = static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n'));
  if (rows == 0 || lines <= rows)
    return page;
  std::size_t end = 0;
  for (std::size_t i = 0; i + 1 < rows; ++i)
    end = page.find('\n', end) + 1;
  return page.substr(0, end) + fmt::format("  ... {} more lines\n", lines + 1 - rows);
}

} // namespace rankscope
