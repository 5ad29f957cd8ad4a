// Reads results.json of the first rocprof (--hip-trace, --hsa-trace, --sys-trace): Chrome JSON
// whose events have no category. The name of the process shows the kind of its events ("2 CPU HIP
// API", "6 GPU0"). args contain BeginNs and EndNs, and flows named "DataFlow" link calls to GPU
// work. All releases use the process numbers below; process names may follow the events.
#include "readers/rocprof/rocprof1_json.h"

#include "base/counters.h"
#include "core/trace_builder.h"
#include "readers/rocprof/process_trace.h"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

enum class Rocprof1Process { kMarkers, kCopies, kHip, kHsa, kKfd, kOps, kGpu, kOther };
constexpr std::int64_t kFirstGpu = 6;

struct Rocprof1Event {
  std::int64_t process = -1, lane = -1; ///< pid and tid of the event; on a GPU, tid is the stream
  std::int64_t ts_us = -1;
  std::int64_t start_ns = -1, end_ns = -1;
  std::int64_t pid = 0, queue = -1, device = -1;
  std::int64_t correlation = kNoId;
  StrId name = kEmptyStr;
};

template <class Number> std::optional<Number> rocprof1_number(std::string_view text) {
  Number value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  return ec == std::errc() ? std::optional(value) : std::nullopt;
}

/// Returns the kind of the events of a process: by the name of the process, else by its number.
std::pair<Rocprof1Process, std::int64_t> rocprof1_process(std::int64_t process,
                                                          const std::string& name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (const std::size_t at = name.find("GPU"); at != std::string::npos)
    if (const auto device = rocprof1_number<std::int64_t>(std::string_view(name).substr(at + 3)))
      return {Rocprof1Process::kGpu, *device};
  if (has("HIP"))
    return {Rocprof1Process::kHip, -1};
  if (has("HSA"))
    return {Rocprof1Process::kHsa, -1};
  if (has("COPY"))
    return {Rocprof1Process::kCopies, -1};
  if (has("Marker"))
    return {Rocprof1Process::kMarkers, -1};
  if (process >= kFirstGpu)
    return {Rocprof1Process::kGpu, process - kFirstGpu};
  return {process >= 0 ? static_cast<Rocprof1Process>(process) : Rocprof1Process::kOther, -1};
}

class Rocprof1Reader {
public:
  Rocprof1Reader(const std::string& path, JsonStream& in)
      : path_(path), in_(in), trace_(path, "rocprof-json", "unknown") {
    trace_.builder().source().clock = {}; // the clock is unknown, because it depends on the release
    trace_.builder().limit_for(in.file_bytes());
  }

  /// Reads the rest of the document; `first` is its first key, which has been read.
  void read(std::string first) {
    for (bool more = true; more; more = in_.key(first)) {
      if (first != "traceEvents" || !in_.enter('[')) {
        (void)in_.skip();
        continue;
      }
      while (in_.item())
        if (const auto text = in_.value())
          event(*text);
    }
  }

  Result<Trace> finish() {
    link();
    for (const Rocprof1Event& e : events_)
      add(e);
    Diagnostics& d = trace_.builder().diagnostics();
    if (in_.broken())
      d.add(counters::rocprof_events_truncated(in_.problem()),
            fmt::format("{}: {}", path_, in_.place(in_.offset())));
    if (malformed_ > 0)
      d.add(counters::rocprof_event_malformed(), path_, malformed_);
    return std::move(trace_).finish(in_.offset());
  }

private:
  /// Process, lane and time of an event, which identify the two ends of a flow from a call to its
  /// GPU work.
  using Place = std::array<std::int64_t, 3>;
  using Ends = std::array<Place, 2>; ///< of a flow

