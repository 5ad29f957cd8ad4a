// Reads the CSV tables of `nsys stats`.
#pragma once

#include "base/result.h"
#include "core/nsys_data.h"

namespace rankscope {

/// Reads the tables with a non-empty path. Columns are found by header name; the header contains
/// the time unit. Errors: kUnreadable for a missing file or column.
Result<NsysData> read_nsys_csv(const std::string& kernel_sum, const std::string& nvtx_proj_trace,
                               const std::string& mem_time_sum);

} // namespace rankscope
