#include "readers/rocprof/rocpd_counters.h"

#include <map>
#include <string>

namespace rankscope {

void read_rocpd_counters(const RocpdSession& session, const KernelOfEvent& kernel,
                         ProcessTrace& first) {
  const std::string events = session.table("rocpd_pmc_event");
  if (!session.file().has(events))
    return;
  std::map<std::int64_t, std::string> names;
  if (const std::string info = session.table("rocpd_info_pmc"); session.file().has(info)) {
    SqliteQuery q = session.file().rows(info, {"id", "name", "symbol"});
    while (q.step())
      if (const auto id = q.integer(0))
        names[*id] = q.text(1).empty() ? q.text(2) : q.text(1);
    session.check(q, "rocpd_info_pmc");
  }
  std::uint64_t others = 0;
  SqliteQuery q = session.file().rows(events, {"event_id", "pmc_id", "value"});
  while (q.step()) {
    const auto found = kernel(q.integer_or(0, kNoId));
    const auto name = names.find(q.integer_or(1, kNoId));
    const auto value = q.real(2);
    if (!found || name == names.end() || !value) {
      ++others;
      continue;
    }
    ProcessTrace& trace = *found->first;
    trace.builder().kernel_counter(found->second, trace.text(name->second), *value);
  }
  session.check(q, "rocpd_pmc_event");
  first.not_read("counters that belong to no kernel", others);
}

void read_rocpd_allocations(const RocpdSession& session,
                            const std::function<ProcessTrace*(const RocpdPlace&)>& of,
                            ProcessTrace& first) {
  if (!session.file().has(session.table("rocpd_memory_allocate")))
    return;
  std::uint64_t scratch = 0;
  SqliteQuery q =
      session.rows("rocpd_memory_allocate", {"agent_id", "type", "level", "address", "size"});
  constexpr int kAgent = RocpdSession::kOwn;
  while (q.step()) {
    const RocpdPlace place = session.place(q);
    ProcessTrace* const trace = of(place);
    if (trace == nullptr)
      continue;
    if (q.text(kAgent + 2) == "SCRATCH") { // of queues, not of the program
      ++scratch;
      continue;
    }
    const auto start_ns = session.start(q);
    const auto end_ns = session.end(q);
    if (!trace->usable(start_ns, end_ns, "rocpd_memory_allocate"))
      continue;
    const auto address = static_cast<std::uint64_t>(q.integer_or(kAgent + 3, 0));
    const std::string_view type = q.text(kAgent + 1);
    if (type == "FREE")
      trace->memory().release(*start_ns, address);
    else if (type == "ALLOC" || type == "REALLOC")
      trace->memory().allocate(*end_ns, address, q.integer_or(kAgent + 4, -1),
                               session.device(q.integer_or(kAgent, place.agent)));
  }
  session.check(q, "rocpd_memory_allocate");
  first.not_read("scratch memory", scratch);
}

} // namespace rankscope
