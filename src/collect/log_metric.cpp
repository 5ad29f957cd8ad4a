#include "collect/log_metric.h"

#include "base/statistics.h"
#include "base/to_number.h"
#include "collect/leading_number.h"
#include "collect/library_trace/line_splitter.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

/// std::regex recurses once for each character of a match, so a longer text could overflow the
/// stack. A longer line is searched in pieces that overlap by half.
constexpr std::size_t kPiece = 4096;
constexpr std::array<std::pair<std::string_view, MetricKind>, 5> kMetricKinds = {
    {{"mean", MetricKind::kAverage},
     {"max", MetricKind::kLargest},
     {"min", MetricKind::kSmallest},
     {"median", MetricKind::kMiddle},
     {"last", MetricKind::kLast}}};

/// Applies the prefix `word` to the metric. Returns false when `word` is not a prefix.
bool apply_prefix(std::string_view word, LogMetric& metric) {
  for (const auto& [name, kind] : kMetricKinds)
    if (word == name) {
      metric.kind = kind;
      return true;
    }
  constexpr std::string_view kSkip = "skip=";
  if (!word.starts_with(kSkip))
    return false;
  word.remove_prefix(kSkip.size());
  const auto skip = to_number<std::size_t>(word);
  metric.skip = skip.value_or(metric.skip);
  return skip.has_value();
}

/// Calls `add` with each number that group 1 matches in a line. A match counts in the piece that
/// contains its begin in the first half, so that it is not cut off unless it is longer than half a
/// piece.
template <typename Add>
void add_numbers(std::string_view line, const std::regex& expression, const Add& add) {
  namespace flags = std::regex_constants;
  std::cmatch match;
  std::size_t from = 0; // the end of the previous match
  for (std::size_t at = 0;; at += kPiece / 2) {
    const std::size_t end = std::min(at + kPiece, line.size());
    const bool is_last = end == line.size();
    const std::size_t begins_end = is_last ? end : at + kPiece / 2;
    for (from = std::max(from, at); from < begins_end;) {
      auto how = flags::match_default;
      if (from > 0)
        how |= flags::match_prev_avail | flags::match_not_bol;
      if (!is_last)
        how |= flags::match_not_eol;
      const char* const text = line.data();
      if (!std::regex_search(text + from, text + end, match, expression, how))
        break;
      const auto begin = static_cast<std::size_t>(match[0].first - text);
      if (begin >= begins_end)
        break; // the next piece contains more of this match
      const std::string_view group(match[1].first, static_cast<std::size_t>(match[1].length()));
      if (const auto number = leading_number(group); number && number->length == group.size())
        add(number->value);
      from = std::max(static_cast<std::size_t>(match[0].second - text), begin + 1);
    }
    if (is_last)
      return;
  }
}

double metric_of(std::vector<double> values, MetricKind kind) {
  switch (kind) {
  case MetricKind::kLargest:
    return *std::max_element(values.begin(), values.end());
  case MetricKind::kSmallest:
    return *std::min_element(values.begin(), values.end());
  case MetricKind::kLast:
    return values.back();
  case MetricKind::kMiddle:
    return quantile_of(std::move(values), 0.5);
  case MetricKind::kAverage:
    break;
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

Result<LogMetric> parse_log_metric(const std::string& text) {
  LogMetric out;
  std::string_view rest = text;
  for (std::size_t colon = rest.find(':');
       colon != std::string_view::npos && apply_prefix(rest.substr(0, colon), out);
       colon = rest.find(':'))
    rest.remove_prefix(colon + 1);
  const std::string expression(rest);
  try {
    out.expression = std::regex(expression);
    if (out.expression.mark_count() < 1)
      return Error{ErrorCode::kUsage, "--metric",
                   "needs a group for the number: 'step ([0-9.]+) ms'", ""};
    return out;
  } catch (const std::regex_error& e) {
    return Error{ErrorCode::kUsage, "--metric", "'" + expression + "': " + e.what(), ""};
  }
}

std::optional<double> metric_of_log(const std::string& path, const LogMetric& metric) {
  std::ifstream in(path, std::ios::binary);
  std::vector<double> values;
  std::size_t found = 0;
  const auto take_line = [&](std::string_view line, std::string_view) {
    add_numbers(line, metric.expression, [&](double value) {
      if (found++ >= metric.skip)
        values.push_back(value);
    });
  };
  LineSplitter lines;
  std::string buffer(std::size_t{1} << 18, '\0');
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), in.gcount() > 0) {
    const auto end = buffer.begin() + in.gcount();
    std::replace(buffer.begin(), end, '\r', '\n'); // progress bars overwrite their line
    lines.feed(std::string_view(buffer).substr(0, static_cast<std::size_t>(in.gcount())),
               take_line);
  }
  lines.finish(take_line);
  if (values.empty())
    return std::nullopt;
  return metric_of(std::move(values), metric.kind);
}

} // namespace rankscope
