// Parts that one process receives from the others, before reduce reads them.
#pragma once

#include "app/part_file.h"
#include "base/result.h"
#include "os/scratch_folder.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Stores parts in memory up to a limit, and further parts in the temporary folder (TMPDIR), which
/// exists as long as the object.
class GatheredParts {
public:
  /// Stores the first `in_memory` bytes in memory. Parts that no longer fit go to a folder.
  explicit GatheredParts(std::uint64_t in_memory = kInMemory) : in_memory_(in_memory) {}

  /// Adds a part file to a run. Errors: kOutput.
  Result<void> put(std::size_t run, PartFile file);
  /// files() returns the part files in memory, folders() the folders with the other part files.
  /// Both results are valid as long as this object exists.
  [[nodiscard]] const std::vector<PartFile>& files(std::size_t run);
  [[nodiscard]] std::vector<std::string> folders(std::size_t run);

  static constexpr std::uint64_t kInMemory = std::uint64_t{256} << 20;

private:
  std::uint64_t in_memory_, buffered_ = 0;
  std::vector<std::vector<PartFile>> files_; ///< by run
  /// For each run, how often each name was put into folders: nodes may give their traces equal
  /// names.
  std::vector<std::map<std::string, std::size_t>> in_folders_;
  std::optional<ScratchFolder> folder_;
};

} // namespace rankscope