  void event(std::string_view text) {
    Rocprof1Event e;
    std::string_view phase, name, in_args;
    std::optional<double> ts, dur;
    std::int64_t flow = kNoId;
    const bool valid = visit_fields(
        text, [&](std::string_view parent, std::string_view key, std::string_view value) {
          const auto number = [&] { return rocprof1_number<std::int64_t>(value).value_or(-1); };
          if (parent == "args") {
            if (key == "BeginNs")
              e.start_ns = number();
            else if (key == "EndNs")
              e.end_ns = number();
            else if (key == "name" || key == "Name")
              in_args = value;
            else if (key == "pid")
              e.pid = number();
            else if (key == "queue-id")
              e.queue = number();
            else if (key == "dev-id")
              e.device = number();
          } else if (key == "ph") {
            phase = value;
          } else if (key == "name") {
            name = value;
          } else if (key == "pid") {
            e.process = number();
          } else if (key == "tid") {
            e.lane = number();
          } else if (key == "id") {
            flow = number();
          } else if (key == "ts") {
            ts = rocprof1_number<double>(value);
          } else if (key == "dur") {
            dur = rocprof1_number<double>(value);
          }
        });
    malformed_ += valid ? 0 : 1;
    constexpr double kMostUs = 9e12; // 100 days
    const bool has_ts = ts && *ts >= 0 && *ts < kMostUs;
    e.ts_us = has_ts ? static_cast<std::int64_t>(*ts) : -1;
    if (phase == "M" && name == "process_name") {
      processes_[e.process] = in_args;
    } else if (phase == "s" || phase == "t") {
      trace_.builder().spend(sizeof(Ends));
      flows_[flow][phase == "t"] = {e.process, e.lane, e.ts_us};
    } else if (phase == "X") {
      if (e.start_ns < 0 && has_ts && dur && *dur >= 0 && *dur < kMostUs) {
        e.start_ns = static_cast<std::int64_t>(*ts * 1e3);
        e.end_ns = e.start_ns + static_cast<std::int64_t>(*dur * 1e3);
      }
      e.name = trace_.text(name);
      trace_.builder().spend(sizeof e);
      events_.push_back(e);
    }
  }

  void link() {
    std::map<Place, std::size_t> places;
    for (std::size_t i = 0; i < events_.size() && !flows_.empty(); ++i)
      places.emplace(Place{events_[i].process, events_[i].lane, events_[i].ts_us}, i);
    for (const auto& [id, ends] : flows_) {
      const auto call = places.find(ends[0]);
      const auto work = places.find(ends[1]);
      if (call == places.end() || work == places.end())
        continue;
      std::int64_t& correlation = events_[call->second].correlation;
      if (correlation == kNoId)
        correlation = id;
      events_[work->second].correlation = correlation;
    }
  }

  void add(const Rocprof1Event& e) {
    if (!trace_.usable(e.start_ns, e.end_ns, "traceEvents"))
      return;
    const auto name_of_process = processes_.find(e.process);
    const auto [process, device] = rocprof1_process(
        e.process, name_of_process == processes_.end() ? "" : name_of_process->second);
    switch (process) {
    case Rocprof1Process::kGpu:
    case Rocprof1Process::kOps:
    case Rocprof1Process::kCopies:
      return add_work(e, device >= 0 ? device : e.device);
    case Rocprof1Process::kMarkers:
      return trace_.marker(trace_.thread(e.pid, e.lane), std::string(trace_.builder().view(e.name)),
                           e.start_ns, e.end_ns, e.start_ns == e.end_ns);
    case Rocprof1Process::kHip:
      trace_.saw(Traced::kHostCalls);
      [[fallthrough]];
    case Rocprof1Process::kHsa:
    case Rocprof1Process::kKfd:
    case Rocprof1Process::kOther:
      (void)trace_.call(process == Rocprof1Process::kHip   ? Category::kRuntime
                        : process == Rocprof1Process::kHsa ? Category::kDriver
                                                           : Category::kOther,
                        trace_.thread(e.pid, e.lane), e.name, e.start_ns, e.end_ns, e.correlation);
    }
  }

  void add_work(const Rocprof1Event& e, std::int64_t device) {
    const std::string_view name = trace_.builder().view(e.name);
    GpuWork work{e.start_ns, e.end_ns, e.correlation, e.name, device, e.lane};
    if (name == "FillBuffer" || name.starts_with("Memset")) {
      (void)trace_.copy(work, -1, true);
    } else if (name.starts_with("Copy") || name.starts_with("hcMemcpy")) {
      work.name = trace_.text(copy_name(name));
      (void)trace_.copy(work, -1);
    } else {
      (void)trace_.kernel(work, {}, true);
    }
  }

  const std::string& path_;
  JsonStream& in_;
  ProcessTrace trace_;
  std::vector<Rocprof1Event> events_;
  std::map<std::int64_t, std::string> processes_; ///< process names
  std::map<std::int64_t, Ends> flows_;
  std::uint64_t malformed_ = 0;
};

} // namespace

bool is_rocprof1_json(std::string_view head) {
  const std::size_t at = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return at != std::string_view::npos && head[at] == '{' &&
         head.find("\"traceEvents\"") != std::string_view::npos &&
         head.find("\"BeginNs\"") != std::string_view::npos;
}

Result<void> read_rocprof1_json(JsonStream& in, std::string first, const std::string& path,
                                const TraceSink& sink) {
  Rocprof1Reader reader(path, in);
  reader.read(std::move(first));
  RS_TRY(Trace trace, reader.finish());
  return sink(std::move(trace));
}

} // namespace rankscope
