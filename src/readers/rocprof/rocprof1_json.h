// Reads results.json of the first rocprof (rocprof_json.cpp reads the JSON of rocprofv3).
#pragma once

#include "readers/reader.h"
#include "readers/rocprof/json_stream.h"

#include <string>
#include <string_view>

namespace rankscope {

/// Returns whether the first bytes of a file are such a JSON: traceEvents with BeginNs in args.
[[nodiscard]] bool is_rocprof1_json(std::string_view head);

/// Reads the rest of a document; `first` is its first key, which has been read. Errors: kUnreadable
/// if there are no events.
Result<void> read_rocprof1_json(JsonStream& in, std::string first, const std::string& path,
                                const TraceSink& sink);

} // namespace rankscope
