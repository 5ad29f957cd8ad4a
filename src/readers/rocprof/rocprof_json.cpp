// Reads the JSON of rocprofv3 (--output-format json): an object "rocprofiler-sdk-tool" with one
// element per process. Lists of records and kernel symbols are read as streams, so only the columns
// of the trace are in memory. The names of operations and agents are before the records that need
// them. results.json of the first rocprof is read by rocprof1_json.cpp.
#include "base/counters.h"
#include "base/json_text.h"
#include "base/to_number.h"
#include "core/json_parse.h"
#include "core/trace_builder.h"
#include "model/kernels.h"
#include "os/byte_source.h"
#include "readers/reader.h"
#include "readers/rocprof/csv_fields.h"
#include "readers/rocprof/json_stream.h"
#include "readers/rocprof/pc_samples.h"
#include "readers/rocprof/process_trace.h"
#include "readers/rocprof/rank_order.h"
#include "readers/rocprof/rccl_calls.h"
#include "readers/rocprof/rocpd_session.h"
#include "readers/rocprof/rocprof1_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr const char* kRocprofJsonClock = "CLOCK_BOOTTIME";
constexpr std::uint64_t kBytesOfRow = 64; ///< memory for one record or name next to the trace
constexpr const char* kRoot = "rocprofiler-sdk-tool";

/// A record in buffer_records, of any kind.
struct Record {
  std::optional<std::int64_t> start_ns, end_ns;
  std::int64_t kind = -1, operation = -1, thread = 0;
  std::int64_t correlation = kNoId, ancestor = kNoId;
  std::int64_t agent = -1, from = -1, to = -1, queue = -1, stream = -1;
  std::int64_t kernel = -1, bytes = -1, dispatch = kNoId;
  std::optional<std::uint64_t> address;
  std::optional<bool> issued; ///< for PC samples
  int stall = -1;
  LaunchShape shape;
  RcclArguments arguments;

  void add(std::string_view parent, std::string_view key, std::string_view value) {
    if (parent == "args" || parent == "arguments") {
      arguments.add(key, value);
      return;
    }
    if (key == "address" || parent == "address") {
      address = address_of(value);
      return;
    }
    if (key == "stall_reason") {
      stall = PcSamples::reason(value);
      return;
    }
    if (key == "wave_issued") { // true or 1
      issued = value == "true" || value == "1";
      return;
    }
    const std::optional<std::int64_t> number = to_number(value);
    if (!number)
      return;
    if (key == "handle") {
      take_handle(parent, *number);
    } else if (key.size() == 1 && key[0] >= 'x' && key[0] <= 'z') {
      const auto axis = static_cast<std::size_t>(key[0] - 'x');
      if (parent == "workgroup_size")
        shape.group[axis] = *number;
      else if (parent == "grid_size")
        shape.grid[axis] = *number;
    } else if (parent == "correlation_id") {
      if (key == "internal")
        correlation = *number;
      else if (key == "ancestor")
        ancestor = *number;
    } else if (parent == "dispatch_info") {
      if (key == "kernel_id")
        kernel = *number;
      else if (key == "dispatch_id")
        dispatch = *number;
    } else if (parent == "record") { // of a PC sample
      if (key == "dispatch_id")
        dispatch = *number;
    } else if (parent.empty()) {
      take_top(key, *number);
    }
  }

private:
  void take_handle(std::string_view parent, std::int64_t number) {
    if (parent == "agent_id")
      agent = number;
    else if (parent == "queue_id")
      queue = number;
    else if (parent == "stream_id")
      stream = number;
    else if (parent == "src_agent_id")
      from = number;
    else if (parent == "dst_agent_id")
      to = number;
  }
  void take_top(std::string_view key, std::int64_t number) {
    if (key == "start_timestamp")
      start_ns = number;
    else if (key == "end_timestamp")
      end_ns = number;
    else if (key == "kind")
      kind = number;
    else if (key == "operation")
      operation = number;
    else if (key == "thread_id")
      thread = number;
    else if (key == "bytes" || key == "allocation_size")
      bytes = number;
  }
};

/// The name of a kind of records, and the names of its operations.
struct KindNames {
  std::string kind;
  std::vector<std::string> operations;
};

class ProcessReader {
public:
  ProcessReader(const std::string& path, JsonStream& in)
      : path_(path), in_(in),
        trace_(std::make_unique<ProcessTrace>(path, rocprof_json_reader.name, kRocprofJsonClock)),
        rccl_(trace_->builder()) {
    trace_->builder().limit_for(in.file_bytes());
  }

