#include "base/json_writer.h"

#include "base/invariant.h"
#include "base/json_text.h"

#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace rankscope {

void JsonWriter::place(std::string_view key) {
  if (!filled_.empty()) {
    if (filled_.back())
      out_ += ',';
    filled_.back() = true;
    out_ += '\n';
    out_.append(filled_.size() * 2, ' ');
  }
  if (!key.empty())
    out_ += fmt::format("\"{}\": ", json_escaped(key));
}

void JsonWriter::open(std::string_view key, char bracket) {
  place(key);
  out_ += bracket;
  filled_.push_back(false);
}

void JsonWriter::close(char bracket) {
  RS_ASSERT(!filled_.empty());
  const bool filled = filled_.back();
  filled_.pop_back();
  if (filled) {
    out_ += '\n';
    out_.append(filled_.size() * 2, ' ');
  }
  out_ += bracket;
}

void JsonWriter::text(std::string_view key, std::string_view value) {
  place(key);
  out_ += fmt::format("\"{}\"", json_escaped(value));
}

void JsonWriter::integer(std::string_view key, std::int64_t value) {
  place(key);
  out_ += std::to_string(value);
}

void JsonWriter::number(std::string_view key, double value) {
  place(key);
  out_ += std::isfinite(value) ? fmt::format("{}", value) : "null";
}

void JsonWriter::boolean(std::string_view key, bool value) {
  place(key);
  out_ += value ? "true" : "false";
}

void JsonWriter::null(std::string_view key) {
  place(key);
  out_ += "null";
}

void JsonWriter::texts(std::string_view key, const std::vector<std::string>& values) {
  place(key);
  out_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i)
    out_ += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", json_escaped(values[i]));
  out_ += ']';
}

std::string JsonWriter::take() {
  RS_ASSERT(filled_.empty() && "every bracket is closed");
  return std::exchange(out_, {}) + "\n";
}

} // namespace rankscope
