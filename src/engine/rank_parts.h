// RankParts: everything that commands over ranks take of one trace, as parts (core/part.h) by name;
// what a rank's file holds. PartSource hands them to run_ranks in place of the trace.
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

/// What a part is called and which fields it has.
struct PartName {
  const char* name; ///< kind of the part too
  std::uint32_t version;
};

/// A shard that finds the traces of its own node's disk.
struct NodeShard {
  std::uint64_t index = 0, count = 1;
  bool operator==(const NodeShard&) const = default;
};

struct ShardFile;

struct RankParts {
  std::int64_t rank = 0;
  std::string path; ///< of the trace
  std::optional<std::int64_t> rank_in_file;
  std::string options; ///< a text of all options that the parts depend on
  std::string mark;    ///< identifies the version of the trace and the options of reading
  std::uint64_t trace_bytes = 0;
  std::int64_t modified_ns = 0;
  std::optional<NodeShard> node;           ///< which alone sees the trace; none = all do
  std::optional<Error> lost;               ///< why there are no parts
  std::map<std::string, std::string> held; ///< bytes of facts, by the keys of Needs
};

inline constexpr std::uint32_t kRankPartsVersion = 3;

/// The bytes of a rank's file.
[[nodiscard]] std::string encode_rank_parts(const RankParts& parts);
/// From untrusted bytes. Errors: kUnreadable.
[[nodiscard]] Result<RankParts> decode_rank_parts(std::string_view bytes);

class PartSource : public Interface {
public:
  /// From any thread, several at once. Errors: why there are none; of a rank that was lost when the
  /// parts were made, that.
  [[nodiscard]] virtual Result<RankParts> parts_of(const RunPlan& plan,
                                                   const RankFile& file) const = 0;
  /// Copies the file of this kind in the folder of a rank's part to `path`. Errors: kUnreadable
  /// when it is absent, kOutput.
  [[nodiscard]] virtual Result<void> copy_report(const RankFile& file, std::string_view kind,
                                                 const std::string& path) const = 0;
  /// When the trace was last changed, where it lay; 0 = not known.
  [[nodiscard]] virtual std::int64_t modified_ns(const RankFile& file) const = 0;
  /// What discovery found and what was taken of each rank.
  [[nodiscard]] virtual const ShardFile& facts() const = 0;
};

} // namespace rankscope
