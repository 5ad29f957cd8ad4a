// Reads the CSV tables of rocprofv3 (--output-format csv, or rocpd convert). All files
// PREFIX_KIND.csv with the same prefix are from one process; any of them can be given to read all.
// Columns are found by name, so ROCm 6.2 to 7.x can be read. If there is a "Guid" column, the files
// may contain several processes. results.csv of the first rocprof (--timestamp on) is a single
// table of kernels.
#include "base/ascii.h"
#include "base/counters.h"
#include "core/trace_builder.h"
#include "model/kernels.h"
#include "os/byte_source.h"
#include "readers/reader.h"
#include "readers/rocprof/csv_fields.h"
#include "readers/rocprof/csv_lines.h"
#include "readers/rocprof/pc_samples.h"
#include "readers/rocprof/process_trace.h"
#include "readers/rocprof/rank_order.h"
#include "readers/rocprof/rccl_calls.h"
#include "readers/rocprof/rocpd_session.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr const char* kRocprofCsvClock = "CLOCK_BOOTTIME";

class CsvSet {
public:
  CsvSet(const std::string& path, const ReadOptions& options) : path_(path), options_(options) {}

  /// Reads the table in `source` or, if it is one of several tables of a process, all these tables.
  Result<void> read(ByteSource& source) {
    const std::optional<std::string> prefix = path_ == "-" ? std::nullopt : prefix_of(path_);
    if (!prefix) {
      read_table(source, path_);
      return {};
    }
    std::error_code none;
    for (const char* ending : {".csv", ".csv.gz", ".csv.zst"})
      for (const char* kernel_table :
           {"counter_collection", "pc_sampling_host_trap", "pc_sampling_stochastic"})
        by_dispatch_ =
            by_dispatch_ || std::filesystem::exists(*prefix + kernel_table + ending, none);
    for (const std::string_view kind : kCsvKinds)
      for (const char* ending : {".csv", ".csv.gz", ".csv.zst"}) {
        const std::string file = fmt::format("{}{}{}", *prefix, kind, ending);
        if (file == path_) {
          read_table(source, file);
          continue;
        }
        std::error_code ec;
        if (!std::filesystem::is_regular_file(file, ec))
          continue;
        const auto sibling = ByteSource::open(file);
        if (sibling)
          read_table(**sibling, file);
        else
          problems_.add(counters::table_unreadable(sibling.error().what), file);
      }
    return {};
  }

  Result<void> finish(const TraceSink& sink) {
    if (targets_.empty())
      (void)target_of("");
    // if there are several processes, those with GPU work are the ranks
    if (std::any_of(targets_.begin(), targets_.end(),
                    [](const auto& entry) { return entry.second->trace.gpu_events() > 0; }))
      std::erase_if(targets_, [](const auto& e) { return e.second->trace.gpu_events() == 0; });
    const bool several = targets_.size() > 1;
    std::int64_t rank = 0;
    for (auto& [guid, target] : targets_) {
      attach_collectives(*target);
      ProcessTrace& trace = target->trace;
      trace.builder().diagnostics().merge(problems_);
      if (several) {
        trace.builder().header().rank = rank;
        say_ranks_by_order(trace.builder().diagnostics(), path_);
      }
      if (!several || !options_.rank || *options_.rank == rank) {
        RS_TRY(Trace done, std::move(trace).finish(bytes_));
        RS_CHECK(sink(std::move(done)));
      }
      ++rank;
    }
    return {};
  }

private:
  struct Target {
    Target(const std::string& path, const char* clock)
        : trace(path, rocprof_csv_reader.name, clock), rccl(trace.builder()) {}
    ProcessTrace trace;
    RcclCalls rccl;
    std::vector<EventId> rccl_events;
    std::vector<std::pair<EventId, std::int64_t>> comm_kernels; ///< kernel and its correlation id
    std::vector<signed char> communicates;                      ///< indexed by text id; -1 = not
                                                                ///< computed
    std::unordered_map<std::int64_t, EventId> dispatches;       ///< used if there are tables with
                                                                ///< values per dispatch
  };

