// The files of a trace and the time of their last change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope {

/// Returns the Unix time in nanoseconds of the last modification of a trace, or of the newest of
/// its files; 0 if there is no file.
[[nodiscard]] std::int64_t trace_modified_ns(const std::string& path);

/// Returns the files of a trace: `path` itself, or the existing tables of its rocprofv3 set.
[[nodiscard]] std::vector<std::string> files_of_trace(const std::string& path);

} // namespace rankscope
