#include "writers/markdown.h"

#include <cmath>
#include <fmt/format.h>

namespace rankscope {

namespace {

/// Zero width space. It is inserted to prevent mentions of GitHub users, which GitHub searches in
/// the text after it has removed all escapes.
constexpr std::string_view kApart = "\xE2\x80\x8B";

} // namespace

std::string markdown_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\|<>*`[]!~$").find(c) != std::string_view::npos)
      out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    if (c == '@')
      out += kApart;
  }
  return out;
}

std::string markdown_table(const Table& table) {
  std::string out = "|";
  for (const Column& c : table.columns())
    out += fmt::format(" {} |", markdown_escaped(c.name));
  out += "\n|";
  for (std::size_t c = 0; c < table.cols(); ++c) {
    const bool text = table.rows() > 0 && table.at(0, c).kind == CellKind::kText;
    out += text ? "---|" : "---:|";
  }
  out += "\n";
  for (std::size_t r = 0; r < table.rows(); ++r) {
    out += "|";
    for (std::size_t c = 0; c < table.cols(); ++c) {
      const Value v = table.at(r, c);
      const int decimals = table.columns()[c].decimals;
      std::string cell;
      if (v.kind == CellKind::kText)
        cell = markdown_escaped(v.text);
      else if (v.kind == CellKind::kInt)
        cell = std::to_string(v.i);
      else if (v.kind == CellKind::kBool)
        cell = v.i != 0 ? "yes" : "no";
      else if (v.kind == CellKind::kDouble && std::isfinite(v.d))
        cell = fmt::format("{:.{}f}", v.d, decimals >= 0 ? decimals : 3);
      out += fmt::format(" {} |", cell);
    }
    out += "\n";
  }
  return out;
}

} // namespace rankscope
