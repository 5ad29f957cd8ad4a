// Records of steps, ranks, idle time, collectives and findings. They are small, so that traces can
// be released.
#include "analyses/collectives/collective_sums.h"
#include "analyses/records/records.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

namespace rankscope {
namespace {

using enum CellKind;

/// The kinds of gpu_timeline without micro and macro idle time, which need a threshold.
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
  schema.add({"run", [](const R& r) { return std::string_view(r.place.run); },
              "name of the run: its configuration or folder"});
  schema.add(
      {"node", [](const R& r) { return r.place.node; },
       "number of the node: rank divided by the number of GPUs per node; 0 if it is unknown"});
  schema.add({"rank", [](const R& r) { return r.place.rank; }, "rank number of the trace"});
}

template <class R, class Get> void add_kinds(Schema<R>& schema, std::string_view sheet, Get get) {
  for (const TimeKind kind : kKinds)
    schema.add({kind_id(kind), kind_id(kind), Unit::kNs, kInt,
                [get, kind](const R& r) { return get(r, kind); },
                fmt::format("{} in {}", time_kind_name(kind), sheet)});
}

} // namespace

std::vector<StepRecord> step_records(const LoadedTrace& trace, const RecordPlace& place) {
  const std::vector<StepTimes> times = step_times_of(trace, {});
  std::unordered_map<std::int64_t, const StepTimes*> by_number;
  for (const StepTimes& t : times)
    by_number.try_emplace(t.step, &t);
  std::unordered_set<std::int64_t> seen;
  std::vector<StepRecord> out;
  for (const ProfilerStep& step : profiler_steps(trace.trace)) {
    if (!seen.insert(step.number).second)
      continue; // a repeated step number is one step
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
    Schema<R> out(
        "steps",
        "profiler steps of each rank and their GPU time by kind, with the idle time before the "
        "step; with three steps, this time is an estimate for the first");
    add_place(out);
    out.add({"step", &R::step, "number of the step: N of the annotation ProfilerStep#N"});
    out.add({"start_ns", Unit::kNs, &R::start_ns,
             "start of the step's annotation, on the clock of the file"});
    out.add({"dur_ns", Unit::kNs, &R::dur_ns, "duration of the step's annotation on the CPU"});
    add_kinds(out, "gpu_timeline_per_step", [](const R& r, TimeKind kind) {
      return r.ns ? Value((*r.ns)[static_cast<std::size_t>(kind)]) : Value();
    });
    return out;
  }();
  return schema;
}

RankRecordRow rank_record(const LoadedTrace& loaded, const RecordPlace& place) {
  const Trace& trace = loaded.trace;
  RankRecordRow out;
  out.place = place;
  out.path = trace.path;
  out.vendor = trace.vendor();
  out.device = trace.header.devices.empty() ? "" : trace.header.devices.front().name;
  out.backend = trace.header.backend;
  out.world_size = trace.header.world_size;
  if (trace.clock().domain == ClockDomain::kUnix)
    out.base_time_ns = trace.clock().offset_ns;
  out.events = static_cast<std::int64_t>(trace.events.size()) -
               std::ranges::count(trace.events.category, Category::kPythonFunction);
  out.gpu_events = static_cast<std::int64_t>(loaded.tree.gpu_event_count());
  out.linked = static_cast<std::int64_t>(loaded.tree.linked_count());
  out.steps = static_cast<std::int64_t>(profiler_steps(trace).size());
  out.input_bytes = static_cast<std::int64_t>(trace.input_bytes);
  for (const TimelineRow& row : loaded.shared(TimelineKey{ReportOptions{}}))
    out.ns[static_cast<std::size_t>(row.kind)] = static_cast<std::int64_t>(row.time_ns);
  return out;
}

