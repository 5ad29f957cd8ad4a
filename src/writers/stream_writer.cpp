#include "writers/stream_writer.h"

#include <utility>

namespace rankscope {

Result<void> write_streams(const Writer& writer, const Report& report, const RowStreams& streams,
                           const std::string& path) {
  using Write = Result<void> (*)(const Report&, const RowStreams&, const std::string&);
  const std::pair<const Writer*, Write> kWriters[] = {{&csv_writer, write_csv_streams},
                                                      {&json_writer, write_json_streams},
                                                      {&xlsx_writer, write_xlsx_streams}};
  for (const auto& [of, write] : kWriters)
    if (of == &writer)
      return write(report, streams, path);
  Report whole = report;
  RS_CHECK(hold_rows(whole, streams));
  return writer.write(whole, path);
}

} // namespace rankscope
