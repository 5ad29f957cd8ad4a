// Reader for RPD databases (rocmProfileData: runTracer.sh, librpd_tracer): SQLite with rocpd_api,
// rocpd_op and rocpd_api_ops, versions 2 and 3, compressed or not. A file contains one or several
// processes.
#include "base/ascii.h"
#include "base/counters.h"
#include "core/trace_builder.h"
#include "os/byte_source.h"
#include "readers/reader.h"
#include "readers/rocprof/process_trace.h"
#include "readers/rocprof/rank_order.h"
#include "readers/rocprof/sqlite_file.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr const char* kRpdClock = "CLOCK_MONOTONIC";

/// Returns the number in a text such as "0x1f" or "31"; -1 for other texts.
std::int64_t handle_of(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex)
    text.remove_prefix(2);
  std::int64_t value = -1;
  const auto [end, status] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  return status == std::errc() && end == text.data() + text.size() ? value : -1;
}

/// Returns whether the call was made by the tracer itself, not by the program.
bool is_tracer_call(std::string_view api) {
  return contains(api, "::write") || api == "hcc_activity_callback" || api == "rpdflush";
}

/// Properties of a rocpd_api call that also apply to the operations that it launched.
struct RpdLaunch {
  std::int64_t stream = -1;
  std::int64_t bytes = -1;
  LaunchShape shape;
};

struct Texts {
  RowIndex ids;
  std::vector<std::string_view> views;
  StringPool pool;

  [[nodiscard]] std::string_view view(std::int64_t id) const {
    const std::size_t at = ids.find(id);
    return at == RowIndex::kNone ? std::string_view() : views[at];
  }
};

class RpdFile {
public:
  RpdFile(const std::string& path, const SqliteFile& file) : path_(path), file_(file) {}

  /// Returns the ids of processes with GPU work. Returns all ids if there is only one process, or
  /// if no process has GPU work.
  [[nodiscard]] std::vector<std::int64_t> find_processes() {
    read_links();
    find_owners();
    std::set<std::int64_t> all;
    std::set<std::int64_t> busy;
    for (const auto& [pid, index] : process_index_)
      all.insert(pid);
    for (const Link& link : links_)
      if (const std::size_t api = apis_.find(link.api); api != RowIndex::kNone)
        busy.insert(processes_[api_process_[api]]);
    const std::set<std::int64_t>& out = all.size() > 1 && !busy.empty() ? busy : all;
    return {out.begin(), out.end()};
  }

  Result<void> read(const ReadOptions& options, const TraceSink& sink) {
    file_.report(path_, problems_);
    const std::vector<std::int64_t> pids = find_processes();
    const bool several = pids.size() > 1;
    for (std::size_t i = 0; i < std::max<std::size_t>(pids.size(), 1); ++i)
      if (!several || !options.rank || *options.rank == static_cast<std::int64_t>(i))
        targets_[pids.empty() ? 0 : pids[i]] = make_target(several, i);
    strays_ = several ? nullptr : targets_.begin()->second.get();
    read_texts();
    read_operators();
    read_calls();
    read_launches();
    read_operations();
    read_monitors();
    for (auto& [pid, target] : targets_) {
      target->builder().diagnostics().merge(problems_);
      if (several)
        say_ranks_by_order(target->builder().diagnostics(), path_);
      RS_TRY(Trace done, std::move(*target).finish(file_.bytes()));
      RS_CHECK(sink(std::move(done)));
    }
    return {};
  }

private:
  struct Link {
    std::int64_t op, api;
  };

  std::unique_ptr<ProcessTrace> make_target(bool several, std::size_t number) {
    auto target = std::make_unique<ProcessTrace>(path_, rpd_reader.name, kRpdClock);
    if (several)
      target->builder().header().rank = static_cast<std::int64_t>(number);
    return target;
  }

  template <class Use>
  void each_row(const char* table, const std::vector<std::string>& columns, const Use& use) {
    file_.each_row(table, columns, problems_, use);
  }

