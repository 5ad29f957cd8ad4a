#include "readers/trace_stamp.h"

#include "os/file_stamp.h"
#include "readers/rocprof/csv_fields.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

void add(TraceStamp& stamp, const std::string& path) {
  const std::optional<FileStamp> file = file_stamp(path);
  if (!file)
    return;
  stamp.bytes += file->bytes;
  stamp.changed_ns = std::max(stamp.changed_ns, file->written_ns);
}

} // namespace

std::string TraceStamp::text() const {
  return changed_ns == 0 ? "absent" : fmt::format("{} {}", bytes, changed_ns);
}

TraceStamp trace_stamp(const std::string& path) {
  TraceStamp out;
  const std::optional<std::string> prefix = prefix_of(path);
  if (!prefix || path.find(".csv", prefix->size()) == std::string::npos) {
    add(out, path);
    return out;
  }
  for (const std::string_view kind : kCsvKinds)
    for (const char* ending : {".csv", ".csv.gz", ".csv.zst"})
      add(out, fmt::format("{}{}{}", *prefix, kind, ending));
  return out;
}

} // namespace rankscope