  Target* target_of(std::string_view guid) {
    if (last_target_ != nullptr && guid == last_guid_)
      return last_target_;
    auto it = targets_.find(guid);
    if (it == targets_.end())
      it = targets_.emplace(guid, std::make_unique<Target>(path_, clock_)).first;
    it->second->trace.builder().limit_for(file_bytes_);
    last_guid_ = it->first;
    last_target_ = it->second.get();
    return last_target_;
  }

  /// Returns false, and counts the row, if the row is incomplete or does not have as many fields as
  /// the header: its writer was killed, or two processes wrote the file at the same time.
  bool is_complete(const CsvLines& row, std::size_t fields, const std::string& file) {
    if (row.fields() == fields)
      return true;
    problems_.add(counters::row_malformed(row.fields() > fields ? "more" : "fewer"),
                  fmt::format("{}: line {}", file, row.line()));
    return false;
  }

  void read_table(ByteSource& source, const std::string& file) {
    file_bytes_ += source.file_bytes();
    last_target_ = nullptr; // target_of() raises the limits
    CsvLines rows(source);
    if (rows.next()) {
      const CsvColumns columns(rows);
      if (columns.has("Counter_Name"))
        read_counters(rows, columns, file);
      else if (columns.has("Sample_Timestamp"))
        read_samples(rows, columns, file);
      else if (columns.has("Alloc_Flags"))
        read_scratch(rows, columns, file);
      else if (columns.has("Allocation_Size"))
        read_allocations(rows, columns, file);
      else if (columns.has("Function"))
        read_calls(rows, columns, file);
      else if (columns.has("Kernel_Name"))
        read_kernels(rows, columns, file);
      else if (columns.has("KernelName"))
        read_rocprof1(rows, columns, file);
      else if (columns.has("Direction"))
        read_copies(rows, columns, file);
      else if (columns.has("Agent_Type"))
        read_agents(rows, columns);
    }
    bytes_ += rows.bytes();
    if (!source.problem().empty())
      problems_.add(counters::table_damaged(source.problem()), file);
  }

  void read_agents(CsvLines& rows, const CsvColumns& c) {
    while (rows.next()) {
      if (rows.text(c.at("Agent_Type")) != "GPU")
        continue;
      DeviceInfo device;
      device.id = rows.integer(c.at("Logical_Node_Type_Id"))
                      .value_or(static_cast<std::int64_t>(devices_.size()));
      for (const char* column : {"Product_Name", "Model_Name", "Name"})
        if (device.name.empty())
          device.name = rows.text(c.at(column));
      device.warp_size = rows.integer(c.at("Wave_Front_Size")).value_or(0);
      device.multiprocessors = rows.integer(c.at("Cu_Count")).value_or(0);
      if (const auto node = rows.integer(c.at("Node_Id")))
        agents_[*node] = device.id;
      devices_.push_back(std::move(device));
    }
  }

  /// Returns the GPU's number on the node if the table of agents contains the agent, else the
  /// agent's number.
  [[nodiscard]] std::int64_t device_of(std::string_view agent) const {
    const std::int64_t number = agent_number(agent);
    const auto it = agents_.find(number);
    return it == agents_.end() ? number : it->second;
  }

  /// Like device_of(), but returns -1 if there is a table of agents that does not list the agent as
  /// a GPU.
  [[nodiscard]] std::int64_t gpu_of(std::string_view agent) const {
    return agents_.empty() || agents_.count(agent_number(agent)) > 0 ? device_of(agent) : -1;
  }

