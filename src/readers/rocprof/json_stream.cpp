#include "readers/rocprof/json_stream.h"

#include "os/byte_source.h"
#include "readers/kineto/json_scan.h"

#include <algorithm>

namespace rankscope {
namespace {

constexpr std::size_t kJsonWindow = std::size_t{1} << 18;

} // namespace

bool JsonStream::fill() {
  if (at_end_)
    return false;
  buffer_.erase(0, at_);
  passed_ += at_;
  at_ = 0;
  const std::size_t had = buffer_.size();
  const std::size_t more = std::max(kJsonWindow, had); // a value longer than the window
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
    // damage within the window looks like a value that goes on; a document of one line ends it
    if (!fill())
      break;
  }
  broken_ = true;
  return std::nullopt;
}

} // namespace rankscope
