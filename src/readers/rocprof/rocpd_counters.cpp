#include "readers/rocprof/rocpd_counters.h"

#include "readers/rocprof/pc_samples.h"

#include <map>
#include <string>

namespace rankscope {

void read_rocpd_counters(const RocpdSession& session, const KernelOfEvent& kernel,
                         ProcessTrace& first) {
  if (!session.file().has(session.table("rocpd_pmc_event")))
    return;
  std::map<std::int64_t, std::string> names;
  session.each_row("rocpd_info_pmc", {"id", "name", "symbol"}, [&](const SqliteQuery& q) {
    if (const auto id = q.integer(0))
      names[*id] = q.text(1).empty() ? q.text(2) : q.text(1);
  });
  std::uint64_t others = 0;
  session.each_row("rocpd_pmc_event", {"event_id", "pmc_id", "value"}, [&](const SqliteQuery& q) {
    const auto found = kernel(q.integer_or(0, kNoId));
    const auto name = names.find(q.integer_or(1, kNoId));
    const auto value = q.real(2);
    if (!found || name == names.end() || !value) {
      ++others;
      return;
    }
    ProcessTrace& trace = *found->first;
    trace.builder().kernel_counter(found->second, trace.text(name->second), *value);
  });
  first.not_read("counters that belong to no kernel", others);
}

const char* rocpd_pc_sample_table(const RocpdSession& session) {
  for (const char* name : {"rocpd_gpu_pc_sample", "rocpd_pc_sampling", "rocpd_pc_sample"})
    if (session.file().has(session.table(name)))
      return name;
  return nullptr;
}

void read_rocpd_pc_samples(const RocpdSession& session, const KernelOfDispatch& kernel,
                           ProcessTrace& first) {
  const char* const table = rocpd_pc_sample_table(session);
  if (table == nullptr)
    return;
  std::map<ProcessTrace*, PcSamples> samples;
  std::uint64_t others = 0;
  SqliteQuery q = session.rows(table, {"dispatch_id", "wave_issued", "stall_reason"});
  constexpr int kDispatch = RocpdSession::kCallerColumn;
  while (q.step()) {
    const auto found = kernel(session.place(q), q.integer_or(kDispatch, kNoId));
    if (!found) {
      ++others;
      continue;
    }
    const auto issued = q.integer(kDispatch + 1); // empty if the sampling method does not report it
    samples[found->first].add(static_cast<std::int64_t>(found->second),
                              issued ? std::optional(*issued != 0) : std::nullopt,
                              q.integer(kDispatch + 2)
                                  ? PcSamples::reason(*q.integer(kDispatch + 2))
                                  : PcSamples::reason(q.text(kDispatch + 2)));
  }
  session.check(q, table);
  for (const auto& [trace, kernel_samples] : samples)
    (void)kernel_samples.put(trace->builder(), [](std::int64_t event) {
      return std::optional(static_cast<EventId>(event));
    });
  first.not_read("PC samples that belong to no kernel", others);
}

void read_rocpd_allocations(const RocpdSession& session,
                            const std::function<ProcessTrace*(const RocpdPlace&)>& trace_of) {
  if (!session.file().has(session.table("rocpd_memory_allocate")))
    return;
  SqliteQuery q =
      session.rows("rocpd_memory_allocate", {"agent_id", "type", "level", "address", "size"});
  constexpr int kAgent = RocpdSession::kCallerColumn;
  while (q.step()) {
    const RocpdPlace place = session.place(q);
    ProcessTrace* const trace = trace_of(place);
    if (trace == nullptr)
      continue;
    const auto start_ns = session.start(q);
    const auto end_ns = session.end(q);
    if (!trace->usable(start_ns, end_ns, "rocpd_memory_allocate"))
      continue;
    const auto address = static_cast<std::uint64_t>(q.integer_or(kAgent + 3, 0));
    const std::string_view type = q.text(kAgent + 1);
    if (q.text(kAgent + 2) == "SCRATCH") { // scratch memory of a queue, not memory of the program
      const bool more = type == "ALLOC" || type == "REALLOC";
      trace->scratch(more ? *end_ns : *start_ns, session.device(q.integer_or(kAgent, place.agent)),
                     place.queue, more ? q.integer(kAgent + 4) : std::optional<std::int64_t>(0));
      continue;
    }
    if (type == "FREE")
      trace->memory().release(*start_ns, address);
    else if (type == "ALLOC" || type == "REALLOC")
      trace->memory().allocate(*end_ns, address, q.integer_or(kAgent + 4, -1),
                               session.device(q.integer_or(kAgent, place.agent)));
  }
  session.check(q, "rocpd_memory_allocate");
}

} // namespace rankscope
