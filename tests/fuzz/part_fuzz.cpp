// Bytes as a part of every rank analysis, with a checksum that fits: what decodes encodes to a part
// that decodes to the same.
#include "analyses/rank_analysis.h"

#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, unsigned long size) {
  using namespace rankscope;
  const std::string input(reinterpret_cast<const char*>(data), size);
  for (const RankAnalysis* analysis : rank_analyses()) {
    PartWriter head(analysis->name, analysis->version);
    std::string bytes = std::move(head).finish();
    bytes.resize(bytes.size() - 8);
    bytes += input;
    const std::uint64_t sum = part_checksum(bytes);
    for (unsigned shift = 0; shift < 64; shift += 8)
      bytes += static_cast<char>((sum >> shift) & 0xffU);
    const auto part = analysis->decode(*analysis, bytes);
    if (!part)
      continue;
    const std::string again = analysis->encode(*analysis, *part);
    const auto back = analysis->decode(*analysis, again);
    if (!back || analysis->encode(*analysis, *back) != again)
      std::abort();
  }
  return 0;
}
