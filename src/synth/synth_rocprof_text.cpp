#include "base/json_text.h"
#include "os/output_file.h"
#include "synth/synth_rocprof.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope::synth {
namespace {

constexpr std::int64_t kSynthRocprofTextBootNs =
    3'719'662'000'000'000;                    ///< host clock at the start of the run
constexpr std::int64_t kFirstHandle = 37'944; ///< first handle of an agent in JSON

const char* domain_of(CallKind kind) {
  return kind == CallKind::kHip    ? "HIP_RUNTIME_API_EXT"
         : kind == CallKind::kRccl ? "RCCL_API"
                                   : "MARKER_CORE_RANGE_API";
}

/// An output file of records. It counts bytes and records.
class RecordFile {
public:
  static Result<RecordFile> create(const std::string& path, std::string_view head) {
    RS_TRY(OutputFile file, OutputFile::create(path));
    RecordFile out(std::move(file));
    out.text(head);
    return out;
  }
  void text(std::string_view text) {
    file_.write(text);
    bytes_ += text.size();
  }
  void record(std::string_view text) {
    this->text(text);
    ++records_;
  }
  Result<void> commit() { return file_.commit(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }

private:
  explicit RecordFile(OutputFile file) : file_(std::move(file)) {}
  OutputFile file_;
  std::uint64_t bytes_ = 0, records_ = 0;
};

// ---- CSV: one table per kind

constexpr std::array<std::pair<const char*, const char*>, 6> kTables = {{
    {"kernel_trace",
     R"("Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z")"},
    {"memory_copy_trace",
     R"("Kind","Direction","Stream_Id","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp")"},
    {"hip_api_trace",
     R"("Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp")"},
    {"rccl_api_trace",
     R"("Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp")"},
    {"marker_api_trace",
     R"("Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp")"},
    {"agent_info",
     R"("Node_Id","Logical_Node_Type_Id","Agent_Type","Cu_Count","Wave_Front_Size","Name","Product_Name")"},
}};
enum CsvTable : std::size_t { kKernels, kCopies, kHip, kRccl, kMarkers, kAgents };

class CsvEmitter final : public RocprofSink {
public:
  CsvEmitter(const RocprofRun& run, std::vector<RecordFile>& tables)
      : run_(run), place_(rocprof_rank(run.options, run.rank)), tables_(tables) {}

  void agents() {
    tables_[kAgents].record("0,0,\"CPU\",0,0,\"CPU\",\"CPU\"\n");
    for (std::int64_t d = 0; d < place_.gpus; ++d)
      tables_[kAgents].record(
          fmt::format("{},{},\"GPU\",304,64,\"gfx942\",\"AMD Instinct MI300X\"\n", d + 1, d));
  }
  void call(const HostCall& c) override {
    tables_[c.kind == CallKind::kHip    ? kHip
            : c.kind == CallKind::kRccl ? kRccl
                                        : kMarkers]
        .record(fmt::format("\"{}\",\"{}\",{},{},{},{},{}\n", domain_of(c.kind), c.name, place_.pid,
                            c.tid, c.id, c.start_ns, c.end_ns));
  }
  void kernel(const KernelWork& w) override {
    tables_[kKernels].record(fmt::format(
        "\"KERNEL_DISPATCH\",\"Agent {}\",{},{},{},{},{},\"{}\",{},{},{},0,0,128,0,112,{},{},{},{},"
        "{},{}\n",
        place_.device + 1, w.stream, w.stream, w.tid, tables_[kKernels].records() + 1, w.kernel + 1,
        rocprof_kernel_name(run_.program.kernels[w.kernel]), w.call, w.start_ns, w.end_ns,
        w.group[0], w.group[1], w.group[2], w.grid[0], w.grid[1], w.grid[2]));
  }
  void copy(const CopyWork& w) override {
    const std::int64_t agent = place_.device + 1;
    tables_[kCopies].record(fmt::format(
        "\"MEMORY_COPY\",\"{}\",{},\"Agent {}\",\"Agent {}\",{},{},{}\n",
        w.to_device ? "MEMORY_COPY_HOST_TO_DEVICE" : "MEMORY_COPY_DEVICE_TO_HOST", w.stream,
        w.to_device ? 0 : agent, w.to_device ? agent : 0, w.call, w.start_ns, w.end_ns));
  }

private:
  const RocprofRun& run_;
  const RocprofRank place_;
  std::vector<RecordFile>& tables_;
};

// ---- JSON: one document with the lists of records, one after the other

enum class RecordKind : std::uint8_t { kNone, kHip, kRccl, kMarker, kKernel, kCopy };
constexpr std::size_t kRecordKinds = 6;

/// Writes the records of one kind during a walk. Marker texts have a separate list.
class JsonList final : public RocprofSink {
public:
  struct Names {
    std::array<std::vector<std::string>, kRecordKinds> operations; ///< operation names by kind
  };

