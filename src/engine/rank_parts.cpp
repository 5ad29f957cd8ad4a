#include "engine/rank_parts.h"

#include "core/error_part.h"
#include "core/run_part.h"

namespace rankscope {
namespace {

constexpr const char* kRankPartsKind = "rank";

} // namespace

template <class Archive, PartOf<NodeShard> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.index, r.count);
  if constexpr (Archive::kReads)
    if (r.index >= r.count)
      archive.fail("not a shard of a run");
}

template <class Archive, PartOf<RankParts> Row> void part_fields(Archive& archive, Row& r) {
  archive.section("about", [&] {
    archive(r.rank, r.path, r.rank_in_file, r.options, r.mark, r.trace_bytes, r.modified_ns, r.node,
            r.lost);
  });
  archive.section("parts", [&] { archive(r.encoded); });
}

std::string encode_rank_parts(const RankParts& parts) {
  return encode_part(kRankPartsKind, kRankPartsVersion, parts);
}

Result<RankParts> decode_rank_parts(std::string_view bytes) {
  return decode_part<RankParts>(kRankPartsKind, kRankPartsVersion, bytes);
}

} // namespace rankscope
