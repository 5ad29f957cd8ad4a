// Reads the SQLite export of Nsight Systems (docs/nsys.md): sums, and the NVTX projection.
#include "readers/nsys/nsys_sqlite.h"

#include "readers/rocprof/sqlite_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace rankscope {
namespace {

struct Operation {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t gpu = 0; ///< NsysInterval::gpu
};

/// Returns columns `first` and `first` + 1 as start and end. Returns nullopt if a value is not an
/// integer, if the end is before the start, or if a time is more than 146 years before or after 0,
/// which no nanosecond clock can reach.
std::optional<Operation> times_of(const SqliteQuery& q, int first) {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 62;
  const auto start_ns = q.integer(first);
  const auto end_ns = q.integer(first + 1);
  if (!start_ns || !end_ns || *end_ns < *start_ns || *start_ns <= -kFarthest ||
      *end_ns >= kFarthest)
    return std::nullopt;
  return Operation{*start_ns, *end_ns, 0};
}

/// A runtime or driver API call that launched GPU work, with the time span of this work.
struct Launch {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Operation work;
};

const char* builtin_copy_label(std::int64_t kind) {
  switch (kind) {
  case 1:
    return "Host-to-Device";
  case 2:
    return "Device-to-Host";
  case 8:
    return "Device-to-Device";
  case 9:
    return "Host-to-Host";
  case 10:
    return "Peer-to-Peer";
  default:
    return nullptr;
  }
}

class Export {
public:
  Export(std::string path, SqliteFile file) : path_(std::move(path)), file_(std::move(file)) {}

  Result<void> read(NsysData& data, bool with_nvtx, bool with_memory) {
    if (has("StringIds")) {
      SqliteQuery q = file_.query("SELECT id, value FROM StringIds");
      while (q.step())
        strings_.emplace(q.integer_or(0, 0), std::string(q.text(1)));
      RS_CHECK(check(q));
    }
    if (!has("CUPTI_ACTIVITY_KIND_KERNEL"))
      return Error{
          ErrorCode::kUnreadable, path_,
          "no table CUPTI_ACTIVITY_KIND_KERNEL: no GPU kernel was recorded, or this is not "
          "an Nsight Systems export",
          "record with nsys profile --trace=cuda,nvtx --cuda-graph-trace=node, then nsys export "
          "--type sqlite"};
    if (with_nvtx && !has("NVTX_EVENTS"))
      return Error{ErrorCode::kUnreadable, path_,
                   "no table NVTX_EVENTS: no NVTX range was recorded",
                   "record with --trace=cuda,nvtx, or leave out the NVTX tag"};
    RS_CHECK(read_kernels(data));
    RS_CHECK(read_memory(data));
    RS_CHECK(read_graphs(data));
    data.has_memory = with_memory;
    std::set<std::int64_t> devices;
    for (const auto& [gpu, unused] : gpus_)
      devices.insert(gpu.second);
    data.most_gpus = gpus_.size();
    data.least_gpus = devices.size();
    if (with_nvtx)
      RS_CHECK(read_ranges(data));
    return {};
  }

private:
  [[nodiscard]] bool has(const char* table) const { return file_.has(table); }
  [[nodiscard]] bool has_column(const char* table, const char* column) const {
    return file_.has(table, column);
  }
  Result<void> check(const SqliteQuery& q) const {
    if (q.failed())
      return Error{
          ErrorCode::kUnreadable, path_, file_.problem(),
          "the file may be truncated, have an unknown version, or not be an Nsight Systems export"};
    return {};
  }
  std::string string_of(std::int64_t id) const {
    const auto it = strings_.find(id);
    return it == strings_.end() ? fmt::format("(string {})", id) : it->second;
  }
  void remember(std::int64_t pid, std::int64_t correlation, Operation op) {
    const auto [it, fresh] = work_.try_emplace({pid, correlation}, op);
    if (!fresh) { // a graph launch: one call launches several kernels
      it->second.start_ns = std::min(it->second.start_ns, op.start_ns);
      it->second.end_ns = std::max(it->second.end_ns, op.end_ns);
    }
  }
  /// Returns the columns that identify the GPU and the process of a row. Its value, globalPid, is
  /// the upper part of globalTid. Exports without this column contain one process.
  std::string gpu_columns(const char* table) {
    by_pid_ = by_pid_ && has_column(table, "globalPid");
    return fmt::format("{}, {}", has_column(table, "deviceId") ? "deviceId" : "0",
                       has_column(table, "globalPid") ? "globalPid" : "0");
  }
  std::size_t gpu_of(std::int64_t pid, std::int64_t device) {
    return gpus_.try_emplace({pid, device}, gpus_.size()).first->second;
  }