  JsonList(const RocprofRun& run, const Names& names, RecordKind kind, bool texts, RecordFile& out)
      : names_(names), kind_(kind), texts_(texts), out_(out),
        place_(rocprof_rank(run.options, run.rank)) {}

  void call(const HostCall& c) override {
    if (kind_ != kind_of(c.kind))
      return;
    if (texts_) {
      item(fmt::format(R"({{"key":{},"value":"{}"}})", c.id, json_escaped(c.name)), false);
      return;
    }
    std::string args;
    for (const CallArgument& a : c.arguments)
      args += fmt::format(R"({}"{}":"{}")", args.empty() ? "" : ",", a.name, a.value);
    item(fmt::format(R"({}"args":{{{}}}}})",
                     common(c.kind == CallKind::kMarker ? "roctxRangePushA" : c.name, c.tid, c.id,
                            c.above, c.start_ns, c.end_ns),
                     args));
  }
  void kernel(const KernelWork& w) override {
    if (kind_ != RecordKind::kKernel)
      return;
    item(fmt::format(
        R"({}"dispatch_info":{{"size":72,"agent_id":{{"handle":{}}},"queue_id":{{"handle":{}}},"kernel_id":{},"dispatch_id":{},"private_segment_size":0,"group_segment_size":0,"workgroup_size":{{"x":{},"y":{},"z":{}}},"grid_size":{{"x":{},"y":{},"z":{}}}}},"stream_id":{{"handle":{}}}}})",
        common("KERNEL_DISPATCH_COMPLETE", w.tid, w.call, 0, w.start_ns, w.end_ns),
        kFirstHandle + place_.device + 1, w.stream, w.kernel + 1, ++dispatches_, w.group[0],
        w.group[1], w.group[2], w.grid[0], w.grid[1], w.grid[2], w.stream));
  }
  void copy(const CopyWork& w) override {
    if (kind_ != RecordKind::kCopy)
      return;
    const std::int64_t agent = kFirstHandle + place_.device + 1;
    item(fmt::format(
        R"({}"dst_agent_id":{{"handle":{}}},"src_agent_id":{{"handle":{}}},"bytes":{},"stream_id":{{"handle":{}}}}})",
        common(w.to_device ? "MEMORY_COPY_HOST_TO_DEVICE" : "MEMORY_COPY_DEVICE_TO_HOST", w.tid,
               w.call, 0, w.start_ns, w.end_ns),
        w.to_device ? agent : kFirstHandle, w.to_device ? kFirstHandle : agent, w.bytes, w.stream));
  }

private:
  static RecordKind kind_of(CallKind kind) {
    return kind == CallKind::kHip    ? RecordKind::kHip
           : kind == CallKind::kRccl ? RecordKind::kRccl
                                     : RecordKind::kMarker;
  }
  /// Returns the fields that all records have; the special fields of a kind follow.
  [[nodiscard]] std::string common(const std::string& operation, std::int64_t tid, std::int64_t id,
                                   std::int64_t above, std::int64_t start_ns,
                                   std::int64_t end_ns) const {
    const auto kind = static_cast<std::size_t>(kind_);
    const std::vector<std::string>& all = names_.operations[kind];
    const auto at = std::find(all.begin(), all.end(), operation) - all.begin();
    return fmt::format(
        R"({{"size":184,"kind":{},"operation":{},"thread_id":{},"correlation_id":{{"internal":{},"external":0,"ancestor":{}}},"start_timestamp":{},"end_timestamp":{},)",
        kind, at, tid, id, above, start_ns, end_ns);
  }
  void item(const std::string& text, bool record = true) {
    if (!first_)
      out_.text(",");
    first_ = false;
    if (record)
      out_.record(text);
    else
      out_.text(text);
  }

