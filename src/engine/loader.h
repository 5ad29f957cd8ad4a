// Loader: reads traces and builds their call trees. It loads several traces at the same time,
// within a memory limit.
#pragma once

#include "core/loaded_trace.h"
#include "readers/discovery.h"
#include "readers/reader.h"

#include <functional>

namespace rankscope {

struct LoadOptions {
  unsigned threads = 1;                 ///< total number of threads, for all files
  TaskPool* pool = nullptr;             ///< pool that has these threads; nullptr: create a pool
  std::uint64_t memory_limit_bytes = 0; ///< 0 = half of the machine's free memory
  bool keep_python = false;
  bool frames_in_tree = true;              ///< include Python frames in the call tree
  bool keep_launches = false;              ///< read the kernel names of runtime calls
  bool link = true;                        ///< build the call tree
  TreeRules rules = TreeRules::kRankscope; ///< rules for the call tree
  std::size_t most_in_flight = 0;        ///< only load_each: maximum number of files in flight, 0 =
                                         ///< as many as threads
  std::optional<std::int64_t> rank = {}; ///< only load_trace: the rank to read, if the file
                                         ///< contains several
  Readers known = readers();             ///< readers that are tried
  std::function<bool()> cancelled = {};  ///< only load_each: if it returns true, no other file is
                                         ///< begun
  /// only load_each: if it returns true for a file, the file is not read; `consume` gets an empty
  /// trace.
  std::function<bool(std::size_t)> left_out = {};
};

/// Reads one trace and builds its call tree. If the trace contains no GPU work, a warning is added
/// to it here, so that all commands report this.
Result<LoadedTrace> load_trace(const std::string& path, const LoadOptions& options);

/// Returns an estimate of the memory that is needed while a file of this size on disk is loaded.
/// Compressed files are assumed to be 16 times as large when decompressed.
[[nodiscard]] std::uint64_t estimated_memory(const RankFile& file);

/// Calls `consume(index, loaded)` once for each file, from any thread of the pool and in any order.
/// The trace is destroyed when `consume` returns, unless `consume` moves it. At most
/// `most_in_flight` files are in flight at the same time, and only as many as the memory limit
/// allows (always at least one). If a file cannot be read, `consume` gets the Error, and the other
/// files are still loaded. If `consume` throws an exception, it is called again with the exception
/// as an Error. Files are begun in order, so `consume` may wait for earlier files, but not for
/// later ones.
Result<void> load_each(const std::vector<RankFile>& files, const LoadOptions& options,
                       const std::function<void(std::size_t, Result<LoadedTrace>)>& consume);

} // namespace rankscope
