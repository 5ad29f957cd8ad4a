// Input: the state of watch with a valid frame and checksum. A decoded state must encode to a state
// that decodes to the same, and its judge must accept another window.
#include "analyses/watch/watch_state.h"
#include "core/part.h"
#include "fuzz/fuzz_target.h"

#include <cstdlib>
#include <string>
#include <utility>

RS_FUZZ_TARGET(watch_state) {
  using namespace rankscope;
  std::string encoded = PartWriter(kWatchStateKind, kWatchStateVersion).finish();
  encoded.resize(encoded.size() - 8); // removes the checksum
  encoded += bytes;
  const std::uint64_t sum = part_checksum(encoded);
  for (unsigned shift = 0; shift < 64; shift += 8)
    encoded += static_cast<char>((sum >> shift) & 0xffU);
  auto state = decode_watch_state(encoded);
  if (!state)
    return;
  const std::string again = encode_watch_state(state->inputs, state->state);
  const auto back = decode_watch_state(again);
  if (!back || encode_watch_state(back->inputs, back->state) != again)
    std::abort();
  WatchWindow window;
  window.label = "next";
  window.lateness = {{0, {1, 2, 3}, 2}, {1, {400, 500, 600}, 2}};
  window.bandwidths = {{"all_reduce Float x 4, group 0", {10, 11, 12}}};
  (void)state->state.judge.judge(window);
  (void)state->state.judge.judge_still({0, 1}, "most went on");
}