const Schema<RankRecordRow>& rank_record_schema() {
  static const Schema<RankRecordRow> schema = [] {
    using R = RankRecordRow;
    Schema<R> out("ranks", "one row per rank: properties of its trace, and GPU time by kind");
    add_place(out);
    out.add({"path", or_blank(&R::path), "path of the trace"});
    out.add({"vendor", or_blank(&R::vendor), "vendor of the GPUs: AMD or NVIDIA"});
    out.add({"device", or_blank(&R::device), "name of the GPU, from the driver"});
    out.add({"backend", or_blank(&R::backend), "communication backend: nccl, gloo"});
    out.add(
        {"world_size", Unit::kCount, &R::world_size, "number of ranks of the run, from the file"});
    out.add({"base_time_ns", Unit::kNs, &R::base_time_ns,
             "Unix time in nanoseconds at which the trace's clock reads 0"});
    out.add({"events", Unit::kCount, &R::events,
             "number of events in the trace, without Python frames"});
    out.add({"gpu_events", Unit::kCount, &R::gpu_events, "number of kernels, copies and fills"});
    out.add({"linked", Unit::kCount, &R::linked,
             "number of GPU events whose launching call is in the trace"});
    out.add({"steps", Unit::kCount, &R::steps, "number of profiler steps"});
    out.add({"input_bytes", Unit::kBytes, &R::input_bytes, "size of the file after decompression"});
    add_kinds(out, "gpu_timeline", [](const R& r, TimeKind kind) {
      return Value(r.ns[static_cast<std::size_t>(kind)]);
    });
    return out;
  }();
  return schema;
}

std::vector<IdleRecord> idle_records(const LoadedTrace& trace, const RecordPlace& place) {
  const ReportOptions options;
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
    out.add({"cause", [](const R& r) { return idle_cause_name(r.cause); },
             "cause of the idle GPU time: host, synchronisation, launch, queued or unknown"});
    out.add(
        {"meaning", [](const R& r) { return idle_cause_help(r.cause); }, "meaning of the cause"});
    out.add({"idle_ns", Unit::kNs, &R::idle_ns,
             "idle GPU time with this cause; the times of all causes of a rank add up to its "
             "idle_time"});
    out.add({"gaps", Unit::kCount, &R::gaps,
             "number of gaps; a gap counts for the cause that takes the most time in it"});
    out.add({"total_ns", Unit::kNs, &R::total_ns, "total_time in gpu_timeline of the rank"});
    return out;
  }();
  return schema;
}

