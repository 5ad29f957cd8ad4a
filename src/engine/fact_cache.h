// Stores facts of ranks for later commands, so that a second command for the same ranks does not
// read the traces. Each fact is a file in the user's cache folder, never in the folders of the
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

/// Identifies the content of a rank's trace.
struct TraceIdentity {
  /// For each file of the trace: device, inode, size, times of change in nanoseconds, and a hash of
  /// the first and the last 64 KiB.
  std::string text;
  /// Whether any other content has another text. False if one of the files is not a regular file,
  /// or was changed less than two seconds ago: another change could then leave the text the same.
  bool unique = false;
};
[[nodiscard]] TraceIdentity trace_identity(const RankFile& file);

/// Thread-safe. Several processes may use the same folder. Functions do not return errors: if the
/// folder cannot be used, nothing is stored or found.
class FactCache : public NonCopyable {
public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;

  explicit FactCache(std::string folder, std::uint64_t most_bytes = kMostBytes);
  /// If facts were stored and all facts together exceed `most_bytes`, removes those that were not
  /// used for the longest time.
  ~FactCache();

  /// Returns the stored bytes of the fact `key` of this trace, if this version of the program
  /// stored them.
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
  /// Removes all facts; other files in the folder stay. Returns what was removed.
  Size clear();

private:
  [[nodiscard]] std::string path_of(const RankFile& file, const std::string& key) const;
  Size trim(std::uint64_t most_bytes);

  std::string folder_;
  std::uint64_t most_bytes_;
  std::string program_; ///< identifies the program file, because another version may compute other
                        ///< facts
  std::atomic<bool> stored_ = false;
};

/// Returns $XDG_CACHE_HOME/rankscope, else ~/.cache/rankscope; "" if both are unknown.
[[nodiscard]] std::string default_cache_folder();

} // namespace rankscope
