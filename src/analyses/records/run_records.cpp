// Records of steps, ranks, idle time, collectives and findings: small, so that traces are released.
#include "analyses/records/records.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

namespace rankscope {
namespace {

using enum CellKind;

/// The kinds of gpu_timeline without the halves of idle time, which need a threshold.
constexpr std::array kKinds = {TimeKind::kComputation,   TimeKind::kExposedComm,
                               TimeKind::kExposedMemcpy, TimeKind::kBusy,
                               TimeKind::kIdle,          TimeKind::kTotal,
                               TimeKind::kTotalComm,     TimeKind::kTotalMemcpy};

std::string kind_id(TimeKind kind) {
  std::string id(time_kind_name(kind)); // "computation_time"
  if (id.ends_with("_time"))
    id.resize(id.size() - 5);
  return id + "_ns";
}

template <class R> void add_place(Schema<R>& schema) {
  schema.add({"run", "run", Unit::kNone, kText,
              [](const R& r) { return Value(std::string_view(r.place.run)); },
              "configuration or folder of the run"});
  schema.add({"node", "node", Unit::kNone, kInt, [](const R& r) { return Value(r.place.node); },
              "rank / GPUs per node"});
  schema.add({"rank", "rank", Unit::kNone, kInt, [](const R& r) { return Value(r.place.rank); },
              "of the trace"});
}

template <class R, class Get>
void add_ns(Schema<R>& schema, const char* id, const char* help, Get get) {
  schema.add({id, id, Unit::kNs, kInt, [get](const R& r) { return Value(get(r)); }, help});
}

template <class R, class Get> void add_kinds(Schema<R>& schema, Get get) {
  for (const TimeKind kind : kKinds)
    schema.add({kind_id(kind), kind_id(kind), Unit::kNs, kInt,
                [get, kind](const R& r) { return get(r, kind); },
                fmt::format("{} of gpu_timeline", time_kind_name(kind))});
}

Value known_run_records(std::int64_t id) {
  return id == kNoId ? Value() : Value(id);
}

} // namespace

ReportOptions record_options() {
  ReportOptions options;
  options.include_unlinked_kernels = true; // as every command
  return options;
}

std::vector<StepRecord> step_records(const LoadedTrace& trace, const RecordPlace& place) {
  const std::vector<StepTimes> times = step_times_of(trace, record_options());
  std::unordered_map<std::int64_t, const StepTimes*> by_number;
  for (const StepTimes& t : times)
    by_number.try_emplace(t.step, &t);
  std::unordered_set<std::int64_t> seen;
  std::vector<StepRecord> out;
  for (const ProfilerStep& step : profiler_steps(trace.trace)) {
    if (!seen.insert(step.number).second)
      continue; // a number that comes twice is one step
    StepRecord row{place, step.number, step.start_ns, step.end_ns - step.start_ns, std::nullopt};
    if (const auto at = by_number.find(step.number); at != by_number.end())
      row.ns = at->second->ns;
    out.push_back(std::move(row));
  }
  return out;
}

const Schema<StepRecord>& step_record_schema() {
  static const Schema<StepRecord> schema = [] {
    using R = StepRecord;
    Schema<R> out("steps", "profiler steps of each rank, their GPU time by kind");
    add_place(out);
    out.add({"step", "step", Unit::kNone, kInt, [](const R& r) { return Value(r.step); },
             "N of ProfilerStep#N"});
    add_ns(out, "start_ns", "of the annotation, on the clock of the file",
           [](const R& r) { return r.start_ns; });
    add_ns(out, "dur_ns", "of the annotation on the CPU", [](const R& r) { return r.dur_ns; });
    add_kinds(out, [](const R& r, TimeKind kind) {
      return r.ns ? Value((*r.ns)[static_cast<std::size_t>(kind)]) : Value();
    });
    return out;
  }();
  return schema;
}

RankRecordRow rank_record(const LoadedTrace& trace, const RecordPlace& place) {
  const Trace& of = trace.trace;
  RankRecordRow out;
  out.place = place;
  out.path = of.path;
  out.vendor = of.vendor();
  out.device = of.header.devices.empty() ? "" : of.header.devices.front().name;
  out.backend = of.header.backend;
  out.world_size = of.header.world_size;
  if (of.clock().domain == ClockDomain::kUnix)
    out.base_time_ns = of.clock().offset_ns;
  out.events = static_cast<std::int64_t>(of.events.size());
  out.gpu_events = static_cast<std::int64_t>(trace.tree.gpu_event_count());
  out.linked = static_cast<std::int64_t>(trace.tree.linked_count());
  out.steps = static_cast<std::int64_t>(profiler_steps(of).size());
  out.input_bytes = static_cast<std::int64_t>(of.input_bytes);
  for (const TimelineRow& row : trace.shared(TimelineKey{record_options()}))
    out.ns[static_cast<std::size_t>(row.kind)] = static_cast<std::int64_t>(row.time_ns);
  return out;
}

const Schema<RankRecordRow>& rank_record_schema() {
  static const Schema<RankRecordRow> schema = [] {
    using R = RankRecordRow;
    Schema<R> out("ranks", "one row per rank: its trace, its GPU's time by kind");
    add_place(out);
    const auto text = [&out](const char* id, const char* help, std::string R::*field) {
      out.add({id, id, Unit::kNone, kText, [field](const R& r) { return text_or_blank(r.*field); },
               help});
    };
    const auto count = [&out](const char* id, Unit unit, const char* help, std::int64_t R::*field) {
      out.add({id, id, unit, kInt, [field](const R& r) { return Value(r.*field); }, help});
    };
    text("path", "file of the trace", &R::path);
    text("vendor", "AMD or NVIDIA", &R::vendor);
    text("device", "the driver's name of the GPU", &R::device);
    text("backend", "of the communication: nccl, gloo", &R::backend);
    out.add({"world_size", "world_size", Unit::kCount, kInt,
             [](const R& r) { return Value(r.world_size); }, "ranks of the run, as the file says"});
    out.add({"base_time_ns", "base_time_ns", Unit::kNs, kInt,
             [](const R& r) { return Value(r.base_time_ns); },
             "what added to the file's times gives nanoseconds since 1970"});
    count("events", Unit::kCount, "kept in memory", &R::events);
    count("gpu_events", Unit::kCount, "kernels, copies and fills", &R::gpu_events);
    count("linked", Unit::kCount, "of them: with the call that launched them", &R::linked);
    count("steps", Unit::kCount, "profiler steps", &R::steps);
    count("input_bytes", Unit::kBytes, "of the file, unpacked", &R::input_bytes);
    add_kinds(
        out, [](const R& r, TimeKind kind) { return Value(r.ns[static_cast<std::size_t>(kind)]); });
    return out;
  }();
  return schema;
}

std::vector<IdleRecord> idle_records(const LoadedTrace& trace, const RecordPlace& place) {
  const ReportOptions options = record_options();
  const IdleTime& idle = trace.shared(IdleKey{options});
  std::int64_t total = 0;
  for (const TimelineRow& row : trace.shared(TimelineKey{options}))
    if (row.kind == TimeKind::kTotal)
      total = static_cast<std::int64_t>(row.time_ns);
  std::vector<IdleRecord> out;
  for (std::size_t c = 0; c < kIdleCauses; ++c)
    out.push_back({place, static_cast<IdleCause>(c), idle.ns[c], idle.gaps[c], total});
  return out;
}

const Schema<IdleRecord>& idle_record_schema() {
  static const Schema<IdleRecord> schema = [] {
    using R = IdleRecord;
    Schema<R> out("idle", "idle time of each rank's GPU by cause");
    add_place(out);
    out.add({"cause", "cause", Unit::kNone, kText,
             [](const R& r) { return Value(idle_cause_name(r.cause)); },
             "what came before the work that ends the gap"});
    out.add({"meaning", "meaning", Unit::kNone, kText,
             [](const R& r) { return Value(idle_cause_help(r.cause)); }, "of the cause"});
    add_ns(out, "idle_ns", "the causes of a rank add up to its idle time",
           [](const R& r) { return r.idle_ns; });
    out.add({"gaps", "gaps", Unit::kCount, kInt, [](const R& r) { return Value(r.gaps); },
             "each by the cause of most of it"});
    add_ns(out, "total_ns", "total_time of the rank's gpu_timeline",
           [](const R& r) { return r.total_ns; });
    return out;
  }();
  return schema;
}

const Schema<CollectiveRecord>& collective_record_schema() {
  static const Schema<CollectiveRecord> schema = [] {
    using R = CollectiveRecord;
    const auto of = [](const R& r) -> const Collective& { return *r.kernel->collective; };
    Schema<R> out("collectives", "collective kernels of every rank, matched over the ranks");
    const auto text = [&](const char* id, const char* help, StrId Collective::*field) {
      out.add({id, id, Unit::kNone, kText,
               [=](const R& r) { return text_or_blank(r.kernel->rank->text(of(r).*field)); },
               help});
    };
    const auto number = [&](const char* id, const char* help, std::int64_t Collective::*field) {
      out.add({id, id, Unit::kNone, kInt,
               [=](const R& r) { return known_run_records(of(r).*field); }, help});
    };
    const auto matched = [&](const char* id, Unit unit, const char* help,
                             double TimedCollective::*field) {
      out.add({id, id, unit, kDouble, [=](const R& r) { return Value(r.kernel->timed->*field); },
               help});
    };
    out.add({"run", "run", Unit::kNone, kText,
             [](const R& r) { return Value(std::string_view(*r.run)); },
             "configuration or folder of the run"});
    out.add({"node", "node", Unit::kNone, kInt, [](const R& r) { return Value(r.node); },
             "rank / GPUs per node"});
    out.add({"rank", "rank", Unit::kNone, kInt,
             [](const R& r) { return Value(r.kernel->rank->rank); }, "of the trace"});
    out.add({"collective_id", "collective_id", Unit::kNone, kText,
             [](const R& r) { return Value(std::string_view(r.kernel->timed->id)); },
             "the same on all ranks that took part"});
    text("name", "of the collective", &Collective::name);
    out.add({"kind", "kind", Unit::kNone, kText,
             [=](const R& r) { return Value(collective_kind_name(of(r).kind)); },
             "one word for all spellings of the name"});
    text("dtype", "type of an element", &Collective::dtype);
    text("process_group", "name of the process group", &Collective::pg_name);
    out.add({"group_ranks", "group_ranks", Unit::kNone, kText,
             [=](const R& r) { return text_or_blank(r.kernel->rank->text(of(r).pg_ranks)); },
             "members, as a list in JSON", ColumnStyle{.nested = true}});
    number("group_size", "members", &Collective::group_size);
    number("seq", "number in its group, as the file says", &Collective::seq);
    number("in_nelems", "elements of the input", &Collective::in_nelems);
    number("out_nelems", "elements of the output", &Collective::out_nelems);
    text("kernel", "name of the kernel", &Collective::kernel);
    out.add({"stream", "stream", Unit::kNone, kInt, [=](const R& r) { return Value(of(r).stream); },
             "that it ran on"});
    out.add({"step", "step", Unit::kNone, kInt,
             [=](const R& r) { return of(r).step < 0 ? Value() : Value(of(r).step); },
             "last ProfilerStep#N begun before it"});
    add_ns(out, "start_ns", "on the clock of the file", [=](const R& r) { return of(r).ts_ns; });
    add_ns(out, "dur_ns", "of the kernel", [=](const R& r) { return of(r).dur_ns; });
    add_ns(out, "exposed_ns", "neither compute nor copies ran", [=](const R& r) {
      return of(r).dur_ns - of(r).hidden_compute_ns - of(r).hidden_memcpy_ns;
    });
    add_ns(out, "hidden_compute_ns", "while compute kernels ran on this rank",
           [=](const R& r) { return of(r).hidden_compute_ns; });
    add_ns(out, "hidden_memcpy_ns", "under copies but not compute",
           [=](const R& r) { return of(r).hidden_memcpy_ns; });
    out.add(
        {"wait_ns", "wait_ns", Unit::kNs, kInt,
         [](const R& r) {
           return r.kernel->timed->told_waits ? Value(r.kernel->wait_ns) : Value();
         },
         "until the last member had started; NULL where the kind makes nobody wait, or a member "
         "is not there"});
    matched("mib", Unit::kMiB, "the larger buffer", &TimedCollective::full_mib);
    matched("algo_gbps", Unit::kGBps, "size over the shortest duration of the members",
            &TimedCollective::algo_gbps);
    matched("bus_gbps", Unit::kGBps, "the same as nccl-tests count the bus",
            &TimedCollective::bus_gbps);
    return out;
  }();
  return schema;
}

const Schema<FindingRecord>& finding_record_schema() {
  using R = FindingRecord;
  static const Schema<R> schema = [] {
    Schema<R> out(finding_schema().name(), finding_schema().help(),
                  {{"run", "run", Unit::kNone, kText,
                    [](const R& r) { return Value(std::string_view(r.run)); },
                    "configuration or folder of the run"},
                   {"number", "number", Unit::kNone, kInt,
                    [](const R& r) { return Value(r.number); }, "place in the list, from 1"}});
    out.add_fields_of(finding_schema(), [](const R& r) -> const Finding& { return r.finding; });
    return out;
  }();
  return schema;
}

} // namespace rankscope
