// Copies entries of a Kineto trace unchanged into several files, each of which is again a trace.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// An output file. It gets some of the entries of traceEvents and all other members of the root.
struct KinetoPart {
  std::string path;                   ///< compressed if it ends in .gz
  std::vector<std::uint32_t> entries; ///< indices of the entries, ascending
  std::vector<std::int64_t> flow_ids; ///< ids of flow events (ph s, t, f), ascending
  /// Time windows for instants and counters, in ns including both ends, sorted by start.
  std::vector<std::pair<std::int64_t, std::int64_t>> windows_ns{};
};

struct KinetoCopyRules {
  /// The uids of the complete events that were read, ascending. All other entries are parsed here.
  std::vector<std::uint32_t> events;
  std::uint64_t all_entries = 0; ///< number of entries in the file
  /// Whether every part gets all metadata (ph M). If false, it gets only metadata without ts.
  bool metadata = true;
  bool forward_flows = false; ///< also select fwdbwd flows by their id
};

/// Reads the file and writes the parts. Each part has a temporary name until it is complete.
/// Returns the number of entries per part. Entries are copied byte by byte; entries that are not
/// JSON objects are omitted. Errors: kUnreadable if the file is damaged or truncated, or changed
/// after it was read (it does not have `all_entries` entries); kOutput.
Result<std::vector<std::uint64_t>> copy_kineto_parts(const std::string& path,
                                                     const std::vector<KinetoPart>& parts,
                                                     const KinetoCopyRules& rules);

} // namespace rankscope
