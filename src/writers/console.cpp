#include "writers/console.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace rankscope {
namespace {

/// Returns the width of a text in a terminal: one column per UTF-8 character.
std::size_t shown_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Cuts a text to at most `widest` columns; a cut text ends with "...".
std::string cut(std::string text, std::size_t widest) {
  if (shown_width(text) <= widest)
    return text;
  std::size_t bytes = 0;
  for (std::size_t shown = 0; bytes < text.size() && shown + 3 < widest; ++shown) {
    ++bytes;
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80)
      ++bytes;
  }
  text.resize(bytes);
  return text + "...";
}

std::string cell(const Value& v, const Column& column, std::size_t widest) {
  if (v.kind != CellKind::kText)
    return shown_value(v, column);
  std::string text;
  for (const char c : v.text) // control characters in a name must not move the cursor
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return cut(std::move(text), widest);
}

/// The texts of a column as shown: first the header, then the rows.
struct Shown {
  std::vector<std::string> texts;
  std::vector<int> sign; ///< for each row: 1 better, -1 worse, 0 neither
  std::size_t width = 0;
  bool numeric = true;

  void measure() {
    width = 0;
    for (const std::string& text : texts)
      width = std::max(width, shown_width(text));
  }
};

int sign_of(const Value& v, const Column& column) {
  if (column.status && v.kind == CellKind::kText)
    return v.text == "Better" ? 1 : v.text == "Worse" ? -1 : 0;
  if (column.delta && v.kind == CellKind::kDouble)
    return v.d > 0 ? 1 : v.d < 0 ? -1 : 0;
  return 0;
}

/// Returns the column that contains the verdict about the values in column `c`: the first status
/// column after it.
std::optional<std::size_t> verdict_of(const Table& table, std::size_t c) {
  for (std::size_t at = c + 1; table.columns()[c].delta && at < table.cols(); ++at)
    if (table.columns()[at].status)
      return at;
  return std::nullopt;
}

std::vector<Shown> shown_columns(const Table& table, std::size_t rows, const ConsoleStyle& style) {
  std::vector<Shown> out(table.cols());
  for (std::size_t c = 0; c < table.cols(); ++c) {
    const Column& column = table.columns()[c];
    const std::optional<std::size_t> verdict = verdict_of(table, c);
    const auto decided = [&](std::size_t r) { // if the difference is not significant, there is no
                                              // colour
      return !verdict || sign_of(table.at(r, *verdict), table.columns()[*verdict]) != 0;
    };
    out[c].texts.push_back(column.name);
    for (std::size_t r = 0; r < rows; ++r) {
      const Value v = table.at(r, c);
      out[c].numeric = out[c].numeric && v.kind != CellKind::kText;
      out[c].texts.push_back(cell(v, column, style.max_text));
      out[c].sign.push_back(style.colour && decided(r) ? sign_of(v, column) : 0);
    }
    out[c].measure();
  }
  return out;
}

std::size_t line_width(const std::vector<Shown>& columns) {
  std::size_t width = 0;
  for (std::size_t c = 0; c < columns.size(); ++c)
    width += columns[c].width + (c > 0 ? 2 : 0);
  return width;
}

/// Cuts the widest texts until a line fits, or until no text has more than 12 columns.
void narrow_texts(std::vector<Shown>& columns, std::size_t width) {
  constexpr std::size_t kLeast = 12;
  while (line_width(columns) > width) {
    Shown* widest = nullptr;
    for (Shown& column : columns)
      if (!column.numeric && column.width > kLeast &&
          (widest == nullptr || column.width > widest->width))
        widest = &column;
    if (widest == nullptr)
      return;
    const std::size_t over = line_width(columns) - width;
    const std::size_t to = std::max(kLeast, widest->width - std::min(widest->width, over));
    for (std::string& text : widest->texts)
      // cut a little more, so that the next widest column is cut too
      text = cut(std::move(text), std::max(to, widest->width - 8));
    widest->measure();
  }
}

/// Splits the columns into parts that fit in the width. Each part after the first repeats column 0.
std::vector<std::vector<std::size_t>> parts_of(const std::vector<Shown>& columns,
                                               std::size_t width) {
  std::vector<std::vector<std::size_t>> parts(1);
  std::size_t used = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::size_t more = columns[c].width + (parts.back().empty() ? 0 : 2);
    if (width > 0 && used + more > width && c > 0 &&
        parts.back().size() > (parts.size() > 1 ? 1U : 0U)) {
      parts.push_back({0});
      used = columns[0].width;
    }
    parts.back().push_back(c);
    used += columns[c].width + (parts.back().size() > 1 ? 2 : 0);
  }
  return parts;
}

std::string line_of(const std::vector<Shown>& columns, const std::vector<std::size_t>& part,
                    std::size_t line) {
  std::string out;
  std::string blanks; // written only before other text, so that lines do not end with blanks
  for (const std::size_t c : part) {
    const Shown& column = columns[c];
    const std::string& text = column.texts[line];
    const std::string pad(column.width - shown_width(text), ' ');
    const int sign = line > 0 ? column.sign[line - 1] : 0;
    if (column.numeric)
      blanks += pad;
    if (!text.empty()) {
      out += blanks;
      blanks.clear();
      out += sign > 0   ? "\x1b[32m" + text + "\x1b[0m"
             : sign < 0 ? "\x1b[31m" + text + "\x1b[0m"
                        : text;
    }
    blanks += column.numeric ? "  " : pad + "  ";
  }
  while (!out.empty() && out.back() == ' ')
    out.pop_back();
  return out + '\n';
}

} // namespace

std::string console_table(const Table& table, const ConsoleStyle& style) {
  const std::size_t rows = std::min(table.rows(), style.max_rows);
  std::vector<Shown> columns = shown_columns(table, rows, style);
  if (style.width > 0)
    narrow_texts(columns, style.width);
  std::string out;
  for (const std::vector<std::size_t>& part : parts_of(columns, style.width)) {
    out += out.empty() ? "" : "\n";
    for (std::size_t line = 0; line <= rows; ++line)
      out += line_of(columns, part, line);
  }
  if (table.rows() > rows)
    out += fmt::format("... {} more rows\n", table.rows() - rows);
  return out;
}

} // namespace rankscope