  /// Reads one element of the list, including its opening bracket.
  void read() {
    std::string key;
    if (!in_.enter('{'))
      return;
    while (in_.key(key)) {
      if (key == "metadata")
        read_metadata();
      else if (key == "agents")
        each([this](const simdjson::dom::element& e) { agent(e); });
      else if (key == "strings")
        read_strings();
      else if (key == "kernel_symbols")
        read_symbols();
      else if (key == "counters")
        each([this](const simdjson::dom::element& e) { counter_name(e); });
      else if (key == "callback_records")
        read_callbacks();
      else if (key == "buffer_records")
        read_records();
      else if (!in_.skip())
        return;
    }
  }

  ProcessTrace& finish() {
    attach_values();
    rccl_.finish();
    std::vector<std::pair<EventId, const CollectiveArgs*>> found;
    for (std::size_t i = 0; i < rccl_events_.size(); ++i)
      found.emplace_back(rccl_events_[i], rccl_.arguments(i));
    for (const auto& [event, correlation] : comm_kernels_)
      found.emplace_back(event, rccl_.collective_above(correlation));
    std::sort(found.begin(), found.end());
    for (const auto& [event, args] : found)
      if (args != nullptr)
        trace_->builder().collective(event, *args);
    Diagnostics& d = trace_->builder().diagnostics();
    if (malformed_ > 0)
      d.add(counters::record_malformed(), first_malformed_, malformed_);
    if (nameless_ > 0)
      d.add(counters::kernel_without_symbol(), path_, nameless_);
    return *trace_;
  }

private:
  using Element = simdjson::dom::element;

  /// Parses the next value. Returns false if the stream is broken.
  bool parse(Element& out) {
    const std::optional<std::string_view> text = in_.value();
    return text && parse_json(parser_, *text).get(out) == simdjson::SUCCESS;
  }

  template <class Body> void each(Body&& body) {
    if (!in_.enter('[')) {
      (void)in_.skip();
      return;
    }
    Element item;
    while (in_.item()) {
      trace_->builder().spend(kBytesOfRow);
      if (parse(item))
        body(item);
      else if (in_.broken())
        return;
    }
  }

  static std::int64_t int_at(const Element& e, const char* key, std::int64_t otherwise) {
    std::int64_t value = 0;
    return e.at_key(key).get(value) == simdjson::SUCCESS ? value : otherwise;
  }
  static std::string_view text_at(const Element& e, const char* key) {
    std::string_view text;
    return e.at_key(key).get(text) == simdjson::SUCCESS ? text : std::string_view();
  }

  void read_metadata() {
    Element metadata;
    if (parse(metadata))
      pid_ = int_at(metadata, "pid", 0);
  }

  void agent(const Element& e) {
    if (int_at(e, "type", 0) != 2) // 1 = CPU
      return;
    DeviceInfo device;
    device.id = int_at(e, "logical_node_type_id", static_cast<std::int64_t>(agents_.size()));
    device.name = text_at(e, "product_name");
    if (device.name.empty())
      device.name = text_at(e, "name");
    device.warp_size = int_at(e, "wave_front_size", 0);
    device.multiprocessors = int_at(e, "cu_count", 0);
    std::int64_t handle = 0;
    if (e.at_pointer("/id/handle").get(handle) == simdjson::SUCCESS)
      agents_[handle] = device.id;
    trace_->device(device);
  }

  void read_strings() {
    Element strings;
    if (!parse(strings))
      return;
    simdjson::dom::array kinds;
    if (strings.at_key("buffer_records").get(kinds) == simdjson::SUCCESS)
      for (const Element& e : kinds) {
        KindNames& names = kinds_.emplace_back();
        names.kind = text_at(e, "kind");
        simdjson::dom::array operations;
        if (e.at_key("operations").get(operations) == simdjson::SUCCESS)
          for (const Element& op : operations) {
            std::string_view text;
            names.operations.emplace_back(op.get(text) == simdjson::SUCCESS ? text : "");
          }
      }
    simdjson::dom::array markers;
    if (strings.at_key("marker_api").get(markers) == simdjson::SUCCESS)
      for (const Element& e : markers)
        markers_[int_at(e, "key", kNoId)] = text_at(e, "value");
  }

  void read_symbols() {
    each([this](const Element& e) {
      std::string_view name = text_at(e, "formatted_kernel_name");
      for (const char* key : {"demangled_kernel_name", "kernel_name"})
        if (name.empty())
          name = text_at(e, key);
      if (name.ends_with(".kd"))
        name.remove_suffix(3);
      Symbol& symbol = symbols_[int_at(e, "kernel_id", kNoId)];
      symbol.name = trace_->text(name);
      symbol.communicates = is_communication_name(name);
    });
  }

