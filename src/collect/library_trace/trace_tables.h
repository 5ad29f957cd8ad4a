// Writes library_trace.csv and library_trace_detail.csv.
#pragma once

#include "base/result.h"
#include "collect/library_trace/config_table.h"
#include "collect/library_trace/library_trace.h"

#include <span>

namespace rankscope {

/// Writes `jobid,created_date,model,library,config,calls`: one row per configuration, in the order
/// of LogKind, most calls first. Cells are quoted if necessary.
Result<void> write_trace_table(const LibraryTraceOptions& options, ConfigTable& table);
/// Writes `library,operation,dtype,problem,layout,solution,kernel,calls,bytes,flops,first_s,last_s,
/// processes,ranks,damaged,kernel_us` for the rows of write_trace_table(). bytes, flops and
/// kernel_us are totals of all calls. Damaged lines of a library have a separate row, operation
/// "(damaged)".
Result<void> write_trace_detail(const LibraryTraceOptions& options, ConfigTable& table,
                                std::span<const LibraryCount> counts);

} // namespace rankscope
