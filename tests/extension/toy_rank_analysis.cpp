// A sheet of all ranks: how many events each has.
#include "analyses/rank_analysis.h"

namespace rankscope {
namespace {

struct EventCount {
  std::int64_t rank = 0, events = 0;
};

template <class Archive, class Row>
requires std::same_as<std::remove_const_t<Row>, EventCount>
void part_fields(Archive& archive, Row& e) {
  archive(e.rank, e.events);
}

Result<EventCount> extract(const LoadedTrace& trace, const RankOptions&) {
  return EventCount{trace.rank, static_cast<std::int64_t>(trace.trace.events.size())};
}

Result<Report> combine(const std::vector<EventCount>& ranks, const RankOptions&) {
  Table table("toy_ranks", {{"rank"}, {"events", Unit::kCount}});
  for (const EventCount& e : ranks)
    table.add_row({e.rank, e.events});
  Report report;
  report.tables.push_back(std::move(table));
  return report;
}

} // namespace

const RankAnalysis toy_rank_analysis =
    rank_analysis<EventCount, extract, combine>("toy", "events of every rank", 1);

} // namespace rankscope