  void read_records() {
    std::string kind;
    if (!in_.enter('{')) {
      (void)in_.skip();
      return;
    }
    while (in_.key(kind)) {
      if (!in_.enter('[')) {
        if (!in_.skip())
          return;
        continue;
      }
      std::uint64_t others = 0;
      while (in_.item()) {
        trace_->builder().spend(kBytesOfRow);
        const std::uint64_t at = in_.offset();
        const std::optional<std::string_view> text = in_.value();
        if (!text)
          return;
        Record record;
        if (!visit_fields(*text,
                          [&record](std::string_view parent, std::string_view key,
                                    std::string_view value) { record.add(parent, key, value); })) {
          if (malformed_++ == 0)
            first_malformed_ = fmt::format("{}: {}", path_, in_.place(at));
        } else if (!add(kind, record)) {
          ++others;
        }
      }
      trace_->not_read(kind, others);
    }
  }

  void counter_name(const Element& e) {
    std::int64_t handle = 0;
    if (e.at_pointer("/id/handle").get(handle) == simdjson::SUCCESS)
      counter_names_[handle] = trace_->text(text_at(e, "name"));
  }

  /// Reads the counters of dispatches, which are before the dispatches in the file.
  void read_callbacks() {
    std::string kind;
    if (!in_.enter('{')) {
      (void)in_.skip();
      return;
    }
    while (in_.key(kind))
      if (kind == "counter_collection")
        each([this](const Element& e) { counters_of(e); });
      else if (!in_.skip())
        return;
  }

  static std::int64_t int_in(const Element& e, const char* pointer, std::int64_t otherwise) {
    std::int64_t value = 0;
    return e.at_pointer(pointer).get(value) == simdjson::SUCCESS ? value : otherwise;
  }

  void counters_of(const Element& e) {
    Record kernel;
    kernel.dispatch = int_in(e, "/dispatch_data/dispatch_info/dispatch_id", kNoId);
    kernel.kernel = int_in(e, "/dispatch_data/dispatch_info/kernel_id", -1);
    kernel.agent = int_in(e, "/dispatch_data/dispatch_info/agent_id/handle", -1);
    kernel.queue = int_in(e, "/dispatch_data/dispatch_info/queue_id/handle", -1);
    kernel.correlation = int_in(e, "/dispatch_data/correlation_id/internal", kNoId);
    kernel.start_ns = int_in(e, "/dispatch_data/start_timestamp", 0);
    kernel.end_ns = int_in(e, "/dispatch_data/end_timestamp", 0);
    simdjson::dom::array records;
    if (e.at_key("records").get(records) != simdjson::SUCCESS)
      return;
    trace_->builder().spend(records.size() * sizeof(Value));
    for (const Element& record : records) {
      const auto name = counter_names_.find(int_in(record, "/counter_id/handle", kNoId));
      double value = 0;
      if (name == counter_names_.end() || record.at_key("value").get(value) != simdjson::SUCCESS)
        ++homeless_values_;
      else
        values_.push_back({kernel.dispatch, name->second, value});
    }
    counted_.push_back(std::move(kernel));
  }

  /// Returns the kernel of a dispatch; dispatches_ must be sorted.
  [[nodiscard]] std::optional<EventId> kernel_of(std::int64_t dispatch) const {
    const auto it = std::lower_bound(dispatches_.begin(), dispatches_.end(),
                                     std::pair<std::int64_t, EventId>(dispatch, 0));
    return it == dispatches_.end() || it->first != dispatch ? std::nullopt
                                                            : std::optional(it->second);
  }

  /// Adds counters and PC samples to their kernels. If the file has no kernel_dispatch records,
  /// records of counters with times become kernels.
  void attach_values() {
    if (counted_.empty() && samples_.empty())
      return;
    std::sort(dispatches_.begin(), dispatches_.end());
    const bool alone = dispatches_.empty();
    std::set<std::int64_t> added; // a dispatch that ran several times (passes) is one kernel
    for (const Record& kernel : counted_)
      if (alone && kernel.dispatch != kNoId && *kernel.start_ns > 0 &&
          added.insert(kernel.dispatch).second &&
          trace_->usable(kernel.start_ns, kernel.end_ns, "counter_collection"))
        add_kernel(kernel);
    std::sort(dispatches_.begin(), dispatches_.end());
    for (const Value& v : values_)
      if (const std::optional<EventId> event = kernel_of(v.dispatch))
        trace_->builder().kernel_counter(*event, v.counter, v.value);
      else
        ++homeless_values_;
    trace_->not_read("counters that belong to no kernel", homeless_values_);
    trace_->not_read(
        "PC samples that belong to no kernel",
        samples_.put(trace_->builder(), [this](std::int64_t id) { return kernel_of(id); }));
  }

