// Reads the outputs of commands for comparison: all files below a folder by name.
#pragma once

#include "temp_folder.h"

#include <filesystem>
#include <map>
#include <string>

namespace rankscope::test {

/// Returns the contents of files by path below the folder. Left out: files that a command stores
/// for its next run, and the manifest, which contains the name of the folder.
inline std::map<std::string, std::string> files_below(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = std::filesystem::relative(entry.path(), folder).string();
    if (entry.is_regular_file() && name.find(".rankscope") == std::string::npos &&
        !name.ends_with("manifest.json"))
      out[name] = bytes_of(entry.path().string());
  }
  return out;
}

} // namespace rankscope::test
