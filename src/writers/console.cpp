#include "writers/console.h"

#include "base/display_text.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

constexpr std::size_t kLeast = 12; ///< texts keep at least this width
constexpr std::size_t kAnyWidth = 1'000'000'000;
/// Maximum width that a column gets so that different texts stay different.
constexpr std::size_t kMostApart = 200;

std::string cell(const Value& v, const Column& column) {
  if (v.kind != CellKind::kText)
    return shown_value(v, column);
  std::string text;
  for (const char c : v.text) // control characters in a name must not move the cursor
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return text;
}

/// Returns whether a text consists of numbers, for example shapes: 4096x4096 or ((4096, 4096), ()).
bool is_numbers(std::string_view text) {
  return std::ranges::none_of(
      text, [](unsigned char c) { return c != 'x' && (std::isalpha(c) != 0 || c >= 0x80); });
}

/// A column as text.
struct Shown {
  std::string header;
  std::vector<std::string> texts;
  std::vector<int> sign;  ///< for each row: 1 better, -1 worse, 0 neither
  std::size_t least = 0;  ///< minimum width; texts that differ stay different
  std::size_t widest = 0; ///< width without a limit by the terminal
  bool numeric = true;

  void measure(const ConsoleStyle& style) {
    std::size_t longest = 0;
    for (const std::string& text : texts)
      longest = std::max(longest, display_width(text));
    const std::size_t complete = std::max(longest, display_width(header));
    least = widest = complete;
    if (numeric)
      return;
    const std::size_t different = distinct_count(texts);
    const std::size_t most = std::min(longest, kMostApart);
    if (std::ranges::all_of(texts, is_numbers)) // no digit of a shape is cut
      least = std::max(most, std::min(kLeast, complete));
    else
      least = std::min(style.width > 0 ? kLeast : style.max_text, complete);
    while (least < most && distinct_count(shortened_apart(texts, least, false)) < different)
      least = std::min(most, least + 1 + least / 8);
    widest = std::max(least, std::min(complete, style.max_text));
  }
  /// Returns the width if texts have at most `limit` columns where this is possible.
  [[nodiscard]] std::size_t width(std::size_t limit) const {
    return std::clamp(limit, least, widest);
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
    out[c].header = column.name;
    for (std::size_t r = 0; r < rows; ++r) {
      const Value v = table.at(r, c);
      out[c].numeric = out[c].numeric && v.kind != CellKind::kText;
      out[c].texts.push_back(cell(v, column));
      out[c].sign.push_back(style.colour && decided(r) ? sign_of(v, column) : 0);
    }
    out[c].measure(style);
  }
  return out;
}

std::vector<std::size_t> widths_of(const std::vector<Shown>& columns, std::size_t limit) {
  std::vector<std::size_t> out;
  for (const Shown& column : columns)
    out.push_back(column.width(limit));
  return out;
}

using Parts = std::vector<std::vector<std::size_t>>; ///< the columns of each part

/// Splits the columns into parts that fit in the width. Each part after the first repeats the first
/// `repeated` columns.
Parts parts_of(const std::vector<std::size_t>& widths, std::size_t width, std::size_t repeated) {
  Parts parts(1);
  std::size_t used = 0;
  const auto add = [&](std::size_t c) {
    used += widths[c] + (parts.back().empty() ? 0 : 2);
    parts.back().push_back(c);
  };
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (used + 2 + widths[c] > width && parts.back().size() > repeated) {
      parts.emplace_back();
      used = 0;
      for (std::size_t first = 0; first < repeated; ++first)
        add(first);
    }
    add(c);
  }
  return parts;
}

/// Returns the number of columns by which the longest line of a part exceeds the width.
std::size_t excess_of(const Parts& parts, const std::vector<std::size_t>& widths,
                      std::size_t width) {
  std::size_t longest = 0;
  for (const std::vector<std::size_t>& part : parts) {
    std::size_t line = 0;
    for (const std::size_t c : part)
      line += widths[c] + (line > 0 ? 2 : 0);
    longest = std::max(longest, line);
  }
  return longest > width ? longest - width : 0;
}

/// Widths of the columns, and the parts of the table.
struct Fit {
  std::vector<std::size_t> widths;
  Parts parts;
  std::size_t excess = 0; ///< see excess_of()