  /// Calls `use(target, start_ns, end_ns)` for each complete row with valid times. Other rows are
  /// counted.
  template <class Use>
  void for_each_interval(CsvLines& rows, const CsvColumns& c, const std::string& file,
                         const Use& use) {
    const std::size_t guid = c.at("Guid");
    const std::size_t start = c.at(c.has("BeginNs") ? "BeginNs" : "Start_Timestamp");
    const std::size_t end = c.at(c.has("EndNs") ? "EndNs" : "End_Timestamp");
    const std::size_t fields = rows.fields();
    while (rows.next()) {
      if (!is_complete(rows, fields, file))
        continue;
      Target& target = *target_of(rows.text(guid));
      const auto start_ns = rows.integer(start);
      const auto end_ns = rows.integer(end);
      target.trace.builder().spend(2 * sizeof *start_ns);
      if (target.trace.usable(start_ns, end_ns, file_name_of(file)))
        use(target, *start_ns, *end_ns);
    }
  }

  void read_calls(CsvLines& rows, const CsvColumns& c, const std::string& file) {
    const std::size_t domain = c.at("Domain");
    const std::size_t function = c.at("Function");
    const std::size_t process = c.at("Process_Id");
    const std::size_t thread = c.at("Thread_Id");
    const std::size_t correlation = c.at("Correlation_Id");
    for_each_interval(
        rows, c, file, [&](Target& target, std::int64_t start_ns, std::int64_t end_ns) {
          const std::string_view name = rows.text(function);
          const HostApi api = host_api(rows.text(domain), name);
          const std::int64_t id = rows.integer(correlation).value_or(kNoId);
          const std::uint32_t track = target.trace.thread(rows.integer(process).value_or(0),
                                                          rows.integer(thread).value_or(0));
          if (api == HostApi::kMarker) {
            target.trace.marker(track, name, start_ns, end_ns, start_ns == end_ns);
            return;
          }
          const Category category = api == HostApi::kHip || api == HostApi::kRccl
                                        ? Category::kRuntime
                                    : api == HostApi::kHsa ? Category::kDriver
                                                           : Category::kOther;
          const EventId event =
              target.trace.call(category, track, target.trace.text(name), start_ns, end_ns, id);
          if (api == HostApi::kHip)
            target.trace.saw(Traced::kHostCalls);
          if (api == HostApi::kRccl) {
            target.trace.saw(Traced::kRccl);
            // the tables do not contain arguments
            target.rccl.add(name, id, track, start_ns, end_ns, {});
            target.rccl_events.push_back(event);
          } else if (!target.rccl.empty()) {
            target.rccl.add_host_call(id, kNoId, track, start_ns);
          }
        });
  }

  void read_kernels(CsvLines& rows, const CsvColumns& c, const std::string& file) {
    const std::size_t agent = c.at("Agent_Id");
    const std::size_t queue = c.at("Queue_Id");
    const std::size_t stream = c.at("Stream_Id"); // since ROCm 7.0
    const std::size_t dispatch = c.at("Dispatch_Id");
    const std::size_t name = c.at("Kernel_Name");
    const std::size_t correlation = c.at("Correlation_Id");
    const std::array<std::size_t, 3> group = {c.at("Workgroup_Size_X"), c.at("Workgroup_Size_Y"),
                                              c.at("Workgroup_Size_Z")};
    const std::array<std::size_t, 3> grid = {c.at("Grid_Size_X"), c.at("Grid_Size_Y"),
                                             c.at("Grid_Size_Z")};
    for_each_interval(
        rows, c, file, [&](Target& target, std::int64_t start_ns, std::int64_t end_ns) {
          LaunchShape shape;
          for (std::size_t i = 0; i < 3; ++i) {
            shape.group[i] = rows.integer(group[i]).value_or(0);
            shape.grid[i] = rows.integer(grid[i]).value_or(0);
          }
          GpuWork work{start_ns, end_ns, rows.integer(correlation).value_or(kNoId)};
          work.name = target.trace.text(rows.text(name));
          work.device = device_of(rows.text(agent));
          work.stream = rows.integer(stream == CsvColumns::kNone ? queue : stream).value_or(-1);
          const EventId event = target.trace.kernel(work, shape, true);
          if (const auto id = rows.integer(dispatch); id && by_dispatch_)
            target.dispatches.emplace(*id, event);
          if (communicates(target, work.name))
            target.comm_kernels.emplace_back(event, work.correlation);
        });
  }

