// Reader for results.json of the first rocprof; rocprofv3's JSON is read in rocprof_json.cpp.
#pragma once

#include "readers/reader.h"
#include "readers/rocprof/json_stream.h"

#include <string>
#include <string_view>

namespace rankscope {

/// Returns whether a file begins as one: traceEvents whose args have BeginNs.
[[nodiscard]] bool is_rocprof1_json(std::string_view head);

/// Continues to read after the key `first` of the document. Errors: kUnreadable without any event.
Result<void> read_rocprof1_json(JsonStream& in, std::string first, const std::string& path,
                                const TraceSink& sink);

} // namespace rankscope