  Result<void> read_kernels(NsysData& data) {
    const char* table = "CUPTI_ACTIVITY_KIND_KERNEL";
    SqliteQuery q = file_.query(fmt::format(
        "SELECT start, end, demangledName, correlationId, {} FROM {}", gpu_columns(table), table));
    std::unordered_map<std::string, std::size_t> index;
    while (q.step()) {
      const std::optional<Operation> times = times_of(q, 0);
      if (!times) {
        ++data.rows_without_times;
        continue;
      }
      Operation op = *times;
      op.gpu = gpu_of(q.integer_or(5, 0), q.integer_or(4, 0));
      const std::string name = string_of(q.integer_or(2, 0));
      const auto [it, fresh] = index.try_emplace(name, data.kernels.size());
      if (fresh)
        data.kernels.push_back({name, 0, 0});
      data.kernels[it->second].total_ns += static_cast<double>(op.end_ns - op.start_ns);
      ++data.kernels[it->second].count;
      data.intervals.push_back({op.start_ns, op.end_ns, op.gpu, it->second});
      remember(q.integer_or(5, 0), q.integer_or(3, 0), op);
    }
    RS_CHECK(check(q));
    data.has_intervals = true;
    std::vector<std::size_t> order(data.kernels.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return data.kernels[a].total_ns > data.kernels[b].total_ns;
    });
    std::vector<std::size_t> place(order.size());
    std::vector<NsysSum> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(data.kernels[order[i]]);
    }
    data.kernels = std::move(sorted);
    for (NsysInterval& k : data.intervals)
      k.kernel = place[k.kernel];
    return {};
  }

  Result<void> read_memory(NsysData& data) {
    std::map<std::int64_t, std::string> labels;
    if (has("ENUM_CUDA_MEMCPY_OPER")) {
      SqliteQuery q = file_.query("SELECT id, label FROM ENUM_CUDA_MEMCPY_OPER");
      while (q.step())
        labels[q.integer_or(0, 0)] = q.text(1);
      RS_CHECK(check(q));
    }
    std::map<std::string, NsysSum> sums;
    const auto add = [&](const std::string& name, const SqliteQuery& q, std::int64_t device,
                         std::int64_t pid, std::int64_t correlation) {
      const std::optional<Operation> times = times_of(q, 0);
      if (!times) {
        ++data.rows_without_times;
        return;
      }
      Operation op = *times;
      op.gpu = gpu_of(pid, device);
      remember(pid, correlation, op);
      NsysSum& sum = sums[name];
      sum.name = name;
      sum.total_ns += static_cast<double>(op.end_ns - op.start_ns);
      ++sum.count;
    };
    if (const char* table = "CUPTI_ACTIVITY_KIND_MEMCPY"; has(table)) {
      SqliteQuery q = file_.query(fmt::format(
          "SELECT start, end, copyKind, correlationId, {} FROM {}", gpu_columns(table), table));
      while (q.step()) {
        const std::int64_t kind = q.integer_or(2, 0);
        const char* known = builtin_copy_label(kind);
        const auto it = labels.find(kind);
        const std::string label = it != labels.end() ? it->second
                                  : known != nullptr ? std::string(known)
                                                     : fmt::format("kind {}", kind);
        add(fmt::format("[CUDA memcpy {}]", label), q, q.integer_or(4, 0), q.integer_or(5, 0),
            q.integer_or(3, 0));
      }
      RS_CHECK(check(q));
    }
    if (const char* table = "CUPTI_ACTIVITY_KIND_MEMSET"; has(table)) {
      SqliteQuery q = file_.query(
          fmt::format("SELECT start, end, correlationId, {} FROM {}", gpu_columns(table), table));
      while (q.step())
        add("[CUDA memset]", q, q.integer_or(3, 0), q.integer_or(4, 0), q.integer_or(2, 0));
      RS_CHECK(check(q));
    }
    for (auto& [name, sum] : sums)
      data.memory.push_back(sum);
    std::ranges::stable_sort(data.memory, std::ranges::greater(), &NsysSum::total_ns);
    return {};
  }

  /// Reads the graph launches that were recorded as one operation, without their kernels.
  Result<void> read_graphs(NsysData& data) {
    const char* table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    if (!has(table))
      return {};
    SqliteQuery q = file_.query(
        fmt::format("SELECT start, end, correlationId, {} FROM {}", gpu_columns(table), table));
    while (q.step()) {
      ++data.graph_launches;
      std::optional<Operation> op = times_of(q, 0);
      if (!op) {
        ++data.rows_without_times;
        continue;
      }
      op->gpu = gpu_of(q.integer_or(4, 0), q.integer_or(3, 0));
      remember(q.integer_or(4, 0), q.integer_or(2, 0), *op);
    }
    return check(q);
  }

  Result<void> read_ranges(NsysData& data) {
    // launches of each thread, sorted by start
    std::unordered_map<std::int64_t, std::vector<Launch>> threads;
    for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}) {
      if (!has(table))
        continue;
      SqliteQuery q =
          file_.query(fmt::format("SELECT start, end, correlationId, globalTid FROM {}", table));
      while (q.step()) {
        const std::int64_t tid = q.integer_or(3, 0);
        const auto it =
            work_.find({by_pid_ ? tid & ~std::int64_t{0xffffff} : 0, q.integer_or(2, 0)});
        if (it != work_.end())
          threads[tid].push_back({q.integer_or(0, 0), q.integer_or(1, 0), it->second});
      }
      RS_CHECK(check(q));
    }
    for (auto& [tid, launches] : threads)
      std::ranges::sort(launches, {}, &Launch::start_ns);
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains; // (pid, domain)
    const auto text_of = [&](const SqliteQuery& q, int text, int id) {
      return !q.null(text) ? std::string(q.text(text))
             : q.null(id)  ? std::string()
                           : string_of(q.integer_or(id, 0));
    };
    {
      SqliteQuery q = file_.query("SELECT globalTid, domainId, text, textId FROM NVTX_EVENTS WHERE "
                                  "eventType = 75");
      while (q.step())
        domains[{q.integer_or(0, 0) & ~std::int64_t{0xffffff}, q.integer_or(1, 0)}] =
            text_of(q, 2, 3);
      RS_CHECK(check(q));
    }
    const std::string end_tid = has_column("NVTX_EVENTS", "endGlobalTid")
                                    ? " AND (endGlobalTid IS NULL OR endGlobalTid = globalTid)"
                                    : "";
    SqliteQuery q =
        file_.query("SELECT start, end, globalTid, domainId, text, textId FROM NVTX_EVENTS "
                    "WHERE eventType IN (59, 60) AND end IS NOT NULL" +
                    end_tid + " ORDER BY start");
    while (q.step()) {
      const std::int64_t tid = q.integer_or(2, 0);
      const std::vector<Launch>& launches = threads[tid];
      const std::int64_t end_ns = q.integer_or(1, 0);
      Operation projected{INT64_MAX, INT64_MIN, 0};
      std::set<std::size_t> gpus;
      auto launch = std::ranges::lower_bound(launches, q.integer_or(0, 0), {}, &Launch::start_ns);
      for (; launch != launches.end() && launch->start_ns <= end_ns; ++launch) {
        if (launch->end_ns > end_ns)
          continue;
        projected.start_ns = std::min(projected.start_ns, launch->work.start_ns);
        projected.end_ns = std::max(projected.end_ns, launch->work.end_ns);
        gpus.insert(launch->work.gpu);
      }
      const auto domain = domains.find({tid & ~std::int64_t{0xffffff}, q.integer_or(3, 0)});
      std::string name =
          fmt::format("{}:{}", domain == domains.end() ? "" : domain->second, text_of(q, 4, 5));
      if (projected.end_ns < projected.start_ns) { // nsys does not list a projection either
        ++data.ranges_without_work[std::move(name)];
        continue;
      }
      data.ranges.push_back({std::move(name),
                             static_cast<double>(projected.end_ns - projected.start_ns),
                             projected.start_ns,
                             {gpus.begin(), gpus.end()}});
    }
    RS_CHECK(check(q));
    data.has_ranges = true;
    return {};
  }

  std::string path_;
  SqliteFile file_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::map<std::pair<std::int64_t, std::int64_t>, Operation> work_;   ///< (pid, correlation)
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> gpus_; ///< (pid, device)
  bool by_pid_ = true;
};

} // namespace

Result<NsysData> read_nsys_sqlite(const std::string& path, bool with_nvtx, bool with_memory) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return Error{ErrorCode::kUnreadable, path, "no such file", ""};
  Result<SqliteFile> file = SqliteFile::open(path);
  if (!file) {
    file.error().hint = "export it with nsys export --type sqlite";
    return file.error();
  }
  NsysData data;
  RS_CHECK(Export(path, std::move(*file)).read(data, with_nvtx, with_memory));
  return data;
}

} // namespace rankscope
