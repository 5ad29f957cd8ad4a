// Loader: reads and links traces, several at once, the number in flight bounded by memory.
#pragma once

#include "core/loaded_trace.h"
#include "readers/discovery.h"
#include "readers/reader.h"

#include <functional>

namespace rankscope {

struct LoadOptions {
  unsigned threads = 1;                 ///< in total, over files and within one file
  TaskPool* pool = nullptr;             ///< the pool of these threads; nullptr: a separate one
  std::uint64_t memory_limit_bytes = 0; ///< 0 = half of what the machine has free
  bool keep_python = false;
  bool frames_in_tree = true;            ///< Python frames are in the call tree too
  bool keep_launches = false;            ///< the kernels that runtime calls name
  bool link = true;                      ///< build the call tree
  TreeRules rules = TreeRules::kOwn;     ///< of the call tree
  std::size_t most_in_flight = 0;        ///< load_each: files at a time, 0 = as many as threads
  std::optional<std::int64_t> rank = {}; ///< load_trace: of a file with several ranks
  Readers known = readers();             ///< the readers that identify a file
  std::function<bool()> cancelled = {};  ///< load_each: once true, files not yet begun are left out
  /// load_each: true for a file that is not loaded; it is consumed as a trace without events.
  std::function<bool(std::size_t)> left_out = {};
};

/// Reads and links one trace. One without GPU work gets a warning, so that every command shows it.
Result<LoadedTrace> load_trace(const std::string& path, const LoadOptions& options);

/// Estimated memory while a file of this size on disk is loaded (compressed files count 16 times).
[[nodiscard]] std::uint64_t estimated_memory(const RankFile& file);

/// Calls `consume(index, loaded)` once per file, from worker threads, in any order; the trace is
/// released when consume returns unless it moves it away. At most `threads` files are in flight and
/// no more than the memory limit allows (always at least one). An unreadable file arrives as Error
/// and does not stop the others; an exception of `consume` comes back to it as one. Files are begun
/// in order, so consume may wait for earlier files (not for later ones).
Result<void> load_each(const std::vector<RankFile>& files, const LoadOptions& options,
                       const std::function<void(std::size_t, Result<LoadedTrace>)>& consume);

} // namespace rankscope