  /// Adds a record to the trace. Returns false if the trace cannot store this kind of record.
  bool add(std::string_view kind, const Record& r) {
    if (kind.starts_with("pc_sample_")) {
      samples_.add(r.dispatch, r.issued, r.stall);
      return true;
    }
    const bool kernel = kind == "kernel_dispatch";
    const bool copy = kind == "memory_copy";
    const bool memory = kind == "memory_allocation" || kind == "scratch_memory";
    if (!kernel && !copy && !memory && !kind.ends_with("_api"))
      return false;
    if (!trace_->usable(r.start_ns, r.end_ns, kind))
      return true;
    if (kernel)
      add_kernel(r);
    else if (copy)
      add_copy(r);
    else if (memory)
      add_memory(kind == "scratch_memory", r);
    else
      add_call(r);
    return true;
  }

  void add_kernel(const Record& r) {
    GpuWork work{*r.start_ns, *r.end_ns, r.correlation};
    const auto symbol = symbols_.find(r.kernel);
    nameless_ += symbol == symbols_.end() ? 1 : 0;
    work.name = symbol == symbols_.end() ? trace_->text(fmt::format("(kernel {})", r.kernel))
                                         : symbol->second.name;
    work.device = device_of(r.agent);
    work.stream = r.stream >= 0 ? r.stream : r.queue;
    const EventId event = trace_->kernel(work, r.shape, true);
    if (r.dispatch != kNoId)
      dispatches_.emplace_back(r.dispatch, event);
    if (symbol != symbols_.end() && symbol->second.communicates)
      comm_kernels_.emplace_back(event, r.correlation);
  }

  void add_memory(bool scratch, const Record& r) {
    const std::string_view name = name_of(r);
    const bool less = name.ends_with("FREE") || name.ends_with("RECLAIM");
    if (scratch)
      trace_->scratch(less ? *r.start_ns : *r.end_ns, device_of(r.agent), r.queue,
                      less           ? std::optional<std::int64_t>(0)
                      : r.bytes >= 0 ? std::optional(r.bytes)
                                     : std::nullopt);
    else if (!r.address)
      trace_->not_read("allocations without an address", 1);
    else if (less)
      trace_->memory().release(*r.start_ns, *r.address);
    else
      trace_->memory().allocate(*r.end_ns, *r.address, r.bytes, device_of(r.agent));
  }

  void add_copy(const Record& r) {
    GpuWork work{*r.start_ns, *r.end_ns, r.correlation};
    work.name = trace_->text(copy_name(name_of(r)));
    const std::int64_t from = device_of(r.from);
    work.device = from >= 0 ? from : device_of(r.to);
    work.stream = r.stream;
    (void)trace_->copy(work, r.bytes);
  }

  void add_call(const Record& r) {
    const std::string_view name = name_of(r);
    const std::string_view kind =
        r.kind >= 0 && static_cast<std::size_t>(r.kind) < kinds_.size()
            ? std::string_view(kinds_[static_cast<std::size_t>(r.kind)].kind)
            : std::string_view();
    const HostApi api = host_api(kind, name);
    const std::uint32_t track = trace_->thread(pid_, r.thread);
    if (api == HostApi::kMarker) {
      const auto text = markers_.find(r.correlation);
      trace_->marker(track, text == markers_.end() ? name : std::string_view(text->second),
                     *r.start_ns, *r.end_ns, *r.start_ns == *r.end_ns);
      return;
    }
    const Category category = api == HostApi::kHip || api == HostApi::kRccl ? Category::kRuntime
                              : api == HostApi::kHsa                        ? Category::kDriver
                                                                            : Category::kOther;
    const EventId event =
        trace_->call(category, track, trace_->text(name), *r.start_ns, *r.end_ns, r.correlation);
    if (api == HostApi::kHip)
      trace_->saw(Traced::kHostCalls);
    if (api == HostApi::kRccl) {
      trace_->saw(Traced::kRccl);
      rccl_.add(name, r.correlation, track, *r.start_ns, *r.end_ns, r.arguments);
      rccl_events_.push_back(event);
    } else {
      rccl_.add_host_call(r.correlation, r.ancestor, track, *r.start_ns);
    }
  }

