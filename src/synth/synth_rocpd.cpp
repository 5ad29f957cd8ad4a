#include "synth/synth_rocpd.h"

#include "os/output_file.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <initializer_list>
#include <memory>
#include <sqlite3.h>
#include <unordered_map>

namespace rankscope::synth {
namespace {

constexpr const char* kGuid = "0000ddb5_8903_7903_b269_cd8d3745bb8a";
constexpr std::int64_t kBootNs = 3'719'662'000'000'000; ///< the host's clock when the run began
constexpr std::int64_t kFirstStack = 5001;

/// The columns of schema 3.0 that readers use.
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

std::string with_guid(std::string sql) {
  for (std::size_t at = sql.find('@'); at != std::string::npos; at = sql.find('@', at))
    sql.replace(at, 1, kGuid);
  return sql;
}

/// A database that is written once; the first failure is kept.
class Database {
public:
  explicit Database(const std::string& path) : db_(nullptr, sqlite3_close) {
    sqlite3* raw = nullptr;
    good_ = sqlite3_open(path.c_str(), &raw) == SQLITE_OK;
    db_.reset(raw);
    run("PRAGMA journal_mode=off; PRAGMA synchronous=off; BEGIN;");
  }
  void run(const std::string& sql) {
    good_ = good_ &&
            sqlite3_exec(db_.get(), with_guid(sql).c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  [[nodiscard]] sqlite3* get() const { return db_.get(); }
  void fail() { good_ = false; }
  [[nodiscard]] bool good() const { return good_; }

private:
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> db_;
  bool good_ = false;
};

/// INSERT of a row after the other; ids count from 1.
class Table {
public:
  Table(Database& db, const std::string& name, int columns)
      : db_(db), statement_(nullptr, sqlite3_finalize) {
    std::string sql = "INSERT INTO rocpd_" + name + "_@ VALUES (?";
    for (int i = 1; i < columns; ++i)
      sql += ", ?";
    sqlite3_stmt* raw = nullptr;
    if (!db.good() ||
        sqlite3_prepare_v2(db.get(), with_guid(sql + ")").c_str(), -1, &raw, nullptr) != SQLITE_OK)
      db.fail();
    statement_.reset(raw);
  }
  /// Numbers for the columns behind the id, then texts for those behind them.
  std::int64_t add(std::initializer_list<std::int64_t> numbers,
                   std::initializer_list<std::string> texts = {}) {
    if (!db_.good())
      return 0;
    int at = 1;
    sqlite3_bind_int64(statement_.get(), at++, ++rows_);
    for (const std::int64_t n : numbers)
      sqlite3_bind_int64(statement_.get(), at++, n);
    for (const std::string& text : texts)
      sqlite3_bind_text(statement_.get(), at++, text.c_str(), -1, SQLITE_TRANSIENT);
    if (sqlite3_step(statement_.get()) != SQLITE_DONE)
      db_.fail();
    sqlite3_reset(statement_.get());
    return rows_;
  }
  [[nodiscard]] std::int64_t rows() const { return rows_; }

private:
  Database& db_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
  std::int64_t rows_ = 0;
};

/// "[304, 1, 1]"
std::array<std::int64_t, 3> dims_of(const std::string& text) {
  std::array<std::int64_t, 3> out{1, 1, 1};
  const char* p = text.data();
  const char* const end = p + text.size();
  for (std::int64_t& n : out) {
    while (p < end && (*p < '0' || *p > '9'))
      ++p;
    p = std::from_chars(p, end, n).ptr;
  }
  return out;
}

const char* rccl_call(const std::string& name) {
  return name == "allreduce"              ? "ncclAllReduce"
         : name == "_allgather_base"      ? "ncclAllGather"
         : name == "_reduce_scatter_base" ? "ncclReduceScatter"
                                          : "ncclBroadcast";
}

class RocpdEmitter {
public:
  RocpdEmitter(const Options& o, const Program& p, const Run& run, std::int64_t rank, Database& db)
      : o_(o), p_(p), run_(run), rank_(rank), times_(run.ranks[static_cast<std::size_t>(rank)]),
        window_(window_of(o, rank)), pid_(3200 + 37 * rank), device_(rank % o.gpus_per_node),
        shift_(file_ns(run, rank, 0) + kBootNs), db_(db), strings_(db, "string", 2),
        symbols_(db, "info_kernel_symbol", 6), events_(db, "event", 6), args_(db, "arg", 6),
        regions_(db, "region", 8), kernels_(db, "kernel_dispatch", 18),
        copies_(db, "memory_copy", 13) {}

  EmitResult run() {
    machine();
    symbols();
    if (o_.process_groups == 1)
      communicator();
    for (std::int64_t s = window_.first; s < window_.last; ++s)
      step(static_cast<std::size_t>(s));
    db_.run("COMMIT;");
    EmitResult out;
    out.events = static_cast<std::uint64_t>(regions_.rows() + kernels_.rows() + copies_.rows());
    out.by_category = {{"region", static_cast<std::uint64_t>(regions_.rows())},
                       {"kernel_dispatch", static_cast<std::uint64_t>(kernels_.rows())},
                       {"memory_copy", static_cast<std::uint64_t>(copies_.rows())}};
    return out;
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
        rank_ / o_.gpus_per_node, pid_, rank_, o_.ranks, pid_ + 611));
    for (std::int64_t d = 0; d < o_.gpus_per_node; ++d)
      db_.run(fmt::format("INSERT INTO rocpd_info_agent_@ VALUES ({0}, 1, {1}, 'GPU', {0}, {0}, "
                          "{2}, 'gfx942', '', 'AMD Instinct MI300X', '{{\"cu_count\": 304, "
                          "\"wave_front_size\": 64}}');",
                          d + 1, pid_, d));
  }

