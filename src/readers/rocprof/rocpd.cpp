// Reads rocpd databases of rocprofv3 (rocprofiler-sdk, ROCm 7) and rocprofiler-systems: SQLite
// files with tables rocpd_<what>_<guid>, in schema 3.0.x or 4.x (detected by the columns), with one
// or several processes. Each base table is scanned once and joined in memory; views are not used.
#include "core/trace_builder.h"
#include "model/kernels.h"
#include "os/byte_source.h"
#include "readers/reader.h"
#include "readers/rocprof/rank_order.h"
#include "readers/rocprof/rccl_calls.h"
#include "readers/rocprof/rocpd_counters.h"
#include "readers/rocprof/rocpd_session.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr const char* kRocpdClock = "CLOCK_BOOTTIME";

/// A trace that is being built, and the ids that the texts of the session have in it.
struct Target {
  Target(const std::string& path, const RocpdSession& session)
      : trace(path, rocpd_reader.name, kRocpdClock), rccl(trace.builder()),
        texts(session.texts().size(), StringPool::kNotFound) {}

  ProcessTrace trace;
  RcclCalls rccl;
  std::vector<StrId> texts; ///< id in the trace, indexed by id in the session's pool
  std::vector<std::pair<EventId, std::size_t>> rccl_events;
};

/// Reads the rows of one session into the traces of its processes.
class SessionReader {
public:
  SessionReader(const std::string& path, const RocpdSession& session)
      : path_(path), session_(session) {}

  /// Selects this process: only rows of selected processes are read.
  void want(const RocpdProcess& process) {
    auto target = std::make_unique<Target>(path_, session_);
    target->trace.builder().header().rank = process.rank.rank;
    target->trace.builder().header().world_size = process.rank.world_size;
    for (const DeviceInfo& device : session_.devices())
      target->trace.device(device);
    targets_[process.id] = std::move(target);
    pids_[process.id] = process.pid;
  }
  /// Assigns rows with an unknown process to `process`, which is the only one in the file.
  void take_strays(std::int64_t process) { strays_ = targets_[process].get(); }

  void read() {
    read_arguments();
    read_regions();
    read_samples();
    for (auto& [process, target] : targets_)
      finish_calls(*target);
    read_kernels();
    read_copies();
    read_counters();
    count_others();
  }

  [[nodiscard]] Target& target(std::int64_t process) { return *targets_[process]; }

private:
  Target* target_of(const RocpdPlace& place) {
    if (place.process == last_process_)
      return last_target_;
    const auto it = targets_.find(place.process);
    last_process_ = place.process;
    last_target_ = it != targets_.end() ? it->second.get() : strays_;
    return last_target_;
  }

  StrId text(Target& target, StrId id) {
    StrId& known = target.texts[id];
    if (known == StringPool::kNotFound)
      known = target.trace.text(session_.texts().view(id));
    return known;
  }

  std::uint32_t thread(Target& target, const RocpdPlace& place) {
    if (place.process != last_thread_place_.process || place.thread != last_thread_place_.thread) {
      last_thread_place_ = place;
      const auto pid = pids_.find(place.process);
      last_pid_ = pid != pids_.end() ? pid->second : place.process == kNoId ? 0 : place.process;
      last_tid_ = session_.os_thread(place.thread);
    }
    return target.trace.thread(last_pid_, last_tid_);
  }

  /// Reads the arguments of RCCL calls. They are not read for HIP calls, which have as many
  /// arguments, because they are not needed.
  void read_arguments() {
    if (!session_.has_rccl_events())
      return;
    session_.each_row("rocpd_arg", {"event_id", "name", "value"}, [&](const SqliteQuery& q) {
      const std::int64_t event = q.integer_or(0, kNoId);
      const RocpdEvent* const call = session_.event_by_id(event);
      if (call != nullptr && call->api == HostApi::kRccl)
        arguments_[event].add(q.text(1), q.text(2));
    });
  }

  void host_call(Target& target, const SqliteQuery& row, const RocpdPlace& place,
                 std::int64_t name_id, std::int64_t start_ns, std::int64_t end_ns, bool instant) {
    const RocpdEvent& event = session_.event(row);
    const std::string_view name = session_.string(name_id);
    const std::uint32_t track = thread(target, place);
    const HostApi api = event.has_category ? event.api : host_api("", name);
    if (api == HostApi::kMarker) {
      const std::string_view message = session_.texts().view(event.message);
      target.trace.marker(track, message.empty() ? name : message, start_ns, end_ns, instant);
      return;
    }
    const Category category = api == HostApi::kHip || api == HostApi::kRccl ? Category::kRuntime
                              : api == HostApi::kHsa                        ? Category::kDriver
                                                                            : Category::kOther;
    const EventId id =
        target.trace.call(category, track, target.trace.text(name.empty() ? "(no name)" : name),
                          start_ns, end_ns, event.stack == 0 ? kNoId : event.stack);
    if (session_.has_rccl_events() && event.stack != kNoId)
      target.rccl.add_host_call(event.stack, event.parent, track, start_ns);
    if (api == HostApi::kHip)
      target.trace.saw(Traced::kHostCalls);
    if (api != HostApi::kRccl)
      return;
    target.trace.saw(Traced::kRccl);
    target.rccl_events.emplace_back(id, target.rccl_events.size());
    const auto arguments = arguments_.find(session_.event_id(row));
    target.rccl.add(name, event.stack, track, start_ns, end_ns,
                    arguments == arguments_.end() ? RcclArguments() : arguments->second);
  }

