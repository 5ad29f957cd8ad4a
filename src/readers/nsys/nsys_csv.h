// Reads the CSV tables of `nsys stats`.
#pragma once

#include "base/result.h"
#include "core/nsys_data.h"

namespace rankscope {

/// Reads the tables whose path is not empty. Columns are found by their headers, which also contain
/// the time unit. Errors: kUnreadable if a file or column is missing.
Result<NsysData> read_nsys_csv(const std::string& kernel_sum, const std::string& nvtx_proj_trace,
                               const std::string& mem_time_sum);

} // namespace rankscope