  std::int64_t string(const std::string& text) {
    const auto [it, fresh] = string_ids_.try_emplace(text, 0);
    if (fresh)
      it->second = strings_.add({}, {text});
    return it->second;
  }

  void symbols() {
    std::unordered_map<std::string, std::int64_t> seen;
    for (const Kernel& k : p_.kernels) {
      // the runtime fills memory by a kernel of its own
      const std::string name =
          k.kind == KernelKind::kMemset ? "__amd_rocclr_fillBufferAligned" : k.name;
      std::int64_t& id = seen[name];
      if (id == 0)
        id = symbols_.add({1, pid_}, {name + ".kd", name, "{}"});
      symbol_of_.push_back(id);
    }
  }

  std::int64_t event(const char* category, std::int64_t stack, std::int64_t parent,
                     const std::string& data = "{}") {
    return events_.add({string(category), stack, parent, 0}, {data});
  }

  void region(std::int64_t tid, std::int64_t start, std::int64_t end, const std::string& name,
              std::int64_t event) {
    (void)regions_.add({1, pid_, tid, start, end, string(name), event});
  }

  /// How many ranks there are is told when the communicator is made.
  void communicator() {
    const std::int64_t start = action(static_cast<std::size_t>(window_.first), 0) - 100'000;
    const std::int64_t of = event("RCCL_API", next_stack_++, 0);
    region(pid_, start, start + 50'000, "ncclCommInitRank", of);
    (void)args_.add({of, 1}, {"int", "nranks", std::to_string(o_.ranks)});
  }

  [[nodiscard]] std::int64_t tid(std::int32_t thread) const {
    return thread == 0 ? pid_ : pid_ + 611;
  }
  [[nodiscard]] std::int64_t action(std::size_t s, std::int32_t a) const {
    return times_.action_ns[s * p_.actions.size() + static_cast<std::size_t>(a)] + shift_;
  }

  void step(std::size_t s) {
    std::unordered_map<std::int32_t, std::int64_t> stack_of; // of the call, by collective
    for (std::size_t i = 0; i < p_.ops.size(); ++i) {
      const Op& op = p_.ops[i];
      if (op.annotation)
        range(op, i, s);
      else if (op.collective >= 0)
        stack_of.emplace(op.collective, rccl(op, s));
    }
    for (const Call& call : p_.calls) {
      const std::int64_t stack = next_stack_++;
      const Kernel* const kernel =
          call.kernel < 0 ? nullptr : &p_.kernels[static_cast<std::size_t>(call.kernel)];
      const auto above = kernel == nullptr ? stack_of.end() : stack_of.find(kernel->collective);
      region(tid(call.thread), action(s, call.begin), action(s, call.end), call.name,
             event("HIP_RUNTIME_API_EXT", stack, above == stack_of.end() ? 0 : above->second));
      if (kernel != nullptr)
        work(*kernel, static_cast<std::size_t>(call.kernel), s, stack, tid(call.thread));
    }
  }

  void range(const Op& op, std::size_t i, std::size_t s) {
    const std::string text =
        i == 0 ? fmt::format("{}#{}", op.name, first_step_number(o_) + static_cast<std::int64_t>(s))
               : op.name;
    region(tid(op.thread), action(s, op.begin), action(s, op.end), "roctxRangePushA",
           event("MARKER_CORE_RANGE_API", next_stack_++, 0,
                 fmt::format("{{\"message\": \"{}\"}}", text)));
  }

  /// The call of RCCL that c10d makes, in the place of its record_param_comms.
  std::int64_t rccl(const Op& op, std::size_t s) {
    const Collective& c = p_.collectives[static_cast<std::size_t>(op.collective)];
    const std::int64_t stack = next_stack_++;
    const std::int64_t of = event("RCCL_API", stack, 0);
    const std::string call = rccl_call(c.name);
    region(tid(op.thread), action(s, op.begin), action(s, op.end), call, of);
    const bool gives = call == "ncclAllGather";
    const bool takes = call == "ncclReduceScatter";
    (void)args_.add({of, 2}, {"size_t",
                              gives   ? "sendcount"
                              : takes ? "recvcount"
                                      : "count",
                              std::to_string(takes ? c.out_nelems : c.in_nelems)});
    (void)args_.add({of, 3}, {"ncclDataType_t", "datatype", c.dtype == "BFloat16" ? "9" : "7"});
    return stack;
  }

  void work(const Kernel& kernel, std::size_t k, std::size_t s, std::int64_t stack,
            std::int64_t thread) {
    static constexpr std::array<std::int64_t, 3> kStreams = {0, 4, 5};
    const std::int64_t stream = kStreams[static_cast<std::size_t>(kernel.stream)];
    const std::int64_t start = times_.kernel_start_ns[s * p_.kernels.size() + k] + shift_;
    const std::int64_t end = times_.kernel_end_ns[s * p_.kernels.size() + k] + shift_;
    const std::int64_t agent = device_ + 1;
    if (kernel.kind == KernelKind::kMemcpy) {
      const bool to_device = kernel.name.find("HtoD") != std::string::npos;
      (void)copies_.add(
          {1, pid_, thread, start, end,
           string(to_device ? "MEMORY_COPY_HOST_TO_DEVICE" : "MEMORY_COPY_DEVICE_TO_HOST"),
           to_device ? agent : 0, to_device ? 0 : agent, kernel.bytes, stream, stream,
           event("MEMORY_COPY", stack, stack)});
      return;
    }
    const bool comm = kernel.kind == KernelKind::kComm;
    const auto group =
        comm ? std::array<std::int64_t, 3>{run_.config.threads, 1, 1} : dims_of(kernel.block);
    auto grid =
        comm ? std::array<std::int64_t, 3>{run_.config.channels, 1, 1} : dims_of(kernel.grid);
    for (std::size_t i = 0; i < 3; ++i) // in work-items
      grid[i] *= group[i];
    (void)kernels_.add({1, pid_, thread, agent, symbol_of_[k], kernels_.rows() + 1, stream, stream,
                        start, end, group[0], group[1], group[2], grid[0], grid[1], grid[2],
                        event("KERNEL_DISPATCH", stack, stack)});
  }

  const Options& o_;
  const Program& p_;
  const Run& run_;
  const std::int64_t rank_;
  const RankTimes& times_;
  const Window window_;
  const std::int64_t pid_;
  const std::int64_t device_;
  const std::int64_t shift_; ///< true time to the host's clock
  Database& db_;
  Table strings_, symbols_, events_, args_, regions_, kernels_, copies_;
  std::unordered_map<std::string, std::int64_t> string_ids_;
  std::vector<std::int64_t> symbol_of_;
  std::int64_t next_stack_ = kFirstStack;
};

} // namespace

Result<EmitResult> emit_rank_rocpd(const Options& options, const Program& program,
                                   const Groups& /*groups*/, const Run& run, std::int64_t rank,
                                   const std::string& path) {
  RS_TRY(TempName name, TempName::reserve(path));
  EmitResult out;
  bool good = false;
  {
    Database db(name.temp_path());
    db.run(kSchema);
    out = RocpdEmitter(options, program, run, rank, db).run();
    good = db.good();
  }
  if (!good)
    return Error{ErrorCode::kOutput, path, "cannot write this database", "is there room?"};
  std::error_code ec;
  out.bytes = std::filesystem::file_size(name.temp_path(), ec);
  RS_CHECK(name.commit());
  return out;
}

} // namespace rankscope::synth