  /// Reads kernels from results.csv. Sizes are one-dimensional; all other numeric columns are
  /// counters.
  void read_rocprof1(CsvLines& rows, const CsvColumns& c, const std::string& file) {
    constexpr std::array kKnown = {
        "Index",      "KernelName", "gpu-id",     "queue-id",   "queue-index", "pid",
        "tid",        "grd",        "wgr",        "lds",        "scr",         "arch_vgpr",
        "accum_vgpr", "vgpr",       "sgpr",       "wave_size",  "sig",         "obj",
        "BeginNs",    "EndNs",      "DispatchNs", "CompleteNs", "DurationNs"};
    clock_ = "unknown";
    std::vector<std::pair<std::size_t, std::string>> counters;
    for (std::size_t i = 0; i < rows.fields(); ++i)
      if (std::ranges::find(kKnown, rows.text(i)) == kKnown.end() && !rows.text(i).empty())
        counters.emplace_back(i, rows.text(i));
    const std::size_t name = c.at("KernelName"), gpu = c.at("gpu-id"), queue = c.at("queue-id");
    const std::size_t grid = c.at("grd"), group = c.at("wgr");
    for_each_interval(
        rows, c, file, [&](Target& target, std::int64_t start_ns, std::int64_t end_ns) {
          target.trace.builder().source().clock = {}; // the clock is unknown, because it depends on
                                                      // the release
          LaunchShape shape;
          shape.grid = {rows.integer(grid).value_or(0), 1, 1};
          shape.group = {rows.integer(group).value_or(0), 1, 1};
          std::string_view text = rows.text(name);
          if (text.ends_with(".kd"))
            text.remove_suffix(3);
          GpuWork work{start_ns, end_ns};
          work.name = target.trace.text(text);
          work.device = rows.integer(gpu).value_or(-1);
          work.stream = rows.integer(queue).value_or(-1);
          const EventId event = target.trace.kernel(work, shape, true);
          for (const auto& [column, counter] : counters)
            if (const auto value = as_real(rows.text(column)))
              target.trace.builder().kernel_counter(event, target.trace.text(counter), *value);
        });
  }

  static bool communicates(Target& target, StrId name) {
    if (name >= target.communicates.size())
      target.communicates.resize(target.trace.builder().text_count(), -1);
    signed char& known = target.communicates[name];
    if (known < 0)
      known = is_communication_name(target.trace.builder().view(name)) ? 1 : 0;
    return known == 1;
  }

  /// Reads counters; the table has one row for each counter of a kernel. If there is no
  /// kernel_trace, the kernels are read from this table too.
  void read_counters(CsvLines& rows, const CsvColumns& c, const std::string& file) {
    const std::size_t dispatch = c.at("Dispatch_Id");
    const std::size_t agent = c.at("Agent_Id");
    const std::size_t queue = c.at("Queue_Id");
    const std::size_t name = c.at("Kernel_Name");
    const std::size_t counter = c.at("Counter_Name");
    const std::size_t value = c.at("Counter_Value");
    for_each_interval(
        rows, c, file, [&](Target& target, std::int64_t start_ns, std::int64_t end_ns) {
          const std::int64_t id = rows.integer(dispatch).value_or(kNoId);
          const std::optional<double> number = as_real(rows.text(value));
          if (id == kNoId || !number) {
            target.trace.not_read("counters that belong to no kernel", 1);
            return;
          }
          auto kernel = target.dispatches.find(id);
          if (kernel == target.dispatches.end()) {
            GpuWork work{start_ns, end_ns};
            work.name = target.trace.text(rows.text(name));
            work.device = device_of(rows.text(agent));
            work.stream = rows.integer(queue).value_or(-1);
            kernel = target.dispatches.emplace(id, target.trace.kernel(work, {}, true)).first;
          }
          target.trace.builder().kernel_counter(kernel->second,
                                                target.trace.text(rows.text(counter)), *number);
        });
  }

