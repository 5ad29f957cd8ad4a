// The size and modification time of a file: they show when another file has replaced it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rankscope {

struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t written_ns = 0; ///< unix time
  bool operator==(const FileStamp&) const = default;
};
/// Returns the stamp of a file; empty when the path does not exist or is not accessible.
[[nodiscard]] std::optional<FileStamp> file_stamp(const std::string& path);

} // namespace rankscope
