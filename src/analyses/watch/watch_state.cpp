#include "analyses/watch/watch_state.h"

#include "analyses/watch/watch_part.h"

#include <utility>

namespace rankscope {

template <class Archive, PartOf<WatchState::Open> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.number, r.first_step, r.last_step, r.ranks, r.judged);
}
template <class Archive, PartOf<WatchState::Reached> Row>
void part_fields(Archive& archive, Row& r) {
  archive(r.number, r.at_ns);
}
template <class Archive, PartOf<WatchedWindow> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.label, r.number, r.ranks, r.of, r.step_ms, r.exposed_percent, r.bus_gbps, r.latest_rank,
          r.late_us);
}
template <class Archive, PartOf<WatchState> Row> void part_fields(Archive& archive, Row& s) {
  archive(s.read, s.newest, s.world, s.open, s.reached, s.windows_begun, s.judge, s.shown, s.alarms,
          s.raised);
}

namespace {

/// Numbers that later sums, distances and lists of ranks rely on.
void check(PartReader& reader, const WatchState& state) {
  if (state.world < 0 || state.world > kMostWatchedRanks)
    reader.fail("a world that no job has");
  for (const WatchState::Reached& reached : state.reached)
    if (reached.at_ns < 0)
      reader.fail("a time before 1970");
}

} // namespace

std::string encode_watch_state(const std::string& inputs, const WatchState& state) {
  PartWriter writer(kWatchStateKind, kWatchStateVersion);
  writer(inputs, state);
  return std::move(writer).finish();
}

Result<WatchStateFile> decode_watch_state(std::string_view bytes) {
  RS_TRY(PartReader reader, PartReader::open(bytes, kWatchStateKind, kWatchStateVersion));
  WatchStateFile out;
  reader(out.inputs, out.state);
  check(reader, out.state);
  RS_CHECK(reader.finish());
  return out;
}

} // namespace rankscope
