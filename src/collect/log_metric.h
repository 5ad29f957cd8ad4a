// A metric that a workload prints, read from its log.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <optional>
#include <regex>
#include <string>

namespace rankscope {

enum class MetricKind { kAverage, kLargest, kSmallest, kMiddle, kLast };

/// How the values of a log become the metric of its run.
struct LogMetric {
  std::regex expression; ///< group 1 is a number
  MetricKind kind = MetricKind::kAverage;
  std::size_t skip = 0; ///< first values that are left out
};

/// "[mean:|max:|min:|median:|last:][skip=N:]EXPRESSION", prefixes in any order. Errors: kUsage when
/// it is not an expression or has no group for the number.
Result<LogMetric> parse_log_metric(const std::string& text);

/// The metric over the numbers that group 1 finds, the first of each line; a carriage return ends a
/// line too. Lines longer than 4 KiB are ignored. None when no line beyond the skipped ones has a
/// number. Memory: 8 bytes per number.
[[nodiscard]] std::optional<double> metric_of_log(const std::string& path, const LogMetric& metric);

} // namespace rankscope
