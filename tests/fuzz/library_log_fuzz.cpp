// Input: a log. Read at once and byte by byte, the tables must be the same, and no line may be
// lost.
#include "collect/library_trace/library_trace.h"
#include "fuzz/fuzz_target.h"
#include "temp_folder.h"

#include <cstdlib>
#include <string>

namespace {

struct Tables {
  std::string csv, detail, others;
  std::uint64_t lines = 0;
};

Tables tables_of(std::string_view bytes, std::size_t piece) {
  static const rankscope::test::TempFolder folder;
  rankscope::LibraryTraceOptions options;
  options.csv = folder.path("t.csv");
  options.detail_csv = folder.path("d.csv");
  options.created = "now";
  options.max_configs = 8;
  rankscope::LibraryTrace trace(options);
  Tables out;
  for (std::size_t i = 0; i < bytes.size(); i += piece)
    trace.feed(0, bytes.substr(i, piece), {}, &out.others);
  trace.end(0, &out.others);
  const auto summary = trace.finish();
  if (!summary)
    std::abort();
  out.lines = summary->lines;
  out.csv = rankscope::test::bytes_of(options.csv);
  out.detail = rankscope::test::bytes_of(options.detail_csv);
  return out;
}

} // namespace

RS_FUZZ_TARGET(library_log) {
  const Tables complete = tables_of(bytes, bytes.size() + 1);
  const Tables pieces = tables_of(bytes, 1 + bytes.size() / 7);
  if (complete.csv != pieces.csv || complete.detail != pieces.detail ||
      complete.others != pieces.others || complete.lines != pieces.lines)
    std::abort();
  std::uint64_t ends = 0;
  for (const char c : bytes)
    ends += c == '\n' ? 1 : 0;
  if (complete.lines != ends + (bytes.empty() || bytes.back() == '\n' ? 0 : 1))
    std::abort();
}
