#include "writers/console.h"

#include "base/number_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace rankscope {
namespace {

/// Columns a text takes on a terminal, one per UTF-8 character.
std::size_t shown_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string cell(const Value& v, const Column& column, std::size_t widest) {
  switch (v.kind) {
  case CellKind::kInt:
    return std::to_string(v.i);
  case CellKind::kBool:
    return v.i != 0 ? "yes" : "no";
  case CellKind::kDouble:
    return std::isfinite(v.d)
               ? fmt::format("{:.{}f}", v.d, column.decimals >= 0 ? column.decimals : 3)
               : "";
  case CellKind::kText: {
    std::string text;
    for (const char c : v.text) // a name must not move the cursor
      text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    if (shown_width(text) > widest) {
      std::size_t bytes = 0;
      for (std::size_t shown = 0; bytes < text.size() && shown + 3 < widest; ++shown) {
        ++bytes;
        while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80)
          ++bytes;
      }
      text.resize(bytes);
      text += "...";
    }
    return text;
  }
  case CellKind::kNull:
    break;
  }
  return "";
}

} // namespace

std::string console_table(const Table& table, std::size_t max_rows, std::size_t max_text) {
  const std::size_t rows = std::min(table.rows(), max_rows);
  std::vector<std::vector<std::string>> texts(rows + 1);
  std::vector<std::size_t> width;
  std::vector<bool> numeric(table.cols(), true);
  for (std::size_t c = 0; c < table.cols(); ++c) {
    texts[0].push_back(table.columns()[c].name);
    width.push_back(shown_width(texts[0][c]));
    for (std::size_t r = 0; r < rows; ++r) {
      const Value v = table.at(r, c);
      numeric[c] = numeric[c] && v.kind != CellKind::kText;
      texts[r + 1].push_back(cell(v, table.columns()[c], max_text));
      width[c] = std::max(width[c], shown_width(texts[r + 1][c]));
    }
  }
  std::string out;
  for (const auto& line : texts) {
    std::string text;
    for (std::size_t c = 0; c < line.size(); ++c) {
      const std::string pad(width[c] - shown_width(line[c]), ' ');
      text += (c > 0 ? "  " : "") + (numeric[c] ? pad + line[c] : line[c] + pad);
    }
    while (!text.empty() && text.back() == ' ')
      text.pop_back();
    out += text + '\n';
  }
  if (table.rows() > rows)
    out += fmt::format("... {} more rows\n", table.rows() - rows);
  return out;
}

} // namespace rankscope
