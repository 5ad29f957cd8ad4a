// Entries of a Kineto trace copied as they stand: parts of a trace that are traces again.
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
  /// Complete events that were read (uids), ascending: what is none of them is looked into.
  std::vector<std::uint32_t> events;
  std::uint64_t all_entries = 0; ///< of the file
  /// Metadata (ph M) goes into every part; without this only what has no ts.
  bool metadata = true;
  bool forward_flows = false; ///< flows of category fwdbwd count by their id as others
};

/// Reads the file and writes the parts, each under a temporary name until it is complete; returns
/// how many entries each got. An entry is copied byte by byte. Entries that are no JSON objects are
/// left out. Errors: kUnreadable for a damaged or truncated file, or one that is not what was read
/// before (its entries are not `all_entries`); kOutput.
Result<std::vector<std::uint64_t>> copy_kineto_parts(const std::string& path,
                                                     const std::vector<KinetoPart>& parts,
                                                     const KinetoCopyRules& rules);

} // namespace rankscope