  /// Reads the links between calls and operations, and sorts them by operation.
  void read_links() {
    each_row("rocpd_api_ops", {"op_id", "api_id"}, [&](const SqliteQuery& q) {
      if (const auto op = q.integer(0))
        if (const auto api = q.integer(1))
          links_.push_back({*op, *api});
    });
    std::ranges::stable_sort(links_, [](const Link& a, const Link& b) { return a.op < b.op; });
  }

  void find_owners() {
    each_row("rocpd_api", {"id", "pid"}, [&](const SqliteQuery& q) {
      const auto id = q.integer(0);
      if (!id || !apis_.add(*id))
        return;
      const auto [it, fresh] = process_index_.try_emplace(
          q.integer_or(1, 0), static_cast<std::uint32_t>(processes_.size()));
      if (fresh)
        processes_.push_back(it->first);
      api_process_.push_back(it->second);
    });
  }

  ProcessTrace* target_of(std::int64_t pid) {
    if (pid != last_pid_) {
      const auto it = targets_.find(pid);
      last_pid_ = pid;
      last_target_ = it == targets_.end() ? strays_ : it->second.get();
    }
    return last_target_;
  }

  void read_texts() {
    for (const auto& [table, texts] :
         {std::pair{"rocpd_string", &strings_}, {"rocpd_ustring", &unique_strings_}})
      each_row(table, {"id", "string"}, [&texts = *texts](const SqliteQuery& q) {
        if (const auto id = q.integer(0); id && texts.ids.add(*id))
          texts.views.push_back(texts.pool.view(texts.pool.intern(q.text(1))));
      });
  }

  /// Reads the ranges that the autograd pass of rpd identified as operators.
  void read_operators() {
    each_row("ext_autogradapi", {"api_ptr_id", "autogradName_id", "seq", "sizes"},
             [&](const SqliteQuery& q) {
               if (const auto api = q.integer(0)) {
                 Operator& op = operators_[*api];
                 op.name = q.integer_or(1, kNoId);
                 op.sequence = q.integer_or(2, kNoId);
                 op.sizes = q.text(3);
               }
             });
  }

  void read_calls() {
    const Texts& args = file_.has("rocpd_ustring") ? unique_strings_ : strings_;
    std::uint64_t tracer_rows = 0;
    const auto read = [&](const SqliteQuery& q) {
      const std::int64_t pid = q.integer_or(1, 0);
      ProcessTrace* const out = target_of(pid);
      if (out == nullptr)
        return;
      const auto start_ns = q.integer(3);
      const auto end_ns = q.integer(4);
      if (!out->usable(start_ns, end_ns, "rocpd_api"))
        return;
      const std::string_view name = strings_.view(q.integer_or(5, kNoId));
      const std::uint32_t track = out->thread(pid, q.integer_or(2, 0));
      const std::int64_t id = q.integer_or(0, kNoId);
      if (name == "UserMarker")
        marker(*out, id, track, args.view(q.integer_or(6, kNoId)), *start_ns, *end_ns);
      else if (is_tracer_call(name))
        ++tracer_rows;
      else {
        out->saw(Traced::kHostCalls);
        (void)out->call(name.starts_with("hsa") ? Category::kDriver : Category::kRuntime, track,
                        out->text(name.empty() ? "(no name)" : name), *start_ns, *end_ns, id);
      }
    };
    each_row("rocpd_api", {"id", "pid", "tid", "start", "end", "apiName_id", "args_id"}, read);
    if (tracer_rows > 0)
      problems_.add(counters::tracer_calls_left_out(), path_, tracer_rows);
  }

  void marker(ProcessTrace& out, std::int64_t id, std::uint32_t track, std::string_view text,
              std::int64_t start_ns, std::int64_t end_ns) {
    const auto op = operators_.find(id);
    if (op == operators_.end()) {
      out.marker(track, text, start_ns, end_ns);
      return;
    }
    const std::string_view name = strings_.view(op->second.name);
    out.saw(Traced::kMarkers);
    out.operation(track, name.empty() ? text : name, op->second.sizes, op->second.sequence,
                  start_ns, end_ns);
  }

