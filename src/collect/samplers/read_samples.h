// Reads tables of power samples: rankscope's own tables and those of the vendors' programs.
#pragma once

#include "base/result.h"
#include "collect/clock_anchor.h"
#include "model/step_energy.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

struct PowerTable {
  std::map<int, std::vector<PowerSample>> gpus; ///< by number, ascending in time
  /// The first and the last row on both clocks, if the table has CLOCK_MONOTONIC too.
  std::optional<std::pair<ClockAnchor, ClockAnchor>> clocks;
  /// A longer time between two samples is a gap: 2.5 times the median time between samples.
  std::int64_t longest_gap_ns = 0;
};

/// Reads one of these tables, recognized by its header:
/// - gpu_samples.csv of rankscope (t_unix_ns, gpu, power_w);
/// - the documented table, "time,Power(Watt) GPU0,...", local time;
/// - `nvidia-smi --query-gpu=timestamp,index,power.draw --format=csv`, local time;
/// - `amd-smi monitor -p --csv` or `metric --power --csv` with timestamps (timestamp, gpu, and
///   power_usage, socket_power or similar), seconds since 1970.
/// Local times are those of this machine's zone. Readings that are blank or N/A are left out, as is
/// a last row that a killed run left unfinished. Errors: kUnreadable: no such file, no known
/// header, an invalid row, time that runs backwards. `also` gets every line and its end.
Result<PowerTable>
read_power_table(const std::string& path,
                 const std::function<void(std::string_view line, std::string_view end)>& also = {});

/// Returns the GPUs of read_power_table(). Phases are ignored: trace steps have their own times.
Result<std::map<int, std::vector<PowerSample>>> read_power_samples(const std::string& path);

} // namespace rankscope
