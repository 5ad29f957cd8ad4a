#include "synth/synth_rocprof.h"
#include "synth/synth_sqlite.h"

#include <fmt/format.h>

namespace rankscope::synth {
namespace {

constexpr std::int64_t kMonotonicNs = 8'306'017'000'000'000; ///< host clock at the start of the run

/// The tables and columns of schema 2 that readers use.
constexpr const char* kSynthRpdSchema = R"(
CREATE TABLE "rocpd_metadata" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "tag" varchar(4096) NOT NULL, "value" varchar(4096) NOT NULL);
CREATE TABLE "rocpd_string" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "string" varchar(4096) NOT NULL);
CREATE TABLE "rocpd_api" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "pid" integer NOT NULL, "tid" integer NOT NULL, "start" integer NOT NULL, "end" integer NOT NULL, "apiName_id" integer NOT NULL, "args_id" integer NOT NULL);
CREATE TABLE "rocpd_op" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "gpuId" integer NOT NULL, "queueId" integer NOT NULL, "sequenceId" integer NOT NULL, "completionSignal" varchar(18) NOT NULL, "start" integer NOT NULL, "end" integer NOT NULL, "description_id" integer NOT NULL, "opType_id" integer NOT NULL);
CREATE TABLE "rocpd_api_ops" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "api_id" integer NOT NULL, "op_id" integer NOT NULL);
CREATE TABLE "rocpd_kernelapi" ("api_ptr_id" integer NOT NULL PRIMARY KEY, "stream" varchar(18) NOT NULL, "gridX" integer NOT NULL, "gridY" integer NOT NULL, "gridZ" integer NOT NULL, "workgroupX" integer NOT NULL, "workgroupY" integer NOT NULL, "workgroupZ" integer NOT NULL, "kernelName_id" integer NOT NULL);
CREATE TABLE "rocpd_copyapi" ("api_ptr_id" integer NOT NULL PRIMARY KEY, "stream" varchar(18) NOT NULL, "size" integer NOT NULL, "kind" integer NOT NULL, "sync" bool NOT NULL);
INSERT INTO rocpd_metadata VALUES (1, 'schema_version', '2'), (2, 'session_count', '1');
)";

class RpdEmitter final : public RocprofSink {
public:
  RpdEmitter(const RocprofRun& run, Database& db)
      : run_(run), place_(rocprof_rank(run.options, run.rank)), strings_(db, "rocpd_string"),
        calls_(db, "rocpd_api", 7),
        operations_(db,
                    "rocpd_op(id, gpuId, queueId, sequenceId, start, \"end\", description_id, "
                    "opType_id, completionSignal)",
                    9),
        links_(db, "rocpd_api_ops", 3),
        launches_(db,
                  "rocpd_kernelapi(api_ptr_id, gridX, gridY, gridZ, workgroupX, workgroupY, "
                  "workgroupZ, kernelName_id, stream)",
                  9),
        transfers_(db, "rocpd_copyapi(api_ptr_id, size, kind, sync, stream)", 5) {}

  EmitResult all() {
    walk_rocprof(run_, *this);
    EmitResult out;
    out.events = static_cast<std::uint64_t>(calls_.rows() + operations_.rows());
    out.by_category = {{"api", static_cast<std::uint64_t>(calls_.rows())},
                       {"op", static_cast<std::uint64_t>(operations_.rows())}};
    return out;
  }

  /// Adds a call. Skips RCCL calls, which RPD does not record.
  void call(const HostCall& c) override {
    if (c.kind == CallKind::kRccl)
      return;
    const bool marker = c.kind == CallKind::kMarker;
    last_call_ = calls_.add({place_.pid, c.tid, c.start_ns, c.end_ns,
                             strings_.id(marker ? "UserMarker" : c.name),
                             strings_.id(marker ? c.name : "")});
  }

  void kernel(const KernelWork& w) override {
    const std::string name(w.fill ? "" : rocprof_kernel_name(run_.program.kernels[w.kernel]));
    operation(w, name, w.fill ? "FillBuffer" : "KernelExecution");
    if (!w.fill)
      (void)launches_.put(last_call_,
                          {w.grid[0] / w.group[0], w.grid[1] / w.group[1], w.grid[2] / w.group[2],
                           w.group[0], w.group[1], w.group[2], strings_.id(name)},
                          {stream(w)});
    else
      (void)transfers_.put(last_call_, {w.bytes, 0, 0}, {stream(w)});
  }

  void copy(const CopyWork& w) override {
    operation(w, "", w.to_device ? "CopyHostToDevice" : "CopyDeviceToHost");
    (void)transfers_.put(last_call_, {w.bytes, w.to_device ? 1 : 2, 0}, {stream(w)});
  }

private:
  static std::string stream(const DeviceWork& w) { return fmt::format("{:#x}", w.stream); }

  /// Adds an operation that the last call put onto the GPU.
  void operation(const DeviceWork& w, const std::string& name, const char* type) {
    const std::int64_t id = operations_.add(
        {place_.device, w.stream, 0, w.start_ns, w.end_ns, strings_.id(name), strings_.id(type)},
        {""});
    (void)links_.add({last_call_, id});
  }

  const RocprofRun& run_;
  const RocprofRank place_;
  StringTable strings_;
  Table calls_, operations_, links_, launches_, transfers_;
  std::int64_t last_call_ = 0;
};

} // namespace

Result<EmitResult> emit_rank_rpd(const Options& options, const Program& program,
                                 const Groups& /*groups*/, const Run& run, std::int64_t rank,
                                 const std::string& path) {
  const RocprofRun what{options, program, run, rank, kMonotonicNs};
  return write_database(path, "", [&what](Database& db) {
    db.run(kSynthRpdSchema);
    return RpdEmitter(what, db).all();
  });
}

} // namespace rankscope::synth
