// RankParts: all data that commands over ranks need from one trace, as named parts (core/part.h).
// They are the content of a rank's file. PartSource passes them to run_ranks in place of the trace.
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

/// The name of a part and the version of its fields.
struct PartName {
  const char* name; ///< also the kind of the part
  std::uint32_t version;
};

/// A shard that discovers the traces on the disk of its node.
struct NodeShard {
  std::uint64_t index = 0, count = 1;
  bool operator==(const NodeShard&) const = default;
};

struct ShardFile;

struct RankParts {
  std::int64_t rank = 0;
  std::string path; ///< path of the trace
  std::optional<std::int64_t> rank_in_file;
  std::string options; ///< a text of all options that the parts depend on
  std::string mark;    ///< identifies the version of the trace and the options of reading
  std::uint64_t trace_bytes = 0;
  std::int64_t modified_ns = 0;
  std::optional<NodeShard> node; ///< the only shard that can see the trace; empty = all shards can
  std::optional<Error> lost;     ///< the reason why there are no parts
  std::map<std::string, std::string> held; ///< bytes of facts by the keys of Needs
};

inline constexpr std::uint32_t kRankPartsVersion = 3;

/// Returns the bytes of a rank's file.
[[nodiscard]] std::string encode_rank_parts(const RankParts& parts);
/// Decodes untrusted bytes. Errors: kUnreadable.
[[nodiscard]] Result<RankParts> decode_rank_parts(std::string_view bytes);

class PartSource : public Interface {
public:
  /// Reads the parts of a rank. Any thread may call it, several at once. Errors: the reason why the
  /// parts cannot be read. For a rank that was lost when parts were made, the error of that loss.
  [[nodiscard]] virtual Result<RankParts> parts_of(const RunPlan& plan,
                                                   const RankFile& file) const = 0;
  /// Copies the file of this kind in the folder of a rank's part to `path`. Errors: kUnreadable
  /// when it is absent, kOutput.
  [[nodiscard]] virtual Result<void> copy_report(const RankFile& file, std::string_view kind,
                                                 const std::string& path) const = 0;
  /// Returns the time of the trace's last change, in its original place; 0 = unknown.
  [[nodiscard]] virtual std::int64_t modified_ns(const RankFile& file) const = 0;
  /// Returns the discovery result and the options of the parts.
  [[nodiscard]] virtual const ShardFile& facts() const = 0;
};

} // namespace rankscope
