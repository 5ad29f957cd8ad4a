// By what a file that lies at the same place tells that it is another one.
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
/// None where nothing is there, or nothing that may be looked at.
[[nodiscard]] std::optional<FileStamp> file_stamp(const std::string& path);

} // namespace rankscope
