#include "readers/trace_stamp.h"

#include "os/file_stamp.h"
#include "readers/rocprof/csv_fields.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {

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

std::int64_t trace_modified_ns(const std::string& path) {
  std::int64_t out = 0;
  for (const std::string& file : files_of_trace(path))
    if (const std::optional<FileStamp> stamp = file_stamp(file))
      out = std::max(out, stamp->written_ns);
  return out;
}

} // namespace rankscope
