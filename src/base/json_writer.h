// Writes JSON text with commas and indentation. It is for files of a few kilobytes that people read
// too (manifests).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

class JsonWriter {
public:
  /// A member of an object needs a key; an element of a list has no key.
  void begin_object(std::string_view key = {}) { open(key, '{'); }
  void end_object() { close('}'); }
  void begin_list(std::string_view key = {}) { open(key, '['); }
  void end_list() { close(']'); }

  void text(std::string_view key, std::string_view value);
  void integer(std::string_view key, std::int64_t value);
  void number(std::string_view key, double value); ///< writes null if the value is not finite
  void boolean(std::string_view key, bool value);
  void null(std::string_view key);
  void texts(std::string_view key, const std::vector<std::string>& values); ///< a list on one line

  /// Returns the complete text with a line end. All objects and lists must be closed.
  [[nodiscard]] std::string take();

private:
  void open(std::string_view key, char bracket);
  void close(char bracket);
  void place(std::string_view key);

  std::string out_;
  std::vector<bool> filled_; ///< for each open bracket: has at least one member
};

} // namespace rankscope
