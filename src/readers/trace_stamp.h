// When a trace was changed: what tells that something made of it is still good.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope {

/// Of a trace in several files (the tables of rocprofv3) all of them: their bytes together, and the
/// newest time.
struct TraceStamp {
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = 0; ///< unix time; 0: there is none
  /// "1024 1770000000000000000"; "absent".
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] TraceStamp trace_stamp(const std::string& path);

/// The files of a trace that are there: one, or the tables of rocprofv3.
[[nodiscard]] std::vector<std::string> files_of_trace(const std::string& path);

} // namespace rankscope
