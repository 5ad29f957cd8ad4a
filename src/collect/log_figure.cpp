#include "collect/log_figure.h"

#include <charconv>
#include <cmath>
#include <fstream>

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

std::optional<double> figure_of_log(const std::string& path, const std::regex& expression) {
  std::ifstream in(path, std::ios::binary);
  double sum = 0;
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (line.size() > kLongestLine || !std::regex_search(line, m, expression))
      continue;
    const std::string text = m[1].str();
    double value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
      continue;
    sum += value;
    ++count;
  }
  if (count == 0)
    return std::nullopt;
  return sum / static_cast<double>(count);
}

} // namespace rankscope
