// RankParts: all data that commands need from one trace, as named parts (core/part.h). They are
// stored in one file per rank. run_ranks gets them from a PartSource instead of reading the trace.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "core/part.h"
#include "readers/discovery.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// The name of a kind of part, and the version of its fields.
struct PartName {
  const char* name; ///< also the kind in the part's header
  std::uint32_t version;
};

/// The shard that can read a trace, if the trace is on the disk of one node.
struct NodeShard {
  std::uint64_t index = 0, count = 1;
  bool operator==(const NodeShard&) const = default;
};

struct ShardFile;

struct RankParts {
  std::int64_t rank = 0;
  std::string path; ///< path of the trace
  std::optional<std::int64_t> rank_in_file;
  std::string options; ///< text that contains all options on which the parts depend
  std::string mark;    ///< identifies the version of the trace, and the options with which it was
                       ///< read
  std::uint64_t trace_bytes = 0;
  std::int64_t modified_ns = 0;
  std::optional<NodeShard> node; ///< only this shard can read the trace; empty = all shards can
  std::optional<Error> lost;     ///< why there are no parts
  std::map<std::string, std::string> encoded; ///< encoded facts, by their keys in Needs
};

inline constexpr std::uint32_t kRankPartsVersion = 3;

/// Returns the content of a rank's file.
[[nodiscard]] std::string encode_rank_parts(const RankParts& parts);
/// Decodes untrusted bytes. Errors: kUnreadable.
[[nodiscard]] Result<RankParts> decode_rank_parts(std::string_view bytes);

class PartSource : public Interface {
public:
  /// Reads the parts of a rank. Several threads may call it at the same time. Errors: why the parts
  /// cannot be read; if the rank was lost when the parts were made, the error of that time.
  [[nodiscard]] virtual Result<RankParts> parts_of(const RunPlan& plan,
                                                   const RankFile& file) const = 0;
  /// Copies a report of this kind, which is in the same folder as the part of the rank, to `path`.
  /// Errors: kUnreadable if there is no such report, kOutput.
  [[nodiscard]] virtual Result<void> copy_report(const RankFile& file, std::string_view kind,
                                                 const std::string& path) const = 0;
  /// Returns the time at which the trace was last changed where the parts were made; 0 = unknown.
  [[nodiscard]] virtual std::int64_t modified_ns(const RankFile& file) const = 0;
  /// Returns the discovered runs and the options of the parts.
  [[nodiscard]] virtual const ShardFile& facts() const = 0;
};

} // namespace rankscope
