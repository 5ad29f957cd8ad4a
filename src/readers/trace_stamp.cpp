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

std::vector<std::string> files_of_trace(const std::string& path) {
  const std::optional<std::string> prefix = prefix_of(path);
  if (!prefix || path.find(".csv", prefix->size()) == std::string::npos)
    return {path};
  std::vector<std::string> out;
  for (const std::string_view kind : kCsvKinds)
    for (const char* ending : {".csv", ".csv.gz", ".csv.zst"})
      if (std::string file = fmt::format("{}{}{}", *prefix, kind, ending); file_stamp(file))
        out.push_back(std::move(file));
  return out;
}

TraceStamp trace_stamp(const std::string& path) {
  TraceStamp out;
  for (const std::string& file : files_of_trace(path))
    add(out, file);
  return out;
}

} // namespace rankscope