  [[nodiscard]] bool as_good_as(const Fit& other) const {
    return parts.size() <= other.parts.size() && excess <= other.excess;
  }
};

/// Returns the widest columns with which the table has as few parts as possible.
Fit fit_of(const std::vector<Shown>& columns, std::size_t width, std::size_t repeated) {
  std::size_t limit = 0;
  for (const Shown& column : columns)
    limit = std::max(limit, column.widest);
  const auto fit = [&](std::size_t tried) {
    Fit out;
    out.widths = widths_of(columns, tried);
    out.parts = parts_of(out.widths, width, repeated);
    out.excess = excess_of(out.parts, out.widths, width);
    return out;
  };
  Fit least = fit(0);
  for (limit = std::min(limit, std::max(width, kMostApart)); limit > kLeast; --limit)
    if (Fit tried = fit(limit); tried.as_good_as(least))
      return tried;
  return least;
}

/// Returns headers with at most the width of their column. Different headers stay different if
/// possible.
std::vector<std::string> headers_of(const std::vector<Shown>& columns,
                                    const std::vector<std::size_t>& widths) {
  std::vector<std::string> out;
  std::vector<std::string> taken;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::string text = columns[c].header;
    if (display_width(text) > widths[c]) {
      text = std::string(first_columns(text, widths[c] - 2)) + "..";
      if (std::ranges::find(taken, text) != taken.end())
        text = shortened_middle(columns[c].header, widths[c], false);
    }
    taken.push_back(text);
    out.push_back(std::move(text));
  }
  return out;
}

/// Returns a column with the numbers of the rows, for tables whose first column does not identify
/// the row.
Shown numbered(std::size_t rows) {
  Shown out;
  out.header = "#";
  for (std::size_t r = 1; r <= rows; ++r)
    out.texts.push_back(std::to_string(r));
  out.sign.assign(rows, 0);
  out.measure({});
  return out;
}

/// The shortened columns of a table, and the parts in which they are written.
struct Layout {
  std::vector<Shown> columns;
  std::vector<std::string> headers;
  Fit fit;
};

/// Returns the layout. Each part repeats the first column. If rows are equal in the first column,
/// each part repeats their numbers, and also the first column if there is space for it.
Layout layout_of(std::vector<Shown> columns, std::size_t width) {
  Layout out;
  out.fit = fit_of(columns, width, 1);
  const std::vector<std::string>& first = columns.front().texts;
  if (out.fit.parts.size() > 1 && distinct_count(first) < first.size()) {
    columns.insert(columns.begin(), numbered(first.size()));
    out.fit = fit_of(columns, width, 1);
    if (Fit both = fit_of(columns, width, 2);
        both.as_good_as(out.fit) && both.widths == out.fit.widths)
      out.fit = std::move(both);
  }
  out.headers = headers_of(columns, out.fit.widths);
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (!columns[c].numeric)
      columns[c].texts = shortened_apart(columns[c].texts, out.fit.widths[c], false);
  out.columns = std::move(columns);
  return out;
}

/// Returns a line of a part. `row` 0 is the header.
std::string line_of(const Layout& layout, const std::vector<std::size_t>& part, std::size_t row) {
  std::string out;
  std::string blanks; // written only before other text, so that lines do not end with blanks
  for (const std::size_t c : part) {
    const Shown& column = layout.columns[c];
    const std::string& text = row > 0 ? column.texts[row - 1] : layout.headers[c];
    const std::size_t width = display_width(text);
    const std::string pad(std::max(layout.fit.widths[c], width) - width, ' ');
    const int sign = row > 0 ? column.sign[row - 1] : 0;
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
  std::string out;
  if (table.cols() > 0) {
    const Layout layout =
        layout_of(shown_columns(table, rows, style), style.width > 0 ? style.width : kAnyWidth);
    for (const std::vector<std::size_t>& part : layout.fit.parts) {
      out += out.empty() ? "" : "\n";
      for (std::size_t row = 0; row <= rows; ++row)
        out += line_of(layout, part, row);
    }
  }
  if (table.rows() > rows)
    out += fmt::format("... {} more rows\n", table.rows() - rows);
  return out;
}

} // namespace rankscope
