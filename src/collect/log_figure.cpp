#include "collect/log_figure.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

namespace rankscope {
namespace {

constexpr std::size_t kLongestLine = 4096; ///< std::regex recurses with the length of a match

} // namespace

Result<std::regex> figure_expression(const std::string& text) {
  try {
    std::regex out(text);
    if (out.mark_count() < 1)
      return Error{ErrorCode::kUsage, "--metric",
                   "needs a group for the number: 'step ([0-9.]+) ms'", ""};
    return out;
  } catch (const std::regex_error& e) {
    return Error{ErrorCode::kUsage, "--metric", "'" + text + "': " + e.what(), ""};
  }
}

namespace {

/// The number of the first match; none when there is none.
std::optional<double> figure_in(std::string_view line, const std::regex& expression) {
  std::cmatch m;
  if (line.size() > kLongestLine ||
      !std::regex_search(line.data(), line.data() + line.size(), m, expression))
    return std::nullopt;
  double value = 0;
  const auto [end, ec] = std::from_chars(m[1].first, m[1].second, value);
  if (ec != std::errc() || end != m[1].second || !std::isfinite(value))
    return std::nullopt;
  return value;
}

} // namespace

std::optional<double> figure_of_log(const std::string& path, const std::regex& expression) {
  std::ifstream in(path, std::ios::binary);
  double sum = 0;
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) {
    for (std::size_t from = 0; from <= line.size();) { // progress bars write over their line
      const std::size_t end = std::min(line.find('\r', from), line.size());
      if (const auto value =
              figure_in(std::string_view(line).substr(from, end - from), expression)) {
        sum += *value;
        ++count;
      }
      from = end + 1;
    }
  }
  if (count == 0)
    return std::nullopt;
  return sum / static_cast<double>(count);
}

} // namespace rankscope
