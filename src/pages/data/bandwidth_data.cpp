#include "pages/data/bandwidth_data.h"

#include "base/statistics.h"

#include <cmath>
#include <limits>

namespace rankscope {

void add_bandwidth(JsonWriter& json, const SyncSummary& summary) {
  const Stats& bus = summary.bus_gbps;
  const auto n = static_cast<double>(bus.count);
  const double half = bus.count < 2 ? std::numeric_limits<double>::quiet_NaN()
                                    : student_t95(n - 1) * bus.std_sample / std::sqrt(n);
  json.text("name", summary.name);
  json.text("dtype", summary.dtype);
  json.text("group", summary.group);
  json.integer("size", summary.group_size == kNoId ? 0 : summary.group_size);
  json.integer("count", static_cast<std::int64_t>(summary.count));
  json.number("mib", summary.full_mib);
  json.number("bus", bus.mean);
  json.number("low", bus.mean - half);
  json.number("high", bus.mean + half);
  json.number("latency_us", summary.latency_us.mean);
  json.number("skew_us", summary.start_skew_us.mean);
  json.number("total_ms", summary.total_latency_ms);
}

} // namespace rankscope
