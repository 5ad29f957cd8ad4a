// Input: the state of a configuration and of a sweep that analyze stores, with a valid frame and
// checksum. A decoded state must encode to a part that decodes to the same state.
#include "app/analyze_parts.h"
#include "fuzz/fuzz_target.h"

#include <cstdlib>
#include <string>

namespace {

using namespace rankscope;

template <class State> void state_of(std::string_view content) {
  std::string bytes = PartWriter("state", kStateVersion).finish();
  bytes.resize(bytes.size() - 8); // removes the checksum
  bytes += content;
  const std::uint64_t sum = part_checksum(bytes);
  for (unsigned shift = 0; shift < 64; shift += 8)
    bytes += static_cast<char>((sum >> shift) & 0xffU);
  const auto part = decode_part<State>("state", kStateVersion, bytes);
  if (!part)
    return;
  const std::string again = encode_part("state", kStateVersion, *part);
  const auto back = decode_part<State>("state", kStateVersion, again);
  if (!back || encode_part("state", kStateVersion, *back) != again)
    std::abort();
}

} // namespace

RS_FUZZ_TARGET(analyze_state) {
  state_of<ConfigResult>(bytes);
  state_of<SweepState>(bytes);
}
