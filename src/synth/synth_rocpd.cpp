#include "synth/synth_rocpd.h"

#include "synth/synth_rocprof.h"
#include "synth/synth_sqlite.h"

#include <fmt/format.h>

namespace rankscope::synth {
namespace {

constexpr const char* kGuid = "0000ddb5_8903_7903_b269_cd8d3745bb8a";
constexpr std::int64_t kBootNs = 3'719'662'000'000'000; ///< host clock at the start of the run

/// The tables and columns of schema 3.0 that readers use.
constexpr const char* kSchema = R"(
CREATE TABLE rocpd_metadata_@ (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_string_@ (id INTEGER PRIMARY KEY, string TEXT NOT NULL UNIQUE);
CREATE TABLE rocpd_info_node_@ (id INTEGER PRIMARY KEY, hostname TEXT, system_name TEXT);
CREATE TABLE rocpd_info_process_@ (id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, command TEXT, environment JSONB);
CREATE TABLE rocpd_info_thread_@ (id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, tid INTEGER, name TEXT);
CREATE TABLE rocpd_info_agent_@ (id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, name TEXT, model_name TEXT, product_name TEXT, extdata JSONB);
CREATE TABLE rocpd_info_kernel_symbol_@ (id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, kernel_name TEXT, display_name TEXT, extdata JSONB);
CREATE TABLE rocpd_event_@ (id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, extdata JSONB);
CREATE TABLE rocpd_arg_@ (id INTEGER PRIMARY KEY, event_id INTEGER, position INTEGER, type TEXT, name TEXT, value TEXT);
CREATE TABLE rocpd_region_@ (id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, "end" BIGINT, name_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_kernel_dispatch_@ (id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, "end" BIGINT, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);
CREATE TABLE rocpd_memory_copy_@ (id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, "end" BIGINT, name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, event_id INTEGER);
)";

class RocpdEmitter final : public RocprofSink {
public:
  RocpdEmitter(const RocprofRun& run, Database& db)
      : run_(run), place_(rocprof_rank(run.options, run.rank)), db_(db),
        strings_(db, "rocpd_string_@"), symbols_(db, "rocpd_info_kernel_symbol_@", 6),
        events_(db, "rocpd_event_@", 6), args_(db, "rocpd_arg_@", 6),
        regions_(db, "rocpd_region_@", 8), kernels_(db, "rocpd_kernel_dispatch_@", 18),
        copies_(db, "rocpd_memory_copy_@", 13) {}

  EmitResult all() {
    machine();
    symbols();
    walk_rocprof(run_, *this);
    EmitResult out;
    out.events = static_cast<std::uint64_t>(regions_.rows() + kernels_.rows() + copies_.rows());
    out.by_category = {{"region", static_cast<std::uint64_t>(regions_.rows())},
                       {"kernel_dispatch", static_cast<std::uint64_t>(kernels_.rows())},
                       {"memory_copy", static_cast<std::uint64_t>(copies_.rows())}};
    return out;
  }

  void call(const HostCall& call) override {
    const bool marker = call.kind == CallKind::kMarker;
    const std::int64_t event_id = event(
        marker                         ? "MARKER_CORE_RANGE_API"
        : call.kind == CallKind::kRccl ? "RCCL_API"
                                       : "HIP_RUNTIME_API_EXT",
        call.id, call.above, marker ? fmt::format("{{\"message\": \"{}\"}}", call.name) : "{}");
    (void)regions_.add({1, place_.pid, call.tid, call.start_ns, call.end_ns,
                        strings_.id(marker ? "roctxRangePushA" : call.name), event_id});
    std::int64_t position = call.name == "ncclCommInitRank" ? 1 : 2;
    for (const CallArgument& a : call.arguments)
      (void)args_.add({event_id, position++}, {a.type, a.name, a.value});
  }

  void kernel(const KernelWork& w) override {
    (void)kernels_.add({1, place_.pid, w.tid, place_.device + 1, symbol_of_[w.kernel],
                        kernels_.rows() + 1, w.stream, w.stream, w.start_ns, w.end_ns, w.group[0],
                        w.group[1], w.group[2], w.grid[0], w.grid[1], w.grid[2],
                        event("KERNEL_DISPATCH", w.call, w.call)});
  }

  void copy(const CopyWork& w) override {
    const std::int64_t agent = place_.device + 1;
    (void)copies_.add(
        {1, place_.pid, w.tid, w.start_ns, w.end_ns,
         strings_.id(w.to_device ? "MEMORY_COPY_HOST_TO_DEVICE" : "MEMORY_COPY_DEVICE_TO_HOST"),
         w.to_device ? agent : 0, w.to_device ? 0 : agent, w.bytes, w.stream, w.stream,
         event("MEMORY_COPY", w.call, w.call)});
  }

private:
  void machine() {
    db_.run(fmt::format(
        "INSERT INTO rocpd_metadata_@ VALUES (1, 'schema_version', '3'), (2, 'uuid', '_@'), (3, "
        "'guid', '@');"
        "INSERT INTO rocpd_info_node_@ VALUES (1, 'node{0}', 'Linux');"
        "INSERT INTO rocpd_info_process_@ VALUES ({1}, 1, {1}, 'python3 train.py', "
        "'{{\"RANK\": \"{2}\", \"WORLD_SIZE\": \"{3}\"}}');"
        "INSERT INTO rocpd_info_thread_@ VALUES ({1}, 1, {1}, {1}, 'python3'), ({4}, 1, {1}, {4}, "
        "'pt_autograd_0');"
        "INSERT INTO rocpd_info_agent_@ VALUES (0, 1, {1}, 'CPU', 0, 0, 0, 'CPU', 'CPU', 'CPU', "
        "'{{}}');",
        place_.node, place_.pid, place_.rank, place_.ranks, place_.second_tid));
    for (std::int64_t d = 0; d < place_.gpus; ++d)
      db_.run(fmt::format("INSERT INTO rocpd_info_agent_@ VALUES ({0}, 1, {1}, 'GPU', {0}, {0}, "
                          "{2}, 'gfx942', '', 'AMD Instinct MI300X', '{{\"cu_count\": 304, "
                          "\"wave_front_size\": 64}}');",
                          d + 1, place_.pid, d));
  }

  void symbols() {
    std::unordered_map<std::string, std::int64_t> seen;
    for (const Kernel& k : run_.program.kernels) {
      const std::string name(rocprof_kernel_name(k));
      std::int64_t& id = seen[name];
      if (id == 0)
        id = symbols_.add({1, place_.pid}, {name + ".kd", name, "{}"});
      symbol_of_.push_back(id);
    }
  }

  std::int64_t event(const char* category, std::int64_t stack, std::int64_t parent,
                     const std::string& data = "{}") {
    return events_.add({strings_.id(category), stack, parent, 0}, {data});
  }

  const RocprofRun& run_;
  const RocprofRank place_;
  Database& db_;
  StringTable strings_;
  Table symbols_, events_, args_, regions_, kernels_, copies_;
  std::vector<std::int64_t> symbol_of_;
};

} // namespace

Result<EmitResult> emit_rank_rocpd(const Options& options, const Program& program,
                                   const Groups& /*groups*/, const Run& run, std::int64_t rank,
                                   const std::string& path) {
  const RocprofRun what{options, program, run, rank, kBootNs};
  return write_database(path, kGuid, [&what](Database& db) {
    db.run(kSchema);
    return RocpdEmitter(what, db).all();
  });
}

} // namespace rankscope::synth
