// The size and modification time of a file. If they change, another file has replaced the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rankscope {

struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t written_ns = 0; ///< modification time as Unix time
  bool operator==(const FileStamp&) const = default;
};
/// Returns the stamp of a file; empty if the path does not exist or is not accessible.
[[nodiscard]] std::optional<FileStamp> file_stamp(const std::string& path);

} // namespace rankscope