  const Names& names_;
  const RecordKind kind_;
  const bool texts_;
  RecordFile& out_;
  const RocprofRank place_;
  std::int64_t dispatches_ = 0;
  bool first_ = true;
};

constexpr std::array<const char*, kRecordKinds> kKindNames = {
    "NONE",       "HIP_RUNTIME_API_EXT", "RCCL_API", "MARKER_CORE_RANGE_API", "KERNEL_DISPATCH",
    "MEMORY_COPY"};

JsonList::Names names_of(const Program& program) {
  JsonList::Names out;
  auto& all = out.operations;
  for (const Call& c : program.calls) {
    auto& hip = all[static_cast<std::size_t>(RecordKind::kHip)];
    if (std::find(hip.begin(), hip.end(), c.name) == hip.end())
      hip.push_back(c.name);
  }
  all[static_cast<std::size_t>(RecordKind::kRccl)] = {
      "ncclCommInitRank", "ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast"};
  all[static_cast<std::size_t>(RecordKind::kMarker)] = {"roctxRangePushA"};
  all[static_cast<std::size_t>(RecordKind::kKernel)] = {
      "KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE", "KERNEL_DISPATCH_COMPLETE"};
  all[static_cast<std::size_t>(RecordKind::kCopy)] = {
      "MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE",
      "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE"};
  return out;
}

/// Writes the document up to the first list of records.
void json_head(const RocprofRun& run, const JsonList::Names& names, RecordFile& out) {
  const RocprofRank place = rocprof_rank(run.options, run.rank);
  out.text(fmt::format(
      R"({{"rocprofiler-sdk-tool":[{{"metadata":{{"node":{{"hostname":"node{}"}},"pid":{},"command":["python3","train.py"]}},"agents":[{{"id":{{"handle":{}}},"type":1,"node_id":0}})",
      place.node, place.pid, kFirstHandle));
  for (std::int64_t d = 0; d < place.gpus; ++d)
    out.text(fmt::format(
        R"(,{{"id":{{"handle":{}}},"type":2,"cu_count":304,"wave_front_size":64,"node_id":{},"logical_node_type_id":{},"name":"gfx942","product_name":"AMD Instinct MI300X"}})",
        kFirstHandle + d + 1, d + 1, d));
  out.text(R"(],"counters":[],"strings":{"callback_records":[],"buffer_records":[)");
  for (std::size_t k = 0; k < kRecordKinds; ++k) {
    std::string operations;
    for (const std::string& name : names.operations[k])
      operations += fmt::format("{}\"{}\"", operations.empty() ? "" : ",", name);
    out.text(fmt::format(R"({}{{"kind":"{}","operations":[{}]}})", k == 0 ? "" : ",", kKindNames[k],
                         operations));
  }
  out.text(R"(],"marker_api":[)");
  JsonList texts(run, names, RecordKind::kMarker, true, out);
  walk_rocprof(run, texts);
  out.text(R"(]},"code_objects":[],"kernel_symbols":[)");
  for (std::size_t k = 0; k < run.program.kernels.size(); ++k)
    out.text(fmt::format(R"({}{{"kernel_id":{},"formatted_kernel_name":"{}"}})", k == 0 ? "" : ",",
                         k + 1, json_escaped(rocprof_kernel_name(run.program.kernels[k]))));
  out.text(R"(],"host_functions":[],"summary":[],"callback_records":{"counter_collection":[]},)"
           R"("buffer_records":{)");
}

} // namespace

Result<EmitResult> emit_rank_rocprof_csv(const Options& options, const Program& program,
                                         const Groups& /*groups*/, const Run& run,
                                         std::int64_t rank, const std::string& path) {
  const std::string prefix = path.substr(0, path.rfind("kernel_trace"));
  std::vector<RecordFile> tables;
  tables.reserve(kTables.size());
  for (const auto& [name, head] : kTables) {
    RS_TRY(RecordFile file,
           RecordFile::create(fmt::format("{}{}.csv", prefix, name), std::string(head) + "\n"));
    tables.push_back(std::move(file));
  }
  const RocprofRun what{options, program, run, rank, kSynthRocprofTextBootNs};
  CsvEmitter emitter(what, tables);
  emitter.agents();
  walk_rocprof(what, emitter);
  EmitResult out;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    out.bytes += tables[t].bytes();
    if (t != kAgents) {
      out.events += tables[t].records();
      out.by_category[kTables[t].first] = tables[t].records();
    }
    RS_CHECK(tables[t].commit());
  }
  return out;
}

Result<EmitResult> emit_rank_rocprof_json(const Options& options, const Program& program,
                                          const Groups& /*groups*/, const Run& run,
                                          std::int64_t rank, const std::string& path) {
  RS_TRY(RecordFile file, RecordFile::create(path, ""));
  const RocprofRun what{options, program, run, rank, kSynthRocprofTextBootNs};
  const JsonList::Names names = names_of(program);
  json_head(what, names, file);
  EmitResult out;
  constexpr std::array<std::pair<const char*, RecordKind>, 5> kLists = {
      {{"kernel_dispatch", RecordKind::kKernel},
       {"hip_api", RecordKind::kHip},
       {"marker_api", RecordKind::kMarker},
       {"rccl_api", RecordKind::kRccl},
       {"memory_copy", RecordKind::kCopy}}};
  for (const auto& [name, kind] : kLists) { // one walk per list: no records are stored
    file.text(fmt::format("{}\"{}\":[", kind == RecordKind::kKernel ? "" : ",", name));
    const std::uint64_t before = file.records();
    JsonList list(what, names, kind, false, file);
    walk_rocprof(what, list);
    file.text("]");
    out.by_category[name] = file.records() - before;
  }
  file.text("}}]}\n");
  out.events = file.records();
  out.bytes = file.bytes();
  RS_CHECK(file.commit());
  return out;
}

} // namespace rankscope::synth
