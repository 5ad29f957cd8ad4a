// The size and modification time of a trace, which show whether data computed from the trace are
// still valid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope {

/// The stamp of a trace. If a trace has several files (the tables of rocprofv3), the stamp is the
/// sum of the sizes and the newest time.
struct TraceStamp {
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = 0; ///< Unix time; 0: the file does not exist
  /// Returns "1024 1770000000000000000" or "absent".
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] TraceStamp trace_stamp(const std::string& path);

/// Returns the files of a trace: `path` itself, or the existing tables of its rocprofv3 set.
[[nodiscard]] std::vector<std::string> files_of_trace(const std::string& path);

} // namespace rankscope
