// An analysis with a sheet that has the number of events of a trace.
#include "analyses/analysis.h"

namespace rankscope {
namespace {

std::vector<Column> columns() {
  return {{"rank"}, {"events", Unit::kCount}};
}

Result<std::vector<Table>> run(const LoadedTrace& trace, const ReportOptions&) {
  Table table("toy_events", columns());
  table.add_row({trace.rank, static_cast<std::int64_t>(trace.trace.events.size())});
  return std::vector<Table>{table};
}

std::vector<SheetInfo> describe(const ReportOptions&) {
  return {{"toy_events", "events of a trace", columns()}};
}

} // namespace

const Analysis toy_analysis{"toy", "events of a trace", {"toy_events"}, run, describe};

} // namespace rankscope
