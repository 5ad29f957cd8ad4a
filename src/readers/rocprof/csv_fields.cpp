#include "readers/rocprof/csv_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace rankscope {

std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

std::optional<std::string> prefix_of(std::string_view path) {
  std::string_view stem = path;
  for (const std::string_view end : {".gz", ".zst", ".csv"})
    if (stem.ends_with(end))
      stem.remove_suffix(end.size());
  std::optional<std::string> out;
  for (const std::string_view kind : kCsvKinds)
    if (stem.ends_with(kind)) {
      const std::string_view before = stem.substr(0, stem.size() - kind.size());
      if (before.empty() || before.back() == '_' || before.back() == '/')
        if (!out || before.size() < out->size())
          out = std::string(before);
    }
  return out;
}

std::int64_t agent_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_last_not_of("0123456789") + 1, text.size()));
  std::int64_t value = -1;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<double> as_real(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<std::uint64_t> address_of(std::string_view text) {
  if (text.starts_with("0x"))
    text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (status != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

} // namespace rankscope