  /// Calls `use(target, row, place, start_ns, end_ns)` for each row with valid times. Other rows
  /// are counted.
  template <class Use>
  void for_each_interval(const char* table, std::vector<std::string> columns, const Use& use) {
    if (!session_.file().has(session_.table(table)))
      return;
    SqliteQuery q = session_.rows(table, std::move(columns));
    while (q.step()) {
      const RocpdPlace place = session_.place(q);
      Target* const target = target_of(place);
      if (target == nullptr)
        continue;
      const auto start_ns = session_.start(q);
      const auto end_ns = session_.end(q);
      if (target->trace.usable(start_ns, end_ns, table))
        use(*target, q, place, *start_ns, *end_ns);
    }
    session_.check(q, table);
  }

  void read_regions() {
    for_each_interval("rocpd_region", {"name_id"},
                      [this](Target& target, const SqliteQuery& q, const RocpdPlace& place,
                             std::int64_t start_ns, std::int64_t end_ns) {
                        host_call(target, q, place,
                                  q.integer_or(RocpdSession::kCallerColumn, place.name), start_ns,
                                  end_ns, false);
                      });
  }

  /// Reads marks, and calls with a duration of 0.
  void read_samples() {
    if (!session_.file().has(session_.table("rocpd_sample")))
      return;
    SqliteQuery q = session_.rows("rocpd_sample", {"timestamp", "name_id"});
    while (q.step()) {
      const RocpdPlace place = session_.place(q);
      Target* const target = target_of(place);
      if (target == nullptr)
        continue;
      const auto at_ns = q.integer(RocpdSession::kCallerColumn);
      if (target->trace.usable(at_ns, at_ns, "rocpd_sample"))
        host_call(*target, q, place, q.integer_or(RocpdSession::kCallerColumn + 1, place.name),
                  *at_ns, *at_ns, true);
    }
    session_.check(q, "rocpd_sample");
  }

  static void finish_calls(Target& target) {
    target.rccl.finish();
    for (const auto& [event, call] : target.rccl_events)
      if (const CollectiveArgs* const args = target.rccl.arguments(call))
        target.trace.builder().collective(event, *args);
  }

  void read_kernels() {
    const std::vector<bool> communicates = communication_names(session_.texts());
    const bool has_counters = session_.file().has(session_.table("rocpd_pmc_event"));
    const bool has_samples = rocpd_pc_sample_table(session_) != nullptr;
    constexpr int kAgent = RocpdSession::kCallerColumn;
    const auto add_kernel = [&](Target& target, const SqliteQuery& q, const RocpdPlace& place,
                                std::int64_t start_ns, std::int64_t end_ns) {
      const std::size_t symbol = session_.symbol(q.integer_or(kAgent + 1, kNoId));
      const std::int64_t stack = session_.event(q).stack;
      LaunchShape shape;
      for (int i = 0; i < 3; ++i) {
        shape.group[static_cast<std::size_t>(i)] = q.integer_or(kAgent + 2 + i, 0);
        shape.grid[static_cast<std::size_t>(i)] = q.integer_or(kAgent + 5 + i, 0);
      }
      GpuWork work{start_ns, end_ns, stack == 0 ? kNoId : stack};
      work.name = symbol == RowIndex::kNone ? target.trace.text("(kernel without a name)")
                                            : text(target, session_.symbol_text(symbol));
      work.device = session_.device(q.integer_or(kAgent, place.agent));
      work.stream = place.stream != kNoId ? place.stream : place.queue != kNoId ? place.queue : -1;
      const EventId id = target.trace.kernel(work, shape, true);
      if (has_counters)
        counted_.emplace(session_.event_id(q), std::pair(&target.trace, id));
      if (has_samples)
        dispatched_.emplace(std::pair(place.process, q.integer_or(kAgent + 8, kNoId)),
                            std::pair(&target.trace, id));
      if (symbol != RowIndex::kNone && communicates[session_.symbol_text(symbol)])
        if (const CollectiveArgs* const args = target.rccl.collective_above(stack))
          target.trace.builder().collective(id, *args);
    };
    for_each_interval("rocpd_kernel_dispatch",
                      {"agent_id", "kernel_id", "workgroup_size_x", "workgroup_size_y",
                       "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z",
                       "dispatch_id"},
                      add_kernel);
  }

