// Input: the file of a rank's parts, the file of a shard, and the parts in them, with a valid frame
// and checksum. What can be decoded must encode to bytes that decode to the same.
#include "analyses/collectives/identity_part.h"
#include "analyses/compare/compare_part.h"
#include "analyses/gemm/gemm_part.h"
#include "analyses/sweep/sweep_part.h"
#include "analyses/top/top_part.h"
#include "core/diagnostics_part.h"
#include "engine/rank_parts.h"
#include "engine/shard_file.h"
#include "fuzz/fuzz_target.h"
#include "pages/data/rank_page_part.h"

#include <cstdlib>
#include <string>

namespace {

using namespace rankscope;

/// Returns these bytes as the content of a part of `kind`.
std::string framed(std::string_view kind, std::string_view content, std::uint32_t version = 1) {
  std::string bytes = PartWriter(kind, version).finish();
  bytes.resize(bytes.size() - 8); // removes the checksum
  bytes += content;
  const std::uint64_t sum = part_checksum(bytes);
  for (unsigned shift = 0; shift < 64; shift += 8)
    bytes += static_cast<char>((sum >> shift) & 0xffU);
  return bytes;
}

template <class Decode, class Encode>
void both_ways(const std::string& bytes, const Decode& decode, const Encode& encode) {
  const auto part = decode(bytes);
  if (!part)
    return;
  const std::string again = encode(*part);
  const auto back = decode(again);
  if (!back || encode(*back) != again)
    std::abort();
}

template <class Part> void part_of(std::string_view content) {
  both_ways(
      framed("p", content), [](std::string_view b) { return decode_part<Part>("p", 1, b); },
      [](const Part& part) { return encode_part("p", 1, part); });
}

} // namespace

RS_FUZZ_TARGET(rank_parts) {
  both_ways(framed("rank", bytes, kRankPartsVersion), decode_rank_parts, encode_rank_parts);
  both_ways(framed("shard", bytes, kShardFileVersion), decode_shard_file, encode_shard_file);
  part_of<RankCollectives>(bytes);
  part_of<GemmFacts>(bytes);
  part_of<RankRecord>(bytes);
  part_of<ComparePart>(bytes);
  part_of<RankIdentity>(bytes);
  part_of<TopRank>(bytes);
  part_of<RankPage>(bytes);
  part_of<Diagnostics>(bytes);
}
