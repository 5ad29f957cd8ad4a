#include "writers/stream_writer.h"

#include <utility>

namespace rankscope {

Result<void> write_streams(const Writer& writer, const Report& report, const RowStreams& streams,
                           const std::string& path) {
  using Write = Result<void> (*)(const Report&, const RowStreams&, const std::string&);
  const std::pair<const Writer*, Write> kWriters[] = {{&csv_writer, write_csv_streams},
                                                      {&json_writer, write_json_streams},
                                                      {&xlsx_writer, write_xlsx_streams}};
  for (const auto& [streaming_writer, write] : kWriters)
    if (streaming_writer == &writer)
      return write(report, streams, path);
  Report full = report;
  RS_CHECK(load_rows(full, streams));
  return writer.write(full, path);
}

} // namespace rankscope
