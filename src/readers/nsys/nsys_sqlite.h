// Reads the SQLite export of Nsight Systems and computes values as `nsys stats` does.
#pragma once

#include "base/result.h"
#include "core/nsys_data.h"

namespace rankscope {

/// Reads kernel sums by demangled name, memory times by operation, and NVTX ranges projected onto
/// the GPU work that the same thread launched inside them (docs/nsys.md). Errors: kUnreadable if
/// the file is not such a database or has no kernel table.
Result<NsysData> read_nsys_sqlite(const std::string& path, bool with_nvtx, bool with_memory);

} // namespace rankscope
