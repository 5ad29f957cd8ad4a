// A metric that a workload prints, read from its log.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <optional>
#include <regex>
#include <string>

namespace rankscope {

enum class MetricKind { kAverage, kLargest, kSmallest, kMiddle, kLast };

/// The rule that turns the values of a log into the metric of its run.
struct LogMetric {
  std::regex expression; ///< group 1 is a number
  MetricKind kind = MetricKind::kAverage;
  std::size_t skip = 0; ///< number of values to skip at the beginning
};

/// Parses "[mean:|max:|min:|median:|last:][skip=N:]EXPRESSION", prefixes in any order. Errors:
/// kUsage when the text is not an expression or has no group for the number.
Result<LogMetric> parse_log_metric(const std::string& text);

/// Returns the metric over all numbers that group 1 matches, in the order of the log. A carriage
/// return ends a line too. In a line longer than 4 KiB, a match that is longer than 2 KiB may not
/// be found. Only the first MiB of a line is searched. Returns empty when no number is left after
/// the skipped ones. Memory: 8 bytes per number.
[[nodiscard]] std::optional<double> metric_of_log(const std::string& path, const LogMetric& metric);

} // namespace rankscope
