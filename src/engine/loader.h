// Loader: reads and links traces. It loads several at once, within a memory limit.
#pragma once

#include "core/loaded_trace.h"
#include "readers/discovery.h"
#include "readers/reader.h"

#include <functional>

namespace rankscope {

struct LoadOptions {
  unsigned threads = 1;                 ///< total, over files and within one file
  TaskPool* pool = nullptr;             ///< pool of these threads; nullptr: a separate pool
  std::uint64_t memory_limit_bytes = 0; ///< 0 = half of the machine's free memory
  bool keep_python = false;
  bool frames_in_tree = true;            ///< include Python frames in the call tree
  bool keep_launches = false;            ///< read the kernel names of runtime calls
  bool link = true;                      ///< build the call tree
  TreeRules rules = TreeRules::kOwn;     ///< rules of the call tree
  std::size_t most_in_flight = 0;        ///< load_each: files in flight, 0 = as many as threads
  std::optional<std::int64_t> rank = {}; ///< load_trace: rank in a file with several ranks
  Readers known = readers();             ///< the readers that identify a file
  std::function<bool()> cancelled = {};  ///< load_each: when true, no further file is begun
  /// load_each: returns true for a file that is not loaded; its trace is consumed without events.
  std::function<bool(std::size_t)> left_out = {};
};

/// Reads and links one trace. A trace without GPU work gets a warning, so that every command shows
/// it.
Result<LoadedTrace> load_trace(const std::string& path, const LoadOptions& options);

/// Returns the estimated memory while a file of this size on disk is loaded (compressed files count
/// 16 times).
[[nodiscard]] std::uint64_t estimated_memory(const RankFile& file);

/// Calls `consume(index, loaded)` once per file, from worker threads, in any order. The trace is
/// released when consume returns unless it moves the trace away. At most `threads` files are in
/// flight and no more than the memory limit allows (always at least one). An unreadable file
/// arrives as Error and does not stop the others. An exception of `consume`
/// is passed to a second call of it as Error. Files are begun in order, so consume may wait for
/// earlier files (not for later ones).
Result<void> load_each(const std::vector<RankFile>& files, const LoadOptions& options,
                       const std::function<void(std::size_t, Result<LoadedTrace>)>& consume);

} // namespace rankscope
