// A file in a folder of parts.
#pragma once

#include <string>

namespace rankscope {

/// A file on disk or in memory; the bytes are the same in both cases.
struct PartFile {
  std::string name; ///< name in the folder: "shard_0_of_4.part", "rank12_<16 digits>.part"
  std::string bytes;
};

} // namespace rankscope
