// Facts of ranks that are cached from run to run, so that a second command over the same ranks
// reads no trace: a file for each fact in the user's cache folder, never in the folders of the
// traces.
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
/// nanoseconds, and a hash of the first and the last 64 KiB, for each of its files. nullopt for
/// anything except regular files, and for a file that was changed less than two seconds ago: a
/// further change could leave all of these as they are.
[[nodiscard]] std::optional<std::string> trace_identity(const RankFile& file);

/// Thread-safe; several processes may use one folder. Nothing here fails: where the folder cannot
/// be used, nothing is cached.
class FactCache : public NonCopyable {
public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;

  explicit FactCache(std::string folder, std::uint64_t most_bytes = kMostBytes);
  /// Removes what was used longest ago, when something was stored and the total exceeds
  /// `most_bytes`.
  ~FactCache();

  /// The bytes of the fact `key` of this trace, as this program has stored them.
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
  /// Removes all facts; nothing else in the folder. Returns how much that was.
  Size clear();

private:
  [[nodiscard]] std::string path_of(const RankFile& file, const std::string& key) const;
  Size trim(std::uint64_t most_bytes);

  std::string folder_;
  std::uint64_t most_bytes_;
  std::string program_; ///< the program file: another one may compute something else
  std::atomic<bool> stored_ = false;
};

/// $XDG_CACHE_HOME/rankscope, else ~/.cache/rankscope; "" where there is neither.
[[nodiscard]] std::string default_cache_folder();

} // namespace rankscope
