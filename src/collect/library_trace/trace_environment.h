// The variables that turn the libraries' logs on.
#pragma once

#include "collect/library_trace/library_trace.h"

#include <map>
#include <string>

namespace rankscope {

/// Implements LibraryTrace::environment().
[[nodiscard]] EnvironmentChange trace_environment(const LibraryTraceOptions& options,
                                                  const std::map<std::string, std::string>& child);

} // namespace rankscope
