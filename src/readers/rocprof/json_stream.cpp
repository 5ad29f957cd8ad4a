#include "readers/rocprof/json_stream.h"

#include "os/byte_source.h"
#include "readers/kineto/json_scan.h"

#include <algorithm>

namespace rankscope {
namespace {

constexpr std::size_t kJsonWindow = std::size_t{1} << 18;
static_assert(JsonStream::kMostValue == std::size_t{16} << 20U); // problem() names this size

} // namespace

bool JsonStream::fill() {
  if (at_end_)
    return false;
  buffer_.erase(0, at_);
  passed_ += at_;
  at_ = 0;
  const std::size_t had = buffer_.size();
  const std::size_t more = std::max(kJsonWindow, had); // more than the window if the value is
                                                       // longer than the window
  buffer_.resize(had + more);
  const std::size_t got = source_.read(buffer_.data() + had, more);
  buffer_.resize(had + got);
  at_end_ = got < more;
  return got > 0;
}

char JsonStream::next() {
  do {
    const char* const end = buffer_.data() + buffer_.size();
    const char* const p = json::skip_space(buffer_.data() + at_, end);
    at_ = static_cast<std::size_t>(p - buffer_.data());
    if (p < end)
      return *p;
  } while (fill());
  return 0;
}

bool JsonStream::enter(char bracket) {
  if (next() != bracket)
    return false;
  ++at_;
  return true;
}

bool JsonStream::key(std::string& key) {
  char c = next();
  if (c == ',') {
    ++at_;
    c = next();
  }
  if (c == '}') {
    ++at_;
    return false;
  }
  const std::optional<std::string_view> text = c == '"' ? value() : std::nullopt;
  if (!text) {
    broken_ = true;
    return false;
  }
  key = text->substr(1, text->size() - 2);
  if (next() != ':') {
    broken_ = true;
    return false;
  }
  ++at_;
  return true;
}

bool JsonStream::item() {
  char c = next();
  if (c == ',') {
    ++at_;
    c = next();
  }
  if (c == ']') {
    ++at_;
    return false;
  }
  broken_ = broken_ || c == 0 || c == '}' || c == ':';
  return !broken_;
}

std::optional<std::string_view> JsonStream::value() {
  if (broken_)
    return std::nullopt;
  (void)next();
  for (;;) {
    const char* const begin = buffer_.data() + at_;
    const char* const end = json::skip_value(begin, buffer_.data() + buffer_.size());
    if (end != nullptr) {
      at_ = static_cast<std::size_t>(end - buffer_.data());
      return std::string_view(begin, static_cast<std::size_t>(end - begin));
    }
    // a damaged value seems to be incomplete, until the size limit or the end of the document is
    // reached
    too_large_ = buffer_.size() - at_ >= kMostValue;
    if (too_large_ || !fill())
      break;
  }
  broken_ = true;
  return std::nullopt;
}

std::string JsonStream::problem() const {
  return too_large_                  ? "a value has more than 16 MiB"
         : source_.problem().empty() ? "the document is not closed (file truncated?)"
                                     : source_.problem();
}

bool JsonStream::skip() {
  const char c = next();
  if (broken_ || (c != '{' && c != '['))
    return value().has_value();
  json::OpenBrackets brackets;
  bool in_text = false;
  for (;;) {
    const char* const end = buffer_.data() + buffer_.size();
    const char* p = buffer_.data() + at_;
    while (p < end) {
      p = in_text ? json::find_quote_or_escape(p, end) : json::find_structure(p, end);
      if (p == end)
        break;
      if (*p == '\\') {
        if (end - p < 2)
          break; // the escaped character is in the next window
        p += 2;
      } else if (*p == '"') {
        in_text = !in_text;
        ++p;
      } else if (*p == '{' || *p == '[') {
        brackets.open(*p++);
      } else if (!brackets.close(*p++)) {
        broken_ = true;
        return false;
      } else if (brackets.none()) {
        at_ = static_cast<std::size_t>(p - buffer_.data());
        return true;
      }
    }
    at_ = static_cast<std::size_t>(p - buffer_.data());
    if (!fill()) {
      broken_ = true;
      return false;
    }
  }
}

} // namespace rankscope
