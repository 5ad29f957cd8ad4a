// Converts saved logs of GPU libraries to tables, for `library-trace` and `profile trace-parse`.
#pragma once

#include "cli/command.h"
#include "collect/library_trace/library_trace.h"

#include <string>
#include <vector>

namespace rankscope {

struct LibraryLogs {
  std::vector<std::string> logs; ///< plain, gzip or zstd; "-" is standard input
  LibraryTraceOptions options;   ///< csv: the table, "-" for standard output
  std::string others;            ///< file for lines that belong to no library; "" = not written
  bool no_detail = false;
};

/// Writes the tables and prints a summary. Errors: kUnreadable, kOutput.
Result<void> parse_library_logs(Context& ctx, const LibraryLogs& f);

} // namespace rankscope
