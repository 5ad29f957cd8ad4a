// A cache of facts of ranks across commands, so that a second command over the same ranks reads no
// trace. Each fact is a file in the user's cache folder, never in the folders of the traces.
#pragma once

#include "base/noncopyable.h"
#include "readers/discovery.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// Identifies the current content of a rank's trace: device, inode, size, times of change in
/// nanoseconds, and a hash of the first and the last 64 KiB, for each of its files. nullopt unless
/// all are regular files, or if a file was changed less than two seconds ago: a further change
/// could leave all these values unchanged.
[[nodiscard]] std::optional<std::string> trace_identity(const RankFile& file);

/// Thread-safe; several processes may use one folder. No function fails: if the folder cannot be
/// used, nothing is cached.
class FactCache : public NonCopyable {
public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;

  explicit FactCache(std::string folder, std::uint64_t most_bytes = kMostBytes);
  /// Removes the least recently used facts if something was stored and the total exceeds
  /// `most_bytes`.
  ~FactCache();

  /// Returns the stored bytes of the fact `key` of this trace. Only this version of the program
  /// counts.
  [[nodiscard]] std::optional<std::string> find(const RankFile& file, const std::string& identity,
                                                const std::string& key) const;
  void store(const RankFile& file, const std::string& identity, const std::string& key,
             std::string_view bytes);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  struct Size {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Size size() const;
  /// Removes all facts, but nothing else in the folder. Returns the removed size.
  Size clear();

private:
  [[nodiscard]] std::string path_of(const RankFile& file, const std::string& key) const;
  Size trim(std::uint64_t most_bytes);

  std::string folder_;
  std::uint64_t most_bytes_;
  std::string program_; ///< program file: another version may compute other facts
  std::atomic<bool> stored_ = false;
};

/// Returns $XDG_CACHE_HOME/rankscope, else ~/.cache/rankscope; "" if both are unknown.
[[nodiscard]] std::string default_cache_folder();

} // namespace rankscope