  void read_launches() {
    const auto launched = [&](const SqliteQuery& q) -> RpdLaunch& {
      RpdLaunch& launch = launches_[q.integer_or(0, kNoId)];
      launch.stream = handle_of(q.text(1));
      return launch;
    };
    const auto kernel = [&](const SqliteQuery& q) {
      LaunchShape& shape = launched(q).shape;
      for (int i = 0; i < 3; ++i) {
        shape.grid[static_cast<std::size_t>(i)] = q.integer_or(2 + i, 0);
        shape.group[static_cast<std::size_t>(i)] = q.integer_or(5 + i, 0);
      }
    };
    each_row("rocpd_kernelapi",
             {"api_ptr_id", "stream", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY",
              "workgroupZ"},
             kernel);
    each_row("rocpd_copyapi", {"api_ptr_id", "stream", "size"},
             [&](const SqliteQuery& q) { launched(q).bytes = q.integer_or(2, -1); });
  }

  /// Returns the call that launched an operation, or kNoId.
  std::int64_t cause_of(std::int64_t op) {
    // operations are read in ascending order of id, and the links are sorted by this id
    while (next_link_ < links_.size() && links_[next_link_].op < op)
      ++next_link_;
    return next_link_ < links_.size() && links_[next_link_].op == op ? links_[next_link_].api
                                                                     : kNoId;
  }

  /// Returns the process of an operation. If the call is unknown, this is the only process in the
  /// file, or the first process with a call that launched work on this GPU.
  ProcessTrace* owner_of(std::int64_t cause, std::int64_t gpu) {
    const std::size_t api = cause == kNoId ? RowIndex::kNone : apis_.find(cause);
    if (api != RowIndex::kNone) {
      const std::int64_t pid = processes_[api_process_[api]];
      gpu_process_.try_emplace(gpu, pid);
      return target_of(pid);
    }
    const auto it = gpu_process_.find(gpu);
    return it == gpu_process_.end() ? strays_ : target_of(it->second);
  }

  void read_operations() {
    std::uint64_t homeless = 0;
    const auto read = [&](const SqliteQuery& q) {
      const std::int64_t cause = cause_of(q.integer_or(0, kNoId));
      const std::int64_t gpu = q.integer_or(1, -1);
      ProcessTrace* const out = owner_of(cause, gpu);
      if (out == nullptr) {
        homeless += cause == kNoId ? 1 : 0;
        return;
      }
      const auto start_ns = q.integer(3);
      const auto end_ns = q.integer(4);
      if (out->usable(start_ns, end_ns, "rocpd_op"))
        operation(*out, q, {*start_ns, *end_ns, cause, kEmptyStr, gpu, q.integer_or(2, -1)});
    };
    each_row("rocpd_op", {"id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"},
             read);
    if (homeless > 0)
      problems_.add(counters::operation_without_process(), path_, homeless);
  }

  void operation(ProcessTrace& out, const SqliteQuery& q, GpuWork work) {
    const auto launch = launches_.find(work.correlation);
    const RpdLaunch* const call = launch == launches_.end() ? nullptr : &launch->second;
    if (call != nullptr && call->stream >= 0)
      work.stream = call->stream;
    const std::string_view type = strings_.view(q.integer_or(6, kNoId));
    const std::string_view name = strings_.view(q.integer_or(5, kNoId));
    if (type.starts_with("Copy") || type == "FillBuffer") {
      const bool fill = type == "FillBuffer";
      work.name = out.text(!name.empty() ? name : fill ? "Memset (Device)" : copy_name(type));
      (void)out.copy(work, call == nullptr ? -1 : call->bytes, fill);
      return;
    }
    // the type is KernelExecution, or Task (part of a graph)
    work.name = out.text(!name.empty() ? name : type.empty() ? "(kernel without a name)" : type);
    (void)out.kernel(work, call == nullptr ? LaunchShape() : call->shape, false);
  }

