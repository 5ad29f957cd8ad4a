// Stores bytes for later use: the first bytes in memory, more bytes in a file in the temporary
// folder (TMPDIR). The file is removed with the object.
#pragma once

#include "analyses/collectives/collective_rows.h"
#include "os/scratch_folder.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

class SpilledBytes final : public ByteStore {
public:
  /// The first `in_memory` bytes are stored in memory, the others in a file.
  explicit SpilledBytes(std::size_t in_memory = kInMemory) : in_memory_(in_memory) {}
  ~SpilledBytes() override;

  Result<std::uint64_t> put(std::string_view bytes) override;
  [[nodiscard]] Result<std::string> get(std::uint64_t at, std::size_t size) const override;

  static constexpr std::size_t kInMemory = std::size_t{256} << 20;

private:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;

  Result<void> open_file();
  Result<void> flush();

  const std::size_t in_memory_;
  std::vector<std::string> blocks_; ///< a piece is always in one block, so blocks may be filled
                                    ///< only partly
  std::optional<ScratchFolder> folder_;
  int file_ = -1;
  std::uint64_t file_bytes_ = 0; ///< number of bytes written to the file
  std::string pending_;          ///< bytes that are not written to the file yet
};

} // namespace rankscope
