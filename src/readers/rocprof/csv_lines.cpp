#include "readers/rocprof/csv_lines.h"

#include "base/to_number.h"
#include "base/utf8.h"
#include "os/byte_source.h"

#include <algorithm>

namespace rankscope {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 18;
constexpr std::size_t kLongestRow = std::size_t{16} << 20U;

} // namespace

CsvLines::CsvLines(ByteSource& source) : source_(source) {
  (void)fill();
  if (std::string_view(buffer_).starts_with(kByteOrderMark))
    at_ = kByteOrderMark.size();
}

bool CsvLines::fill() {
  if (at_end_)
    return false;
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t had = buffer_.size();
  const std::size_t more = std::max(kWindow, had); // more than the window if the row is longer than
                                                   // the window
  buffer_.resize(had + more);
  const std::size_t got = source_.read(buffer_.data() + had, more);
  buffer_.resize(had + got);
  bytes_ += got;
  at_end_ = got < more;
  return got > 0;
}

bool CsvLines::skip_line() {
  for (;;) {
    const std::size_t line = buffer_.find('\n', at_);
    at_ = line == std::string::npos ? buffer_.size() : line + 1;
    if (line != std::string::npos || !fill())
      return at_ < buffer_.size();
  }
}

bool CsvLines::next() {
  for (;;) {
    if (at_ >= buffer_.size() && !fill())
      return false;
    line_ = next_line_;
    const std::string_view text = std::string_view(buffer_).substr(at_);
    std::size_t used = 0;
    const CsvRecord found = next_csv_record(text, at_end_, columns_, fields_, used);
    if (found == CsvRecord::kNeedsMore && text.size() <= kLongestRow) {
      (void)fill();
      continue;
    }
    if (found != CsvRecord::kComplete) {
      fields_.clear();
      ++next_line_;
      if (found == CsvRecord::kNeedsMore)
        (void)skip_line();
      else
        at_ += used;
      return true;
    }
    const std::string_view record = text.substr(0, used);
    at_ += used;
    next_line_ += static_cast<std::uint64_t>(std::count(record.begin(), record.end(), '\n'));
    if (fields_.size() == 1 && fields_[0].text.empty() && record[0] != '"')
      continue;
    unquote();
    columns_ = columns_ == 0 ? fields_.size() : columns_;
    return true;
  }
}

void CsvLines::unquote() {
  unquoted_.clear();
  for (CsvField& field : fields_)
    if (field.doubled)
      field.text = unquoted_.emplace_back(field.unquoted());
}

std::optional<std::int64_t> CsvLines::integer(std::size_t field) const {
  return to_number(text(field));
}

CsvColumns::CsvColumns(const CsvLines& header) {
  for (std::size_t i = 0; i < header.fields(); ++i)
    places_.emplace(header.text(i), i);
}

std::size_t CsvColumns::at(std::string_view name) const {
  const auto it = places_.find(name);
  return it == places_.end() ? kNone : it->second;
}

} // namespace rankscope
