// Bytes as a part of every rank analysis, with a checksum that fits: what decodes encodes to a part
// that decodes to the same.
#include "analyses/rank_analysis.h"
#include "fuzz/fuzz_target.h"

#include <cstdlib>
#include <string>

RS_FUZZ_TARGET(part) {
  using namespace rankscope;
  for (const RankAnalysis* analysis : rank_analyses()) {
    PartWriter head(analysis->name, analysis->version);
    std::string content = std::move(head).finish();
    content.resize(content.size() - 8);
    content += bytes;
    const std::uint64_t sum = part_checksum(content);
    for (unsigned shift = 0; shift < 64; shift += 8)
      content += static_cast<char>((sum >> shift) & 0xffU);
    const auto part = analysis->decode(*analysis, content);
    if (!part)
      continue;
    const std::string again = analysis->encode(*analysis, *part);
    const auto back = analysis->decode(*analysis, again);
    if (!back || analysis->encode(*analysis, *back) != again)
      std::abort();
  }
}
