#include "readers/rocprof/csv_lines.h"

#include "os/byte_source.h"

#include <cstring>

namespace rankscope {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 18;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

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
  const std::size_t more = std::max(kWindow, had); // a row longer than the window
  buffer_.resize(had + more);
  const std::size_t got = source_.read(buffer_.data() + had, more);
  buffer_.resize(had + got);
  bytes_ += got;
  at_end_ = got < more;
  return got > 0;
}

/// The line break behind the row at at_, or nullptr when the buffer ends before.
const char* CsvLines::row_end() const {
  const char* p = buffer_.data() + at_;
  const char* const end = buffer_.data() + buffer_.size();
  for (;;) {
    const auto* const line =
        static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
    const char* const stop = line == nullptr ? end : line;
    // quotes come in pairs in a whole row
    const auto* quote =
        static_cast<const char*>(std::memchr(p, '"', static_cast<std::size_t>(stop - p)));
    if (quote == nullptr)
      return line;
    const auto* const close = static_cast<const char*>(
        std::memchr(quote + 1, '"', static_cast<std::size_t>(end - quote - 1)));
    if (close == nullptr)
      return nullptr;
    p = close + 1;
  }
}

bool CsvLines::next() {
  for (;;) {
    const char* end = row_end();
    while (end == nullptr && fill())
      end = row_end();
    if (at_ >= buffer_.size())
      return false;
    const char* const begin = buffer_.data() + at_;
    if (end == nullptr) // the last row, without a line break or with a quote that is not closed
      end = buffer_.data() + buffer_.size();
    at_ = std::min(static_cast<std::size_t>(end - buffer_.data()) + 1, buffer_.size());
    ++line_;
    const bool carriage = end > begin && end[-1] == '\r';
    if (end - begin == (carriage ? 1 : 0))
      continue;
    split(begin, end - (carriage ? 1 : 0));
    return true;
  }
}

void CsvLines::split(const char* begin, const char* end) {
  fields_.clear();
  unquoted_.clear();
  unquoted_.reserve(64);
  for (const char* p = begin;; ++p) {
    const char* from = p;
    const char* to = p;
    bool doubled = false;
    if (p < end && *p == '"') {
      from = ++p;
      for (;;) {
        p = static_cast<const char*>(std::memchr(p, '"', static_cast<std::size_t>(end - p)));
        p = p == nullptr ? end : p;
        if (p + 1 >= end || p[1] != '"')
          break;
        doubled = true;
        p += 2;
      }
      to = p;
      p = static_cast<const char*>(std::memchr(p, ',', static_cast<std::size_t>(end - p)));
    } else {
      p = static_cast<const char*>(std::memchr(p, ',', static_cast<std::size_t>(end - p)));
      to = p == nullptr ? end : p;
    }
    if (doubled && unquoted_.size() < unquoted_.capacity()) {
      std::string& text = unquoted_.emplace_back();
      for (const char* c = from; c < to; ++c) {
        text += *c;
        c += *c == '"' ? 1 : 0;
      }
      fields_.emplace_back(text);
    } else {
      fields_.emplace_back(from, static_cast<std::size_t>(to - from));
    }
    if (p == nullptr)
      return;
  }
}

std::optional<std::int64_t> CsvLines::integer(std::size_t field) const {
  const std::string_view cell = text(field);
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (status != std::errc() || end != cell.data() + cell.size())
    return std::nullopt;
  return value;
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