  /// Reads PC samples, one row for each sample. Their kernels are in kernel_trace.
  void read_samples(CsvLines& rows, const CsvColumns& c, const std::string& file) {
    const std::size_t guid = c.at("Guid");
    const std::size_t dispatch = c.at("Dispatch_Id");
    const std::size_t issued = c.at("Wave_Issued_Instruction"); // only in stochastic sampling
    const std::size_t reason = c.at("Stall_Reason");
    const std::size_t fields = rows.fields();
    std::map<Target*, PcSamples> samples;
    while (rows.next())
      if (is_complete(rows, fields, file)) {
        const std::optional<std::int64_t> flag =
            issued == CsvColumns::kNone ? std::nullopt : rows.integer(issued);
        samples[target_of(rows.text(guid))].add(rows.integer(dispatch).value_or(kNoId),
                                                flag ? std::optional(*flag != 0) : std::nullopt,
                                                PcSamples::reason(rows.text(reason)));
      }
    for (const auto& [target, kernel_samples] : samples) {
      const std::uint64_t others =
          kernel_samples.put(target->trace.builder(), [target = target](std::int64_t id) {
            const auto found = target->dispatches.find(id);
            return found == target->dispatches.end() ? std::nullopt : std::optional(found->second);
          });
      target->trace.not_read("PC samples that belong to no kernel", others);
    }
  }

  void read_scratch(CsvLines& rows, const CsvColumns& c, const std::string& file) {
    const std::size_t operation = c.at("Operation");
    const std::size_t agent = c.at("Agent_Id");
    const std::size_t queue = c.at("Queue_Id");
    const std::size_t size = c.at("Allocation_Size"); // only in newer releases
    for_each_interval(rows, c, file,
                      [&](Target& target, std::int64_t start_ns, std::int64_t end_ns) {
                        const bool more = rows.text(operation).ends_with("_ALLOC");
                        target.trace.scratch(more ? end_ns : start_ns, gpu_of(rows.text(agent)),
                                             rows.integer(queue).value_or(-1),
                                             size == CsvColumns::kNone ? std::nullopt
                                             : more                    ? rows.integer(size)
                                                    : std::optional<std::int64_t>(0));
                      });
  }

  void read_allocations(CsvLines& rows, const CsvColumns& c, const std::string& file) {
    const std::size_t operation = c.at("Operation");
    const std::size_t agent = c.at("Agent_Id");
    const std::size_t size = c.at("Allocation_Size");
    const std::size_t address = c.at("Address");
    for_each_interval(
        rows, c, file, [&](Target& target, std::int64_t start_ns, std::int64_t end_ns) {
          const std::string_view what = rows.text(operation);
          const std::optional<std::uint64_t> at = address_of(rows.text(address));
          if (!at || contains(what, "SCRATCH"))
            target.trace.not_read("allocations without an address", 1);
          else if (what.ends_with("FREE"))
            target.trace.memory().release(start_ns, *at);
          else
            target.trace.memory().allocate(end_ns, *at, rows.integer(size).value_or(-1),
                                           gpu_of(rows.text(agent)));
        });
  }

  void read_copies(CsvLines& rows, const CsvColumns& c, const std::string& file) {
    const std::size_t direction = c.at("Direction");
    const std::size_t stream = c.at("Stream_Id");
    const std::size_t from = c.at("Source_Agent_Id");
    const std::size_t to = c.at("Destination_Agent_Id");
    const std::size_t correlation = c.at("Correlation_Id");
    for_each_interval(rows, c, file,
                      [&](Target& target, std::int64_t start_ns, std::int64_t end_ns) {
                        const std::string_view kind = rows.text(direction);
                        GpuWork work{start_ns, end_ns, rows.integer(correlation).value_or(kNoId)};
                        work.name = target.trace.text(copy_name(kind));
                        work.device = device_of(rows.text(!contains(kind, "HOST_TO_") ? from : to));
                        work.stream = rows.integer(stream).value_or(-1);
                        (void)target.trace.copy(work, -1); // tables do not contain sizes
                      });
  }

