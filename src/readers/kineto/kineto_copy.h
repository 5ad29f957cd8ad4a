// Copies entries of a Kineto trace unchanged into several files; each of these files is a trace
// too.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// An output file. It contains the selected entries of traceEvents, and all other members of the
/// root object.
struct KinetoPart {
  std::string path;                   ///< path; the file is compressed if the path ends in .gz
  std::vector<std::uint32_t> entries; ///< indices of the complete events to copy, ascending
  std::vector<std::int64_t> flow_ids; ///< ids of the flow events (ph s, t, f) to copy, ascending
  /// Time windows in which instants and counters are copied, in ns including both ends, sorted by
  /// start.
  std::vector<std::pair<std::int64_t, std::int64_t>> windows_ns{};
};

struct KinetoCopyRules {
  /// The uids of the complete events that the reader stored, ascending. All other entries are
  /// parsed during the copy.
  std::vector<std::uint32_t> events;
  std::uint64_t all_entries = 0; ///< number of entries in the file
  /// true: every part gets all metadata (ph M); false: only metadata without ts.
  bool metadata = true;
  bool forward_flows = false; ///< also select the fwdbwd flows by their ids
};

/// Reads the file and writes the parts. Each part has a temporary name until it is complete.
/// Returns the number of entries of each part. Entries are copied byte by byte; entries that are
/// not JSON objects are omitted. Errors: kUnreadable if the file is damaged or truncated, or if it
/// has changed since it was read (its number of entries is not `all_entries`); kOutput.
Result<std::vector<std::uint64_t>> copy_kineto_parts(const std::string& path,
                                                     const std::vector<KinetoPart>& parts,
                                                     const KinetoCopyRules& rules);

} // namespace rankscope
