// Writes reports whose tables may have row streams: their rows are made when they are written.
#pragma once

#include "core/row_stream.h"
#include "writers/writer.h"

#include <functional>
#include <string>
#include <string_view>

namespace rankscope {

/// Writes a report like writer.write(). If the writer needs all rows of a table at the same time
/// (Markdown), all rows are in memory.
Result<void> write_streams(const Writer& writer, const Report& report, const RowStreams& streams,
                           const std::string& path);

/// Passes the text of json_text() to `write` in pieces.
Result<void> write_json(const Report& report, const RowStreams& streams,
                        const std::function<void(std::string_view)>& write);

Result<void> write_csv_streams(const Report& report, const RowStreams& streams,
                               const std::string& folder);
Result<void> write_json_streams(const Report& report, const RowStreams& streams,
                                const std::string& path);
Result<void> write_xlsx_streams(const Report& report, const RowStreams& streams,
                                const std::string& path);

} // namespace rankscope
