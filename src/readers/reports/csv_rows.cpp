// Rows of a CSV text.
#include "readers/reports/csv_rows.h"

#include <utility>

namespace rankscope {
namespace {

/// The field at `at`, which moves behind it.
std::string field(std::string_view text, std::size_t& at) {
  std::string out;
  if (at < text.size() && text[at] == '"') {
    for (++at; at < text.size(); ++at) {
      if (text[at] == '"') {
        if (at + 1 >= text.size() || text[at + 1] != '"')
          break;
        ++at;
      }
      out += text[at];
    }
    ++at;
  }
  while (at < text.size() && text[at] != ',' && text[at] != '\n' && text[at] != '\r')
    out += text[at++];
  return out;
}

} // namespace

std::vector<CsvRow> parse_csv(std::string_view text) {
  if (text.substr(0, 3) == "\xef\xbb\xbf")
    text.remove_prefix(3);
  std::vector<CsvRow> rows;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = at;
    CsvRow row(1, field(text, at));
    while (at < text.size() && text[at] == ',')
      row.push_back(field(text, ++at));
    const bool blank = at == begin;
    if (at < text.size() && text[at] == '\r')
      ++at;
    if (at < text.size() && text[at] == '\n')
      ++at;
    if (!blank || (!rows.empty() && rows.front().size() == 1))
      rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace rankscope
