#include "base/csv.h"

#include "base/ascii.h"

#include <algorithm>
#include <cstring>

namespace rankscope {
namespace {

/// Number of bytes searched after the end of a line for a closing quote.
constexpr std::size_t kLongestOverLines = std::size_t{64} << 10U;

const char* find_char(const char* from, const char* to, char c) {
  if (from >= to)
    return nullptr;
  return static_cast<const char*>(std::memchr(from, c, static_cast<std::size_t>(to - from)));
}

std::string_view view_of(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

/// Returns the end of a line, without its carriage return.
const char* text_end(const char* begin, const char* line_end) {
  return line_end > begin && line_end[-1] == '\r' ? line_end - 1 : line_end;
}

class RecordScan {
public:
  RecordScan(std::string_view text, bool at_end, std::vector<CsvField>& fields)
      : begin_(text.data()), end_(begin_ + text.size()), at_end_(at_end), fields_(fields) {}

  CsvRecord scan(std::size_t columns) {
    if (!line_from(begin_))
      return CsvRecord::kNeedsMore;
    const char* const first_line = stop_;
    CsvRecord found = fields_from(begin_);
    if (found == CsvRecord::kComplete && stop_ != first_line && columns > 0 &&
        fields_.size() != columns)
      found = CsvRecord::kTorn;
    if (found == CsvRecord::kTorn) {
      stop_ = first_line;
      split_plainly();
    }
    return found;
  }
  [[nodiscard]] std::size_t used() const {
    return static_cast<std::size_t>(stop_ - begin_) + (stop_ < end_ ? 1 : 0);
  }

private:
  /// Sets `stop_` to the end of the line at `from`. Returns false when the line is not complete
  /// yet.
  bool line_from(const char* from) {
    const char* const line = find_char(from, end_, '\n');
    stop_ = line == nullptr ? end_ : line;
    return line != nullptr || at_end_;
  }

  CsvRecord fields_from(const char* p) {
    fields_.clear();
    for (;;) {
      if (p < stop_ && *p == '"') {
        bool doubled = false;
        const char* close = nullptr;
        if (const CsvRecord found = closing_quote(p + 1, close, doubled);
            found != CsvRecord::kComplete)
          return found;
        fields_.push_back({view_of(p + 1, close), doubled});
        p = close + 1;
        if (p == text_end(p, stop_) || p == stop_)
          return CsvRecord::kComplete;
      } else {
        const char* const comma = find_char(p, stop_, ',');
        fields_.push_back({view_of(p, comma == nullptr ? text_end(p, stop_) : comma), false});
        if (comma == nullptr)
          return CsvRecord::kComplete;
        p = comma;
      }
      ++p; // after the comma
    }
  }

  /// Finds the quote that closes the field whose text begins at `p`.
  CsvRecord closing_quote(const char* p, const char*& close, bool& doubled) {
    const char* const first_line = stop_;
    for (;;) {
      close = find_char(p, stop_, '"');
      if (close == nullptr) { // the field continues on the next line, or the record is torn
        const char* const limit =
            stop_ + std::min(static_cast<std::size_t>(end_ - stop_), kLongestOverLines);
        close = find_char(stop_, limit, '"');
        if (close == nullptr)
          return limit == end_ && !at_end_ ? CsvRecord::kNeedsMore : CsvRecord::kTorn;
        if (!line_from(close))
          return CsvRecord::kNeedsMore;
      }
      const char* const next = close + 1;
      if (next == stop_ || *next == ',' || next == text_end(next, stop_))
        return CsvRecord::kComplete;
      if (*next == '"') {
        doubled = true;
        p = next + 1;
      } else if (stop_ == first_line) {
        p = next; // a quote that is not doubled is text
      } else {
        return CsvRecord::kTorn; // this quote probably begins a field of another record
      }
    }
  }

  void split_plainly() {
    fields_.clear();
    const char* const end = text_end(begin_, stop_);
    for (const char* p = begin_;; ++p) {
      const char* const comma = find_char(p, end, ',');
      fields_.push_back({view_of(p, comma == nullptr ? end : comma), false});
      if (comma == nullptr)
        return;
      p = comma;
    }
  }

  const char* begin_;
  const char* end_;
  const char* stop_ = nullptr; ///< end of the current line
  bool at_end_;
  std::vector<CsvField>& fields_;
};

} // namespace

std::string CsvField::unquoted() const {
  if (!doubled)
    return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    i += text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"' ? 1 : 0;
  }
  return out;
}

CsvRecord next_csv_record(std::string_view text, bool at_end, std::size_t columns,
                          std::vector<CsvField>& fields, std::size_t& used) {
  RecordScan scan(text, at_end, fields);
  const CsvRecord found = scan.scan(columns);
  used = scan.used();
  return found;
}

void append_csv_cell(std::string& out, std::string_view text) {
  if (text.find_first_of("\",\n\r") == std::string_view::npos)
    out += text;
  else
    out += in_quotes(text);
}

std::string csv_cell(std::string_view text) {
  std::string out;
  append_csv_cell(out, text);
  return out;
}

std::string csv_cell(std::uint64_t value) {
  return std::to_string(value);
}

std::string csv_cell(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : std::string();
}

} // namespace rankscope
