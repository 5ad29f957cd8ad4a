// A sheet of one trace: how many events it has.
#include "analyses/analysis.h"

namespace rankscope {
namespace {

Result<std::vector<Table>> run(const LoadedTrace& trace, const ReportOptions&) {
  Table table("toy_events", {{"rank"}, {"events", Unit::kCount}});
  table.add_row({trace.rank, static_cast<std::int64_t>(trace.trace.events.size())});
  return std::vector<Table>{table};
}

} // namespace

const Analysis toy_analysis{"toy", "events of a trace", {"toy_events"}, run};

} // namespace rankscope
