// Copies entries of a Kineto trace unchanged into parts, each of which is a trace again.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// A file that gets some of the entries of traceEvents and all other members of the root.
struct KinetoPart {
  std::string path;                   ///< .gz: compressed
  std::vector<std::uint32_t> entries; ///< their indices, ascending
  std::vector<std::int64_t> flow_ids; ///< of flow events (ph s, t, f), ascending
  /// Instants and counters in one of these, ends included; ts in ns, by start.
  std::vector<std::pair<std::int64_t, std::int64_t>> windows_ns{};
};

struct KinetoCopyRules {
  /// Complete events that were read (uids), ascending; all other entries are inspected.
  std::vector<std::uint32_t> events;
  std::uint64_t all_entries = 0; ///< of the file
  /// Copies all metadata (ph M) into every part; false: only metadata without ts.
  bool metadata = true;
  bool forward_flows = false; ///< also select flows of category fwdbwd by their id
};

/// Reads the file and writes the parts, each under a temporary name until it is complete; returns
/// the number of entries of each. Copies entries byte by byte and omits those that are not JSON
/// objects. Errors: kUnreadable for a damaged or truncated file, or one that changed since it was
/// read (its number of entries is not `all_entries`); kOutput.
Result<std::vector<std::uint64_t>> copy_kineto_parts(const std::string& path,
                                                     const std::vector<KinetoPart>& parts,
                                                     const KinetoCopyRules& rules);

} // namespace rankscope