  void read_copies() {
    const auto add_copy = [this](Target& target, const SqliteQuery& q, const RocpdPlace& place,
                                 std::int64_t start_ns, std::int64_t end_ns) {
      const std::int64_t stack = session_.event(q).stack;
      GpuWork work{start_ns, end_ns, stack == 0 ? kNoId : stack};
      const std::string_view name =
          session_.string(q.integer_or(RocpdSession::kCallerColumn, place.name));
      work.name = target.trace.text(name.empty() ? "Memcpy" : copy_name(name));
      const std::int64_t from =
          session_.device(q.integer_or(RocpdSession::kCallerColumn + 2, kNoId));
      const std::int64_t to = session_.device(q.integer_or(RocpdSession::kCallerColumn + 1, kNoId));
      work.device = from >= 0 ? from : to;
      work.stream = place.stream != kNoId ? place.stream : place.queue != kNoId ? place.queue : -1;
      (void)target.trace.copy(work, q.integer_or(RocpdSession::kCallerColumn + 3, -1));
    };
    for_each_interval("rocpd_memory_copy", {"name_id", "dst_agent_id", "src_agent_id", "size"},
                      add_copy);
  }

  void read_counters() {
    if (targets_.empty())
      return;
    ProcessTrace& first = targets_.begin()->second->trace;
    read_rocpd_counters(
        session_,
        [this](std::int64_t event) {
          const auto it = counted_.find(event);
          return it == counted_.end() ? std::nullopt : std::optional(it->second);
        },
        first);
    read_rocpd_pc_samples(
        session_,
        [this](const RocpdPlace& place, std::int64_t dispatch) {
          const auto it = dispatched_.find({place.process, dispatch});
          return it == dispatched_.end() ? std::nullopt : std::optional(it->second);
        },
        first);
    read_rocpd_allocations(session_, [this](const RocpdPlace& place) {
      Target* const target = target_of(place);
      return target == nullptr ? nullptr : &target->trace;
    });
  }

  /// Counts the rows of tables that are not read.
  void count_others() {
    if (targets_.empty())
      return;
    for (const auto& [name, what] :
         {std::pair{"rocpd_hip_event", "records of and waits for stream events (no report needs "
                                       "dependencies between streams)"},
          {"rocpd_graph_launch", "graph launches (their kernels are read)"}}) {
      if (!session_.file().has(session_.table(name)))
        continue;
      SqliteQuery q =
          session_.file().query(fmt::format("SELECT count(*) FROM \"{}\"", session_.table(name)));
      if (q.step())
        targets_.begin()->second->trace.not_read(what,
                                                 static_cast<std::uint64_t>(q.integer_or(0, 0)));
    }
  }

  const std::string& path_;
  const RocpdSession& session_;
  std::unordered_map<std::int64_t, RcclArguments> arguments_; ///< by event id
  std::map<std::int64_t, std::unique_ptr<Target>> targets_;   ///< by process id in the database
  std::map<std::int64_t, std::int64_t> pids_;
  /// Kernels by event id, if the file has counters.
  std::unordered_map<std::int64_t, std::pair<ProcessTrace*, EventId>> counted_;
  /// Kernels by process and dispatch, if the file has PC samples.
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<ProcessTrace*, EventId>> dispatched_;
  Target* strays_ = nullptr;
  std::int64_t last_process_ = INT64_MIN + 1;
  Target* last_target_ = nullptr;
  RocpdPlace last_thread_place_{INT64_MIN + 1};
  std::int64_t last_pid_ = 0, last_tid_ = 0;
};

/// A process of the file that becomes a rank of the run.
struct RankProcess {
  std::string ending; ///< ending of the table names of its session
  RocpdProcess process;
};