  /// Reads values of the monitor (clocks and others). Each value becomes one sample at its start.
  void read_monitors() {
    if (targets_.empty())
      return;
    ProcessTrace& out = *targets_.begin()->second;
    std::uint64_t malformed = 0;
    const auto read = [&](const SqliteQuery& q) {
      const auto at_ns = q.integer(3);
      const std::string_view text = q.text(4);
      double value = 0;
      const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (!at_ns || !usable_time(*at_ns, 0) || status != std::errc() ||
          end != text.data() + text.size()) {
        ++malformed;
        return;
      }
      Track track;
      track.pid_text = out.text("SMI");
      track.tid = q.integer_or(1, -1);
      const std::string name = fmt::format("{} {} {}", q.text(0), track.tid, q.text(2));
      out.builder().sample(out.builder().track(track), out.text(name), *at_ns, value);
    };
    each_row("rocpd_monitor", {"deviceType", "deviceId", "monitorType", "start", "value"}, read);
    if (malformed > 0)
      problems_.add(counters::sample_malformed(), path_, malformed);
  }

  struct Operator {
    std::int64_t name = kNoId, sequence = kNoId;
    std::string sizes;
  };

  const std::string& path_;
  const SqliteFile& file_;
  Diagnostics problems_;
  Texts strings_, unique_strings_;
  RowIndex apis_;
  std::vector<std::uint32_t> api_process_; ///< index into processes_
  std::vector<std::int64_t> processes_;
  std::map<std::int64_t, std::uint32_t> process_index_;
  std::vector<Link> links_;
  std::size_t next_link_ = 0;
  std::unordered_map<std::int64_t, Operator> operators_; ///< by call id
  std::unordered_map<std::int64_t, RpdLaunch> launches_; ///< by call id
  std::map<std::int64_t, std::int64_t> gpu_process_;
  std::map<std::int64_t, std::unique_ptr<ProcessTrace>> targets_;
  ProcessTrace* strays_ = nullptr;
  std::int64_t last_pid_ = kNoId;
  ProcessTrace* last_target_ = nullptr;
};

bool has_tables(const SqliteFile& file) {
  return file.has("rocpd_op") && (file.has("rocpd_api") || file.has("rocpd_api_ops"));
}

bool sniff_rpd(std::string_view head, std::string_view path) {
  if (!is_sqlite(head))
    return false;
  if (contains(head, "\"rocpd_op\"") && contains(head, "\"rocpd_api_ops\""))
    return true;
  if (!lies_on_disk(path))
    return false;
  const Result<SqliteFile> file = SqliteFile::open(std::string(path));
  // if there is not enough space to decompress the file, the reader will report this
  return file ? has_tables(*file) : file.error().code == ErrorCode::kOutput;
}

NameClaim claims_rpd(std::string_view file_name) {
  return file_name.ends_with(".rpd") ? NameClaim::kYes : NameClaim::kNo;
}

FileInfo inspect_rpd(std::string_view, std::string_view path) {
  FileInfo out;
  out.trace = true;
  if (!lies_on_disk(path))
    return out;
  const std::string name(path);
  const Result<SqliteFile> file = SqliteFile::open(name);
  if (!file)
    return out;
  const std::vector<std::int64_t> pids = RpdFile(name, *file).find_processes();
  for (std::size_t i = 0; pids.size() > 1 && i < pids.size(); ++i)
    out.ranks.push_back(static_cast<std::int64_t>(i));
  return out;
}

Result<void> read_rpd(ByteSource& source, const std::string& path, const ReadOptions& options,
                      const TraceSink& sink) {
  RS_TRY(const SqliteFile file, SqliteFile::open(path, &source));
  if (!has_tables(file))
    return Error{ErrorCode::kUnreadable, path,
                 "no RPD tables (rocpd_op, rocpd_api, rocpd_api_ops) in this database", ""};
  return RpdFile(path, file).read(options, sink);
}

} // namespace

const Reader rpd_reader{
    "rpd", "rocmProfileData databases", ".rpd", claims_rpd, sniff_rpd, inspect_rpd, read_rpd};

} // namespace rankscope