  [[nodiscard]] std::string_view name_of(const Record& r) const {
    if (r.kind < 0 || static_cast<std::size_t>(r.kind) >= kinds_.size())
      return "(no name)";
    const KindNames& names = kinds_[static_cast<std::size_t>(r.kind)];
    return r.operation >= 0 && static_cast<std::size_t>(r.operation) < names.operations.size()
               ? std::string_view(names.operations[static_cast<std::size_t>(r.operation)])
               : std::string_view("(no name)");
  }
  [[nodiscard]] std::int64_t device_of(std::int64_t handle) const {
    const auto it = agents_.find(handle);
    return it == agents_.end() ? -1 : it->second;
  }

  struct Symbol {
    StrId name = kEmptyStr;
    bool communicates = false;
  };

  const std::string& path_;
  JsonStream& in_;
  std::unique_ptr<ProcessTrace> trace_; ///< not moved after its creation, because rccl_ refers to
                                        ///< it
  RcclCalls rccl_;
  simdjson::dom::parser parser_;
  std::int64_t pid_ = 0;
  std::vector<KindNames> kinds_;
  std::unordered_map<std::int64_t, std::string> markers_;
  std::unordered_map<std::int64_t, Symbol> symbols_;
  std::unordered_map<std::int64_t, std::int64_t> agents_;
  std::vector<EventId> rccl_events_;
  std::vector<std::pair<EventId, std::int64_t>> comm_kernels_;
  struct Value {
    std::int64_t dispatch;
    StrId counter;
    double value;
  };
  std::unordered_map<std::int64_t, StrId> counter_names_; ///< by counter handle
  std::vector<Record> counted_;                           ///< records of dispatches with counters
  std::vector<Value> values_;
  std::uint64_t homeless_values_ = 0;
  PcSamples samples_; ///< by dispatch id
  std::vector<std::pair<std::int64_t, EventId>> dispatches_;
  std::uint64_t malformed_ = 0;
  std::uint64_t nameless_ = 0;
  std::string first_malformed_;
};

bool sniff_rocprof_json(std::string_view head, std::string_view) {
  if (is_rocprof1_json(head))
    return true;
  const std::size_t at = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (at == std::string_view::npos || head[at] != '{')
    return false;
  const std::size_t key = head.find_first_not_of(" \t\r\n", at + 1);
  return key != std::string_view::npos && head.substr(key + 1).starts_with(kRoot);
}

NameClaim claims_rocprof_json(std::string_view file_name) {
  return file_name.ends_with(".json") ? NameClaim::kYes : NameClaim::kNo;
}

FileInfo inspect_rocprof_json(std::string_view, std::string_view) {
  FileInfo out;
  out.trace = true;
  return out;
}

Result<void> read_rocprof_json(ByteSource& source, const std::string& path,
                               const ReadOptions& options, const TraceSink& sink) {
  JsonStream in(source);
  std::string key;
  const bool has_key = in.enter('{') && in.key(key);
  if (has_key && key != kRoot)
    return read_rocprof1_json(in, std::move(key), path, sink);
  if (!has_key || !in.enter('['))
    return Error{ErrorCode::kUnreadable, path,
                 fmt::format("expected an object \"{}\" with a list of processes", kRoot), ""};
  std::int64_t number = 0;
  bool more = in.item();
  if (!more)
    return Error{ErrorCode::kUnreadable, path, "the list of processes is empty", ""};
  while (more) {
    ProcessReader process(path, in);
    process.read();
    more = !in.broken() && in.item();
    ProcessTrace& trace = process.finish();
    Diagnostics& d = trace.builder().diagnostics();
    if (in.broken())
      d.add(counters::records_truncated(in.problem()),
            fmt::format("{}: {}", path, in.place(in.offset())));
    if (number > 0 || more) { // a process gets a rank only if there are several
      trace.builder().header().rank = number;
      say_ranks_by_order(d, path);
    }
    if (!options.rank || *options.rank == number || (number == 0 && !more)) {
      Result<Trace> done = std::move(trace).finish(in.offset());
      if (!done && in.broken())
        done.error().what += fmt::format("; {}: {}", in.place(in.offset()), in.problem());
      if (!done)
        return std::move(done.error());
      RS_CHECK(sink(std::move(*done)));
    }
    ++number;
  }
  return {};
}

} // namespace

const Reader rocprof_json_reader{"rocprofv3-json",
                                 "rocprofv3 JSON, rocprof results.json",
                                 ".json",
                                 claims_rocprof_json,
                                 sniff_rocprof_json,
                                 inspect_rocprof_json,
                                 read_rocprof_json};

} // namespace rankscope