/// Returns the processes with GPU work, with their ranks. If no process has GPU work, returns all
/// processes.
std::vector<RankProcess> rank_processes(const SqliteFile& file, bool& by_order) {
  std::vector<RankProcess> all;
  std::vector<RankProcess> busy;
  Diagnostics unused;
  for (const std::string& ending : RocpdSession::endings(file)) {
    RocpdSession session(file, ending, unused);
    session.read_processes();
    if (session.processes().empty())
      all.push_back({ending, {}});
    for (const RocpdProcess& p : session.processes())
      all.push_back({ending, p});
  }
  if (all.size() > 1)
    for (const std::string& ending : RocpdSession::endings(file)) {
      RocpdSession session(file, ending, unused);
      session.read_processes();
      session.read_tracks();
      const std::vector<std::int64_t> worked = session.processes_with_gpu_work();
      for (const RankProcess& p : all)
        if (p.ending == ending && std::binary_search(worked.begin(), worked.end(), p.process.id))
          busy.push_back(p);
    }
  std::vector<RankProcess> out = busy.empty() ? all : busy;
  std::vector<std::optional<std::int64_t>> ranks;
  for (const RankProcess& p : out)
    ranks.push_back(p.process.rank.rank);
  by_order = number_ranks(ranks);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i].process.rank.rank = ranks[i];
  std::stable_sort(out.begin(), out.end(), [](const RankProcess& a, const RankProcess& b) {
    return a.process.rank.rank < b.process.rank.rank;
  });
  return out;
}

bool names_rocpd(std::string_view text) {
  for (const std::string_view name : {"rocpd_info_process", "rocpd_kernel_dispatch",
                                      "rocpd_info_agent", "rocpd_region_", "rocpd_memory_copy"})
    if (text.find(name) != std::string_view::npos)
      return true;
  return false;
}

bool sniff_rocpd(std::string_view head, std::string_view path) {
  if (!is_sqlite(head))
    return false;
  if (names_rocpd(head))
    return true;
  if (!lies_on_disk(path))
    return false;
  const Result<SqliteFile> file = SqliteFile::open(std::string(path));
  // if there is not enough space to decompress the file, the reader will report this
  return file ? !RocpdSession::endings(*file).empty() : file.error().code == ErrorCode::kOutput;
}

NameClaim claims_rocpd(std::string_view file_name) {
  return file_name.ends_with(".db") || file_name.ends_with(".rocpd") ||
                 file_name.ends_with(".sqlite") || file_name.ends_with(".sqlite3")
             ? NameClaim::kMaybe
             : NameClaim::kNo;
}

FileInfo inspect_rocpd(std::string_view, std::string_view path) {
  FileInfo out;
  out.trace = true;
  if (!lies_on_disk(path))
    return out;
  const Result<SqliteFile> file = SqliteFile::open(std::string(path));
  if (!file)
    return out;
  bool by_order = false;
  for (const RankProcess& p : rank_processes(*file, by_order)) {
    if (p.process.rank.rank)
      out.ranks.push_back(*p.process.rank.rank);
    if (p.process.rank.world_size)
      out.world_size = p.process.rank.world_size;
  }
  return out;
}

/// Reads the ranks of one session. Each table of the session is read only once.
Result<void> read_session(const SqliteFile& file, const std::string& path,
                          const std::vector<RankProcess>& ranks, bool by_order,
                          const TraceSink& sink) {
  Diagnostics problems;
  file.report(path, problems);
  RocpdSession session(file, ranks.front().ending, problems);
  session.read_processes();
  session.read_ids();
  session.read_events();
  SessionReader reader(path, session);
  for (const RankProcess& rank : ranks)
    reader.want(rank.process);
  if (ranks.size() == 1 && session.processes().size() < 2)
    reader.take_strays(ranks.front().process.id);
  reader.read();
  for (const RankProcess& rank : ranks) {
    ProcessTrace& trace = reader.target(rank.process.id).trace;
    trace.builder().diagnostics().merge(problems);
    if (by_order)
      say_ranks_by_order(trace.builder().diagnostics(), path);
    RS_TRY(Trace done, std::move(trace).finish(file.bytes()));
    RS_CHECK(sink(std::move(done)));
  }
  return {};
}

Result<void> read_rocpd(ByteSource& source, const std::string& path, const ReadOptions& options,
                        const TraceSink& sink) {
  RS_TRY(const SqliteFile file, SqliteFile::open(path, &source));
  bool by_order = false;
  const std::vector<RankProcess> ranks = rank_processes(file, by_order);
  if (ranks.empty())
    return Error{ErrorCode::kUnreadable, path,
                 "no rocpd tables (rocpd_kernel_dispatch_GUID and others) in this database", ""};
  for (const std::string& ending : RocpdSession::endings(file)) {
    std::vector<RankProcess> session_ranks;
    for (const RankProcess& rank : ranks)
      if (rank.ending == ending &&
          (ranks.size() == 1 || !options.rank || rank.process.rank.rank == options.rank))
        session_ranks.push_back(rank);
    if (!session_ranks.empty())
      RS_CHECK(read_session(file, path, session_ranks, by_order, sink));
  }
  return {};
}

} // namespace

const Reader rocpd_reader{"rocpd",     "ROCm profiler databases (rocprofv3, rocprofiler-systems)",
                          ".db",       claims_rocpd,
                          sniff_rocpd, inspect_rocpd,
                          read_rocpd};

} // namespace rankscope
