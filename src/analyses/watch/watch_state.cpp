#include "analyses/watch/watch_state.h"

#include "analyses/watch/watch_part.h"

#include <utility>

namespace rankscope {

template <class Archive, PartOf<WatchState::Open> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.number, r.first_step, r.last_step, r.ranks);
}
template <class Archive, PartOf<WatchState::Seen> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.window, r.last_step, r.heard_ns);
}
template <class Archive, PartOf<WatchedWindow> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.label, r.number, r.ranks, r.known_ranks, r.step_ms, r.exposed_percent, r.bus_gbps,
          r.latest_rank, r.late_us);
}
template <class Archive, PartOf<InspectorHeader> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.comm, r.name, r.rank, r.n_ranks, r.written_us);
}
template <class Archive, PartOf<WatchState::LogFile> Row>
void part_fields(Archive& archive, Row& r) {
  archive(r.offset, r.head, r.head_bytes, r.process, r.bytes, r.written_ns, r.last);
}
template <class Archive, PartOf<LogProcess> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.comm, r.rank, r.n_ranks, r.newest_window, r.heard_ns);
}
template <class Archive, PartOf<LogGroup> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.processes, r.newest, r.newest_window);
}
template <class Archive, PartOf<LogCollective> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.bytes, r.bus_gbps, r.last_us, r.present, r.timed, r.exec_us);
}
template <class Archive, PartOf<LogSlot> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.sum, r.n);
}
template <class Archive, PartOf<LogWindow> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.records, r.late_us, r.bus_gbps, r.transfer_us, r.gbps_transfer_us);
}
template <class Archive, PartOf<WatchState> Row> void part_fields(Archive& archive, Row& s) {
  archive(s.read, s.ranks, s.world, s.open, s.reached, s.windows_begun, s.judged_step, s.judge,
          s.shown, s.alarms, s.raised, s.log_files, s.logs, s.rhythm);
}

namespace {

/// Checks the numbers that later sums, distances and lists of ranks rely on.
void check(PartReader& reader, const WatchState& state) {
  if (state.world < 0 || state.world > kMostWatchedRanks)
    reader.fail("a world that no job has");
  if (!state.reached.sound())
    reader.fail("windows that do not fit");
  for (const auto& [rank, seen] : state.ranks)
    if (seen.heard_ns < 0)
      reader.fail("a time before 1970");
  if (!state.rhythm.sound())
    reader.fail("a rhythm that no job has");
  if (const std::string problem = state.logs.problem(); !problem.empty())
    reader.fail(problem);
  for (const auto& [path, file] : state.log_files)
    if (file.process >= state.logs.processes())
      reader.fail("a log without a process");
}

template <class Row> void keep_newest(std::vector<Row>& rows) {
  if (rows.size() > WatchState::kMostShown)
    rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(WatchState::kMostShown));
}

} // namespace

void WatchState::show(WatchedWindow window) {
  shown.push_back(std::move(window));
  keep_newest(shown);
}

void WatchState::raise(Alarm alarm, std::int64_t now_ns) {
  ++raised;
  alarm.raised_ns = now_ns;
  alarms.push_back(std::move(alarm));
  keep_newest(alarms);
}

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