  void attach_collectives(Target& target) {
    for (const DeviceInfo& device : devices_)
      target.trace.device(device);
    target.rccl.finish();
    for (std::size_t i = 0; i < target.rccl_events.size(); ++i)
      if (const CollectiveArgs* const args = target.rccl.arguments(i))
        target.trace.builder().collective(target.rccl_events[i], *args);
    for (const auto& [event, correlation] : target.comm_kernels)
      if (const CollectiveArgs* const args = target.rccl.collective_above(correlation))
        target.trace.builder().collective(event, *args);
  }

  const std::string& path_;
  const ReadOptions& options_;
  const char* clock_ = kRocprofCsvClock;
  Diagnostics problems_;
  bool by_dispatch_ = false; ///< there are tables with values per dispatch
  std::uint64_t bytes_ = 0;
  std::uint64_t file_bytes_ = 0;
  std::map<std::int64_t, std::int64_t> agents_;
  std::vector<DeviceInfo> devices_;
  std::map<std::string, std::unique_ptr<Target>, std::less<>> targets_; ///< by guid
  std::string last_guid_;
  Target* last_target_ = nullptr;
};

/// Returns whether `head` begins with the header of one of the tables: it contains columns for
/// times, and a column of one of the kinds of tables.
bool sniff_rocprof_csv(std::string_view head, std::string_view) {
  const std::string_view line = head.substr(0, head.find('\n'));
  const auto has = [line](std::string_view part) { return contains(line, part); };
  if (has("KernelName") && has("BeginNs") && has("EndNs"))
    return true; // the first rocprof
  return has("Start_Timestamp") && has("End_Timestamp") && has(",") &&
         (has("Kernel_Name") || has("Function") || has("Direction") || has("Operation"));
}

/// Accepts kernel tables only, because discovery needs one table per process. The user may give any
/// of the other tables as a path.
NameClaim claims_rocprof_csv(std::string_view file_name) {
  return file_name == "kernel_trace.csv" || file_name.ends_with("_kernel_trace.csv")
             ? NameClaim::kYes
         : file_name == "results.csv" || file_name.ends_with("_results.csv") ? NameClaim::kMaybe
                                                                             : NameClaim::kNo;
}

/// Returns the number of different values in the column "Guid", which is the first column.
std::size_t count_guids(const std::string& path) {
  const auto source = ByteSource::open(path);
  if (!source)
    return 0;
  CsvLines rows(**source);
  std::map<std::string, bool, std::less<>> seen;
  (void)rows.next(); // skip the header
  while (rows.next())
    if (seen.find(rows.text(0)) == seen.end())
      seen.emplace(rows.text(0), true);
  return seen.size();
}

FileInfo inspect_rocprof_csv(std::string_view head, std::string_view path) {
  FileInfo out;
  out.trace = true;
  const bool guids = head.starts_with("\"Guid\"") || head.starts_with("Guid,");
  const std::size_t processes = guids && path != "-" ? count_guids(std::string(path)) : 1;
  for (std::size_t i = 0; processes > 1 && i < processes; ++i)
    out.ranks.push_back(static_cast<std::int64_t>(i));
  return out;
}

Result<void> read_rocprof_csv(ByteSource& source, const std::string& path,
                              const ReadOptions& options, const TraceSink& sink) {
  CsvSet set(path, options);
  RS_CHECK(set.read(source));
  return set.finish(sink);
}

} // namespace

const Reader rocprof_csv_reader{"rocprofv3-csv",     "rocprofv3 CSV tables, rocprof results.csv",
                                "_kernel_trace.csv", claims_rocprof_csv,
                                sniff_rocprof_csv,   inspect_rocprof_csv,
                                read_rocprof_csv};

} // namespace rankscope
