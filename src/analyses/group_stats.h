// Grouping with the statistics that the reference tables use (docs/reference/report-rules.md 6).
#pragma once

#include "base/units.h"
#include "core/schema.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// Sum, mean, median, standard deviations, minimum and maximum of a list. A value is NaN if the
/// list is too short.
struct Stats {
  double sum = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();
  double median = std::numeric_limits<double>::quiet_NaN();
  double std_sample = std::numeric_limits<double>::quiet_NaN();     ///< divisor n - 1
  double std_population = std::numeric_limits<double>::quiet_NaN(); ///< divisor n
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  std::size_t count = 0;
};

/// Work of some calls (FLOP or bytes) and their kernel time: the calls whose work and time are
/// known.
struct TimedWork {
  double amount = 0, ns = 0;

  void add(double work, double kernel_ns) {
    if (!(kernel_ns > 0) || std::isnan(work))
      return;
    amount += work;
    ns += kernel_ns;
  }
  /// Work per ns; NaN without a call.
  [[nodiscard]] double rate() const {
    return ns > 0 ? amount / ns : std::numeric_limits<double>::quiet_NaN();
  }
};

/// Returns the statistics of the values that are not NaN. O(n log n).
inline Stats stats_of(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return std::isnan(v); }),
               values.end());
  Stats s;
  s.count = values.size();
  if (values.empty())
    return s;
  const auto n = static_cast<double>(values.size());
  s.sum = std::accumulate(values.begin(), values.end(), 0.0);
  s.mean = s.sum / n;
  double squares = 0;
  for (const double v : values)
    squares += (v - s.mean) * (v - s.mean);
  s.std_population = std::sqrt(squares / n);
  if (values.size() > 1)
    s.std_sample = std::sqrt(squares / (n - 1));
  std::sort(values.begin(), values.end());
  s.min = values.front();
  s.max = values.back();
  const std::size_t half = values.size() / 2;
  s.median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return s;
}

/// Returns the statistics, in us, of times given in nanoseconds. The sum is exact before the
/// division, the deviation of equal values is 0, and the order of the values does not affect the
/// last digit. `Ns`: std::int64_t, or double for busy_ns().
template <class Ns = std::int64_t> Stats stats_of_ns(std::vector<Ns> ns) {
  Stats s;
  s.count = ns.size();
  if (ns.empty())
    return s;
  const auto n = static_cast<double>(ns.size());
  std::sort(ns.begin(), ns.end());
  const Ns sum = std::accumulate(ns.begin(), ns.end(), Ns{0});
  const double mean_ns = static_cast<double>(sum) / n;
  s.sum = ns_to_us(sum);
  s.mean = mean_ns / 1e3;
  double squares = 0; // ns
  for (const Ns v : ns)
    squares += (static_cast<double>(v) - mean_ns) * (static_cast<double>(v) - mean_ns);
  s.std_population = std::sqrt(squares / n) / 1e3;
  if (ns.size() > 1)
    s.std_sample = std::sqrt(squares / (n - 1)) / 1e3;
  s.min = ns_to_us(ns.front());
  s.max = ns_to_us(ns.back());
  const std::size_t half = ns.size() / 2;
  s.median = ns.size() % 2 == 1 ? ns_to_us(ns[half]) : ns_to_us(ns[half - 1] + ns[half]) / 2;
  return s;
}

/// A statistic as a column: `name` is the last part of the column's header and id.
struct StatField {
  const char* name;
  double Stats::*value;
};
inline constexpr StatField kMean{"mean", &Stats::mean};
inline constexpr StatField kMedian{"median", &Stats::median};
inline constexpr StatField kStd{"std", &Stats::std_sample};
inline constexpr StatField kMin{"min", &Stats::min};
inline constexpr StatField kMax{"max", &Stats::max};
inline constexpr StatField kSum{"sum", &Stats::sum};
inline constexpr std::array kSpread{kMean, kMedian, kStd, kMin, kMax};
inline constexpr std::array kSpreadAndSum{kMean, kMedian, kStd, kMin, kMax, kSum};

/// Adds the columns ID_mean, ... with the headers LABEL_mean, ... for the statistics `which` of the
/// member `stats`.
template <class Row>
void add_stats(Schema<Row>& schema, const std::string& id, const std::string& label, Unit unit,
               Stats Row::*stats, std::span<const StatField> which, const std::string& help) {
  for (const StatField& stat : which)
    schema.add({id + "_" + stat.name, label + "_" + stat.name, unit,
                [stats, value = stat.value](const Row& r) { return (r.*stats).*value; }, help});
}

/// Fills in two percentages of each row: the share of `value` in the sum over all rows, and the
/// cumulative share down to the row. `value`: a member or a function that returns a time in ns.
/// Shares are 0 if the sum is 0.
template <class Row, class ValueOf> void fill_shares(std::vector<Row>& rows, ValueOf value) {
  double total = 0; // integer nanoseconds below 2^53: exact
  for (const Row& row : rows)
    total += static_cast<double>(std::invoke(value, row));
  const auto share = [total](double ns) { return total > 0 ? ns / total * 100 : 0.0; };
  double running = 0;
  for (Row& row : rows) {
    const auto ns = static_cast<double>(std::invoke(value, row));
    row.percent = share(ns);
    running += ns;
    row.cumulative_percent = share(running);
  }
}

/// Adds the columns that fill_shares() fills.
template <class Row> void add_shares(Schema<Row>& schema, const std::string& quantity) {
  schema.add({"percent", "Percentage (%)", Unit::kPercent, &Row::percent,
              "share of " + quantity + " of all rows"});
  schema.add({"cumulative_percent", "Cumulative Percentage (%)", Unit::kPercent,
              &Row::cumulative_percent, "sum of Percentage (%) from the first row to this row"});
}

/// Drops all rows after the first k (0: keeps all). Adds a note with the original number of rows;
/// the note ends with `more`.
inline void keep_top(Table& table, std::size_t k, const char* more = "; shares refer to all rows") {
  if (k == 0 || table.rows() <= k)
    return;
  std::vector<std::size_t> order(k);
  std::iota(order.begin(), order.end(), std::size_t{0});
  table.notes.push_back("the first " + std::to_string(k) + " of " + std::to_string(table.rows()) +
                        " rows" + more);
  table.reorder(order);
}

} // namespace rankscope
