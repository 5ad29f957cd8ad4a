// Reads results.json of the first rocprof. rocprof_json.cpp reads rocprofv3's JSON.
#pragma once

#include "readers/reader.h"
#include "readers/rocprof/json_stream.h"

#include <string>
#include <string_view>

namespace rankscope {

/// Returns whether a file begins as such a JSON: traceEvents whose args have BeginNs.
[[nodiscard]] bool is_rocprof1_json(std::string_view head);

/// Reads the rest of a document whose first key `first` has been read. Errors: kUnreadable if it
/// has no events.
Result<void> read_rocprof1_json(JsonStream& in, std::string first, const std::string& path,
                                const TraceSink& sink);

} // namespace rankscope
