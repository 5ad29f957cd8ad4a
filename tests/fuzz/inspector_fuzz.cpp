// Input: a piece of an Inspector log. Read in two pieces at any split that the reader chose, it
// must give the same records as in one piece, and the records can be judged.
#include "analyses/watch/watch_logs.h"
#include "fuzz/fuzz_target.h"
#include "readers/inspector/inspector_log.h"

#include <cstdlib>

RS_FUZZ_TARGET(inspector) {
  using namespace rankscope;
  InspectorHeader last;
  const InspectorPiece complete = read_inspector(bytes, last);
  if (complete.used > bytes.size())
    std::abort();
  InspectorHeader again;
  const InspectorPiece first = read_inspector(bytes.substr(0, bytes.size() / 2), again);
  const InspectorPiece second = read_inspector(bytes.substr(first.used), again);
  if (first.records.size() + second.records.size() != complete.records.size())
    std::abort();
  LogWatch logs;
  const std::uint32_t process = logs.process("node-pid1");
  for (const InspectorRecord& record : complete.records)
    if (record.header.n_ranks <= 1024) // limits the memory to that of a job of this size
      logs.take(process, record);
  std::vector<Alarm> alarms;
  std::vector<WatchedWindow> windows;
  logs.advance(1, LogWatch::Read::kLast, alarms, windows);
  logs.judge_still(1, 1, alarms);
  if (!logs.problem().empty())
    std::abort();
}
