// A file of a folder of parts.
#pragma once

#include <string>

namespace rankscope {

/// On disk or in memory; the bytes are the same.
struct PartFile {
  std::string name; ///< in the folder: "shard_0_of_4.part", "rank12_<16 digits>.part"
  std::string bytes;
};

} // namespace rankscope
