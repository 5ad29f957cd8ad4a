// Configurations on disk, if they are too many for memory: sorted runs in one temporary file. The
// file is unlinked after it is opened, so it does not outlive the process.
#pragma once

#include "base/result.h"
#include "collect/library_trace/config_count.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rankscope {

using ConfigOrder = bool (*)(const ConfigCount&, const ConfigCount&);
/// Returns whether `a` sorts before `b` by kind and text. Equal entries are one configuration.
[[nodiscard]] bool config_text_before(const ConfigCount& a, const ConfigCount& b);
/// Returns whether `a` sorts before `b` in the tables: by kind, most calls first, then by text.
[[nodiscard]] bool config_row_before(const ConfigCount& a, const ConfigCount& b);
/// Adds `later`, which was seen after `first`, to `first`.
void add_config(ConfigCount& first, ConfigCount&& later);

class ConfigSpill {
public:
  ConfigSpill() = default;
  ~ConfigSpill();
  ConfigSpill(ConfigSpill&& other) noexcept;
  ConfigSpill& operator=(ConfigSpill&& other) noexcept;

  [[nodiscard]] bool empty() const { return runs_.empty(); }
  /// Sorts `entries`, writes them as one run and empties the list. The file is created in `folder`;
  /// "" = the folder for temporary files. Errors: kOutput.
  Result<void> add_run(std::vector<ConfigCount>& entries, ConfigOrder before,
                       const std::string& folder);
  /// Passes the entries of all runs to `each` in sorted order. Among equal entries, those of
  /// earlier runs are first. Errors: kOutput when the file cannot be read or written, and those of
  /// `each`.
  Result<void> merge(ConfigOrder before, const std::string& folder,
                     const std::function<Result<void>(ConfigCount&&)>& each);

private:
  struct Run {
    std::uint64_t begin = 0, end = 0;
  };
  class Reader;
  Result<void> open(const std::string& folder);
  Result<void> write(const ConfigCount& entry);
  Result<void> flush();
  void end_run(std::uint64_t begin) { runs_.push_back({begin, size_}); }
  Result<void> merge_runs(std::size_t first, std::size_t last, ConfigOrder before,
                          const std::function<Result<void>(ConfigCount&&)>& each) const;

  int file_ = -1;
  std::uint64_t size_ = 0; ///< bytes, including those in the buffer
  std::string buffer_;
  std::vector<Run> runs_;
};

} // namespace rankscope