const Schema<CollectiveRecord>& collective_record_schema() {
  static const Schema<CollectiveRecord> schema = [] {
    using R = CollectiveRecord;
    const auto collective = [](const R& r) -> const Collective& { return *r.kernel->collective; };
    Schema<R> out("collectives", "collective kernels of every rank, matched over the ranks");
    const auto text = [&](const char* id, const char* help, StrId Collective::*field) {
      out.add(
          {id,
           [=](const R& r) { return text_or_blank(r.kernel->rank->text(collective(r).*field)); },
           help});
    };
    const auto number = [&](const char* id, const char* help, std::int64_t Collective::*field) {
      out.add({id, [=](const R& r) { return known(collective(r).*field); }, help});
    };
    out.add({"run", [](const R& r) { return std::string_view(*r.run); },
             "name of the run: its configuration or folder"});
    out.add(
        {"node", &R::node,
         "number of the node: rank divided by the number of GPUs per node; 0 if it is unknown"});
    out.add({"rank", [](const R& r) { return r.kernel->rank->rank; }, "rank number of the trace"});
    out.add({"collective_id", [](const R& r) { return std::string_view(r.kernel->timed->id); },
             "id of the collective, the same on all ranks that took part"});
    text("name", "name of the collective", &Collective::name);
    out.add({"kind", [=](const R& r) { return collective_kind_name(collective(r).kind); },
             "kind of collective, independent of the spelling of its name"});
    text("dtype", "data type of an element", &Collective::dtype);
    text("process_group", "name of the process group", &Collective::pg_name);
    out.add(
        {"group_ranks",
         [=](const R& r) { return text_or_blank(r.kernel->rank->text(collective(r).pg_ranks)); },
         "ranks of the group, as a JSON list", ColumnStyle{.nested = true}});
    number("group_size", "number of ranks in the group", &Collective::group_size);
    number("seq", "sequence number of the collective in its group, from the file",
           &Collective::seq);
    number("in_nelems", "number of elements in the rank's input", &Collective::in_nelems);
    number("out_nelems", "number of elements in the rank's output", &Collective::out_nelems);
    text("kernel", "name of the kernel", &Collective::kernel);
    out.add({"stream", [=](const R& r) { return collective(r).stream; },
             "stream on which the kernel ran"});
    out.add(
        {"step", "step", Unit::kNone, kInt,
         [=](const R& r) { return collective(r).step < 0 ? Value() : Value(collective(r).step); },
         "number of the profiler step in which the collective was launched: N of ProfilerStep#N. "
         "If the trace does not contain the launch: the step of the launched work before it on its "
         "stream"});
    out.add({"start_ns", Unit::kNs, [=](const R& r) { return collective(r).ts_ns; },
             "start of the kernel, on the clock of the file"});
    out.add({"dur_ns", Unit::kNs, [=](const R& r) { return collective(r).dur_ns; },
             "duration of the kernel"});
    out.add({"exposed_ns", Unit::kNs,
             [=](const R& r) {
               return collective(r).dur_ns - collective(r).hidden_compute_ns -
                      collective(r).hidden_memcpy_ns;
             },
             "part of the duration in which neither compute nor copies ran on this rank"});
    out.add({"hidden_compute_ns", Unit::kNs,
             [=](const R& r) { return collective(r).hidden_compute_ns; },
             "part of the duration in which compute kernels ran on this rank"});
    out.add({"hidden_memcpy_ns", Unit::kNs,
             [=](const R& r) { return collective(r).hidden_memcpy_ns; },
             "part of the duration in which copies, but no compute kernels, ran on this rank"});
    out.add({"wait_ns", "wait_ns", Unit::kNs, kInt,
             [](const R& r) {
               return r.kernel->timed->waits_known ? Value(r.kernel->wait_ns) : Value();
             },
             "time from the start on this rank to the start of the last member; NULL if ranks do "
             "not wait for each other in this kind of collective, or if a member is missing"});
    const auto of_rank = [=](const R& r) {
      return collective(r).kind == CollectiveKind::kAllToAllV;
    };
    out.add({"mib", Unit::kMiB,
             [=](const R& r) {
               return of_rank(r) ? mib_of(*r.kernel->rank, collective(r), collective(r).in_nelems)
                                 : r.kernel->timed->full_mib;
             },
             "message size: output of an all-gather, input of any other collective; in an "
             "all-to-all-v, the rank's own input"});
    const auto bandwidth = [&](const char* id, const char* help, double TimedCollective::*field) {
      out.add({id, Unit::kGBps,
               [=](const R& r) {
                 return of_rank(r) ? std::nullopt : std::optional(r.kernel->timed->*field);
               },
               help});
    };
    bandwidth("algo_gbps",
              "message size divided by the shortest kernel duration among the members; NULL for an "
              "all-to-all-v, whose ranks have different sizes",
              &TimedCollective::algo_gbps);
    bandwidth("bus_gbps", "bus bandwidth as in nccl-tests; NULL for an all-to-all-v",
              &TimedCollective::bus_gbps);
    return out;
  }();
  return schema;
}

const Schema<FindingRecord>& finding_record_schema() {
  using R = FindingRecord;
  static const Schema<R> schema = [] {
    Schema<R> out(finding_schema().name(), finding_schema().help(),
                  {{"run", [](const R& r) { return std::string_view(r.run); },
                    "name of the run: its configuration or folder"},
                   {"number", &R::number, "number of the finding in the list, from 1"}});
    out.add_fields_of(finding_schema(), [](const R& r) -> const Finding& { return r.finding; });
    return out;
  }();
  return schema;
}

} // namespace rankscope
