// Parses the rows of a CSV text.
#include "readers/reports/csv_rows.h"

#include "base/csv.h"
#include "base/utf8.h"

#include <algorithm>

namespace rankscope {

Result<CsvRows> parse_csv(std::string_view text, std::uint64_t& cells_left) {
  text = without_byte_order_mark(text);
  std::string with_line_feeds;
  if (text.find('\n') == std::string_view::npos && text.find('\r') != std::string_view::npos) {
    with_line_feeds = text;
    std::replace(with_line_feeds.begin(), with_line_feeds.end(), '\r', '\n');
    text = with_line_feeds;
  }
  CsvRows out;
  std::vector<CsvRow>& rows = out.rows;
  std::vector<CsvField> fields;
  while (!text.empty()) {
    std::size_t used = 0;
    const std::size_t columns = rows.empty() ? 0 : rows.front().size();
    const CsvRecord found = next_csv_record(text, true, columns, fields, used);
    const bool blank = fields.size() == 1 && fields[0].text.empty() && text[0] != '"';
    const bool cut_off = used == text.size() && text.back() != '\n' && fields.size() < columns;
    text.remove_prefix(used);
    if (blank && columns != 1)
      continue;
    if (columns > 0 && (found == CsvRecord::kTorn || cut_off)) {
      ++out.torn;
      continue;
    }
    if (fields.size() > cells_left)
      return Error{ErrorCode::kUnreadable, "", kTooManyCells, ""};
    cells_left -= fields.size();
    CsvRow& row = rows.emplace_back();
    row.reserve(fields.size());
    for (const CsvField& field : fields)
      row.push_back(field.unquoted());
  }
  return out;
}

Result<CsvRows> parse_csv(std::string_view text) {
  std::uint64_t cells_left = kMostReportCells;
  return parse_csv(text, cells_left);
}

} // namespace rankscope
