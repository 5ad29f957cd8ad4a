// Parts that come to one process from the others, on their way into reduce.
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

/// In memory as long as they are few, the others in the temporary folder (TMPDIR), where they are
/// as long as the object.
class GatheredParts {
public:
  /// What is put behind the first `in_memory` bytes goes to a folder.
  explicit GatheredParts(std::uint64_t in_memory = kInMemory) : in_memory_(in_memory) {}

  /// A file of a run. Errors: kOutput.
  Result<void> put(std::size_t run, PartFile file);
  /// Those of a run: files in memory, and folders, which are there as long as this object.
  [[nodiscard]] const std::vector<PartFile>& files(std::size_t run);
  [[nodiscard]] std::vector<std::string> folders(std::size_t run);

  static constexpr std::uint64_t kInMemory = std::uint64_t{256} << 20;

private:
  std::uint64_t in_memory_, held_ = 0;
  std::vector<std::vector<PartFile>> files_; ///< by run
  /// By run: how often a name was put into folders; nodes may call their traces the same.
  std::vector<std::map<std::string, std::size_t>> in_folders_;
  std::optional<ScratchFolder> folder_;
};

} // namespace rankscope
