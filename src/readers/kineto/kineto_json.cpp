// Reader for Kineto / Chrome JSON traces: an object with traceEvents, or a bare array of events;
// plain, gzip or zstd. The stream is cut into runs of whole events, which worker threads parse into
// chunks; chunks are merged in file order, so that the result does not depend on the threads.
#include "os/byte_source.h"
#include "readers/kineto/json_scan.h"
#include "readers/kineto/kineto_chunk.h"
#include "readers/kineto/kineto_pipeline.h"
#include "readers/reader.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <simdjson.h>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr std::size_t kDefaultWindow = std::size_t{1} << 20;

// ---- header ------------------------------------------------------------------------------------

void parse_distributed(simdjson::dom::element value, TraceHeader& h) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS)
    return;
  const auto int_at = [&object](const char* key, std::optional<std::int64_t>& out) {
    std::int64_t v = 0;
    if (object[key].get(v) == simdjson::SUCCESS)
      out = v;
  };
  int_at("rank", h.rank);
  int_at("world_size", h.world_size);
  std::string_view text;
  if (object["backend"].get(text) == simdjson::SUCCESS)
    h.backend = text;
  if (object["nccl_version"].get(text) == simdjson::SUCCESS)
    h.nccl_version = text;
  simdjson::dom::array groups;
  if (object["pg_config"].get(groups) != simdjson::SUCCESS)
    return;
  for (const simdjson::dom::element group : groups) {
    simdjson::dom::object g;
    if (group.get(g) != simdjson::SUCCESS)
      continue;
    ProcessGroup pg;
    if (g["pg_name"].get(text) == simdjson::SUCCESS)
      pg.name = text;
    if (g["pg_desc"].get(text) == simdjson::SUCCESS)
      pg.description = text;
    std::int64_t v = 0;
    if (g["pg_size"].get(v) == simdjson::SUCCESS)
      pg.size = v;
    simdjson::dom::array ranks;
    if (g["ranks"].get(ranks) == simdjson::SUCCESS) {
      for (const simdjson::dom::element r : ranks)
        if (r.get(v) == simdjson::SUCCESS)
          pg.ranks.push_back(v);
    } else if (g["ranks"].get(text) == simdjson::SUCCESS) { // the on-demand writer: "[0, 1]"
      std::int64_t n = -1;
      for (const char c : std::string(text) + ",") {
        if (c >= '0' && c <= '9') {
          n = std::max<std::int64_t>(n, 0) * 10 + (c - '0');
        } else if (n >= 0) {
          pg.ranks.push_back(n);
          n = -1;
        }
      }
    }
    h.process_groups.push_back(std::move(pg));
  }
}

void parse_devices(simdjson::dom::element value, TraceHeader& h) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS)
    return;
  for (const simdjson::dom::element item : list) {
    simdjson::dom::object o;
    if (item.get(o) != simdjson::SUCCESS)
      continue;
    DeviceInfo d;
    const auto int_at = [&o](const char* key, std::int64_t& out) {
      std::int64_t v = 0;
      if (o[key].get(v) == simdjson::SUCCESS)
        out = v;
    };
    std::string_view text;
    if (o["name"].get(text) == simdjson::SUCCESS)
      d.name = text;
    int_at("id", d.id);
    int_at("totalGlobalMem", d.total_memory_bytes);
    int_at("computeMajor", d.compute_major);
    int_at("computeMinor", d.compute_minor);
    int_at("warpSize", d.warp_size);
    int_at("numSms", d.num_sms);
    h.devices.push_back(std::move(d));
  }
}

void header_value(std::string_view key, std::string_view raw, TraceHeader& h, Diagnostics& diag) {
  const auto truthy = [](std::string_view v) {
    return v == "true" || (v != "0" && v != "false" && v != "null" && !v.empty());
  };
  if (key == "baseTimeNanoseconds") {
    h.has_base_time = json::text_to_int(raw, h.base_time_ns);
  } else if (key == "distributedInfo" || key == "deviceProperties") {
    simdjson::dom::parser parser;
    simdjson::dom::element value;
    if (parser.parse(raw.data(), raw.size(), true).get(value) != simdjson::SUCCESS)
      diag.add(Severity::kWarning, "header_value_malformed", std::string(key),
               "a header value is no valid JSON and was ignored");
    else if (key == "distributedInfo")
      parse_distributed(value, h);
    else
      parse_devices(value, h);
  } else if (key == "record_shapes") {
    h.record_shapes = truthy(raw);
  } else if (key == "with_stack") {
    h.with_stack = truthy(raw);
  } else if (key == "displayTimeUnit") {
    h.display_time_unit =
        raw.size() >= 2 && raw[0] == '"' ? std::string(raw.substr(1, raw.size() - 2)) : raw;
  } else if (key != "schemaVersion") {
    h.other.emplace_back(key, raw);
  }
}

enum class HeadState { kNeedMore, kEvents, kEndOfObject, kMalformed };

/// Reads root members from `text` at `at` until the array of traceEvents opens (at = behind its
/// bracket), the root object ends, or more input is needed (at = start of the member to read
/// again).
HeadState scan_members(std::string_view text, std::size_t& at, bool inside, bool last,
                       TraceHeader& h, Diagnostics& diag) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin + at;
  if (!inside) {
    p = json::skip_space(p, end);
    if (p >= end)
      return last ? HeadState::kMalformed : HeadState::kNeedMore;
    if (*p != '{')
      return HeadState::kMalformed;
    ++p;
  }
  for (;;) {
    at = static_cast<std::size_t>(p - begin);
    p = json::skip_space(p, end);
    while (p < end && *p == ',')
      p = json::skip_space(p + 1, end);
    if (p >= end)
      return HeadState::kNeedMore;
    if (*p == '}')
      return HeadState::kEndOfObject;
    if (*p != '"')
      return HeadState::kMalformed;
    bool escaped = false;
    const char* const close = json::string_end(p + 1, end, escaped);
    if (close >= end)
      return HeadState::kNeedMore;
    const std::string_view key(p + 1, static_cast<std::size_t>(close - p - 1));
    p = json::skip_space(close + 1, end);
    if (p >= end)
      return HeadState::kNeedMore;
    if (*p != ':')
      return HeadState::kMalformed;
    p = json::skip_space(p + 1, end);
    if (p >= end)
      return HeadState::kNeedMore;
    if (key == "traceEvents" && *p == '[') {
      at = static_cast<std::size_t>(p + 1 - begin);
      return HeadState::kEvents;
    }
    const char* const after = json::skip_value(p, end);
    if (after == nullptr)
      return HeadState::kNeedMore;
    header_value(key, {p, static_cast<std::size_t>(after - p)}, h, diag);
    p = after;
  }
}

// ---- merging -----------------------------------------------------------------------------------

struct TrackKey {
  std::int64_t pid, tid;
  StrId pid_text, tid_text;
  bool operator==(const TrackKey&) const = default;
};
struct TrackHash {
  std::size_t operator()(const TrackKey& k) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(k.pid) * 0x9e3779b97f4a7c15ULL ^
                                    static_cast<std::uint64_t>(k.tid) * 0xd6e8feb86659fd93ULL ^
                                    (k.pid_text * 31ULL + k.tid_text * 131ULL));
  }
};

template <class T> void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

class Merger {
public:
  Merger(Trace& trace, std::uint64_t expected_bytes)
      : trace_(trace), expected_bytes_(expected_bytes) {}

  void add(KinetoChunk& c, std::uint64_t bytes) {
    std::vector<StrId> text(c.strings.size());
    for (StrId i = 0; i < c.strings.size(); ++i)
      text[i] = trace_.strings.intern(c.strings.view(i));
    std::vector<std::uint32_t> track(c.tracks.size());
    for (std::size_t i = 0; i < c.tracks.size(); ++i) {
      Track t = c.tracks[i];
      t.pid_text = text[t.pid_text];
      t.tid_text = text[t.tid_text];
      const TrackKey key{t.pid, t.tid, t.pid_text, t.tid_text};
      const auto [it, fresh] =
          tracks_.emplace(key, static_cast<std::uint32_t>(trace_.tracks.size()));
      if (fresh)
        trace_.tracks.push_back(t);
      track[i] = it->second;
    }
    Events& to = trace_.events;
    const auto first = static_cast<EventId>(to.size());
    reserve(c.events.size(), bytes);
    append(to.ts_ns, c.events.ts_ns);
    append(to.dur_ns, c.events.dur_ns);
    append(to.correlation, c.events.correlation);
    append(to.external_id, c.events.external_id);
    append(to.stream, c.events.stream);
    append(to.device, c.events.device);
    append(to.category, c.events.category);
    for (const StrId n : c.events.name)
      to.name.push_back(text[n]);
    for (const std::uint32_t u : c.events.uid)
      to.uid.push_back(uid_base_ + u);
    for (const std::uint32_t t : c.events.track)
      to.track.push_back(track[t]);
    const auto ops = static_cast<std::uint32_t>(trace_.op_args.size());
    const auto gpus = static_cast<std::uint32_t>(trace_.gpu_args.size());
    const auto pys = static_cast<std::uint32_t>(trace_.python_args.size());
    for (std::size_t i = 0; i < c.events.args.size(); ++i) {
      std::uint32_t row = c.events.args[i];
      if (row != kNoRow)
        row += is_gpu(c.events.category[i])                        ? gpus
               : c.events.category[i] == Category::kPythonFunction ? pys
                                                                   : ops;
      to.args.push_back(row);
    }
    for (OpArgs a : c.op_args) {
      a.input_dims = text[a.input_dims];
      a.input_types = text[a.input_types];
      a.input_strides = text[a.input_strides];
      a.concrete_inputs = text[a.concrete_inputs];
      trace_.op_args.push_back(a);
    }
    for (GpuArgs a : c.gpu_args) {
      a.grid = text[a.grid];
      a.block = text[a.block];
      trace_.gpu_args.push_back(a);
    }
    append(trace_.python_args, c.python_args);
    for (auto& [event, a] : c.collectives) {
      for (StrId* id : {&a.collective_name, &a.dtype, &a.pg_name, &a.pg_description, &a.pg_ranks,
                        &a.in_split, &a.out_split})
        *id = text[*id];
      trace_.collectives.emplace_back(first + event, a);
    }
    append(trace_.flows.id, c.flows.id);
    append(trace_.flows.ts_ns, c.flows.ts_ns);
    append(trace_.flows.kind, c.flows.kind);
    for (const std::uint32_t t : c.flows.track)
      trace_.flows.track.push_back(track[t]);
    for (MetadataEvent m : c.metadata) {
      m.track = track[m.track];
      m.text = text[m.text];
      metadata_.push_back(m);
    }
    uid_base_ += c.event_count;
    trace_.python_events_skipped += c.python_skipped;
    other_phases_ += c.other_phases;
    note(malformed_, c.malformed);
    note(bad_time_, c.bad_time);
  }

  void finish() {
    trace_.events_in_file = uid_base_;
    std::unordered_map<std::int64_t, std::pair<StrId, StrId>> process;
    for (const MetadataEvent& m : metadata_) {
      Track& t = trace_.tracks[m.track];
      if (m.kind == MetadataEvent::Kind::kThreadName)
        t.thread_name = m.text;
      else if (t.pid_text == kEmptyStr && m.kind == MetadataEvent::Kind::kProcessName)
        process[t.pid].first = m.text;
      else if (t.pid_text == kEmptyStr)
        process[t.pid].second = m.text;
    }
    for (Track& t : trace_.tracks)
      if (const auto it = process.find(t.pid); it != process.end() && t.pid_text == kEmptyStr) {
        t.process_name = it->second.first;
        t.process_label = it->second.second;
      }
    Diagnostics& d = trace_.diagnostics;
    const auto where = [this](const DroppedEvents& dropped) {
      return fmt::format("{}: byte {} after unpacking", trace_.path, dropped.first_offset);
    };
    if (malformed_.count > 0)
      d.add(Severity::kDataLoss, "event_malformed", where(malformed_),
            "an event is no valid JSON object and was dropped", malformed_.count);
    if (bad_time_.count > 0)
      d.add(Severity::kDataLoss, "event_bad_time", where(bad_time_),
            "an event lacks a usable ts or dur (want decimal microseconds, dur >= 0) and was "
            "dropped",
            bad_time_.count);
    std::uint64_t not_utf8 = 0;
    std::uint64_t control = 0;
    for (StrId i = 0; i < trace_.strings.size(); ++i) {
      const std::string_view text = trace_.strings.view(i);
      not_utf8 += simdjson::validate_utf8(text.data(), text.size()) ? 0 : 1;
      control += std::any_of(text.begin(), text.end(),
                             [](char c) { return static_cast<unsigned char>(c) < 0x20; })
                     ? 1
                     : 0;
    }
    if (not_utf8 > 0)
      d.add(Severity::kInfo, "text_not_utf8", trace_.path,
            "a name or argument is not UTF-8; it is kept as it is, outputs show U+FFFD", not_utf8);
    if (control > 0)
      d.add(Severity::kInfo, "text_control_characters", trace_.path,
            "a name or argument holds control characters; they are kept, outputs escape them",
            control);
    if (other_phases_ > 0)
      d.add(Severity::kInfo, "event_phase_skipped", trace_.path,
            "events of phases other than X, s, t, f and M are not used", other_phases_);
  }

private:
  static void note(DroppedEvents& total, const DroppedEvents& more) {
    if (total.count == 0)
      total.first_offset = more.first_offset;
    total.count += more.count;
  }

  /// Grows the columns at once to what the rest of the file will need, by its density so far:
  /// doubling would hold the columns twice at the worst moment.
  void reserve(std::size_t more, std::uint64_t bytes) {
    bytes_seen_ += bytes;
    Events& e = trace_.events;
    const std::size_t need = e.size() + more;
    if (need <= e.ts_ns.capacity())
      return;
    std::size_t want = need + need / 2;
    if (expected_bytes_ > bytes_seen_ && bytes_seen_ > 0) {
      const double density = static_cast<double>(need) / static_cast<double>(bytes_seen_);
      want = static_cast<std::size_t>(density * 1.05 * static_cast<double>(expected_bytes_)) + more;
    }
    want = std::max(want, need);
    e.ts_ns.reserve(want);
    e.dur_ns.reserve(want);
    e.correlation.reserve(want);
    e.external_id.reserve(want);
    e.stream.reserve(want);
    e.device.reserve(want);
    e.category.reserve(want);
    e.name.reserve(want);
    e.uid.reserve(want);
    e.track.reserve(want);
    e.args.reserve(want);
  }

  Trace& trace_;
  std::uint64_t expected_bytes_;
  std::uint64_t bytes_seen_ = 0;
  std::unordered_map<TrackKey, std::uint32_t, TrackHash> tracks_;
  std::vector<MetadataEvent> metadata_;
  std::uint32_t uid_base_ = 0;
  std::uint64_t other_phases_ = 0;
  DroppedEvents malformed_;
  DroppedEvents bad_time_;
};

// ---- cutting -----------------------------------------------------------------------------------

/// Cut for writers that do not put "ph" first: walks whole values from the start.
std::size_t cut_by_structure(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
  std::size_t cut = 0;
  for (;;) {
    p = json::skip_space(p, end);
    while (p < end && *p == ',')
      p = json::skip_space(p + 1, end);
    if (p >= end || *p != '{')
      return cut;
    p = json::skip_value(p, end);
    if (p == nullptr)
      return cut;
    cut = static_cast<std::size_t>(p - begin);
  }
}

bool sniff(std::string_view head, std::string_view) {
  const char* const p = json::skip_space(head.data(), head.data() + head.size());
  return p < head.data() + head.size() && (*p == '{' || *p == '[');
}

Result<Trace> read(const std::string& path, const ReadOptions& options) {
  RS_TRY(auto source, ByteSource::open(path));
  Trace trace;
  trace.path = path;
  const std::size_t window = options.window_bytes > 0 ? options.window_bytes : kDefaultWindow;

  std::string buffer;
  std::uint64_t offset = 0; // of buffer's first byte in the unpacked file
  bool at_end = false;
  const auto fill = [&](std::size_t more) {
    const std::size_t had = buffer.size();
    buffer.resize(had + more);
    const std::size_t got = source->read(buffer.data() + had, more);
    buffer.resize(had + got);
    trace.input_bytes += got;
    at_end = got < more;
  };

  // the header, up to the first event
  fill(window);
  if (buffer.compare(0, 3, "\xef\xbb\xbf") == 0)
    buffer.replace(0, 3, "   ");
  std::size_t at = 0;
  const char* const first = json::skip_space(buffer.data(), buffer.data() + buffer.size());
  const bool bare_array = first < buffer.data() + buffer.size() && *first == '[';
  bool inside = false;
  if (bare_array) {
    at = static_cast<std::size_t>(first - buffer.data()) + 1;
  } else {
    for (;;) {
      const HeadState state =
          scan_members(buffer, at, inside, at_end, trace.header, trace.diagnostics);
      if (state == HeadState::kEvents)
        break;
      inside = inside || at > 0;
      if (state == HeadState::kNeedMore && !at_end) {
        fill(std::max(window, buffer.size()));
        continue;
      }
      const std::string why = source->problem();
      return Error{ErrorCode::kUnreadable, path,
                   fmt::format("byte {} after unpacking: {}; expected a JSON object with "
                               "traceEvents, or an array of events",
                               at,
                               !why.empty()                       ? why
                               : buffer.empty()                   ? "the file is empty"
                               : state == HeadState::kEndOfObject ? "no traceEvents in the object"
                               : state == HeadState::kNeedMore    ? "the file ends in its header"
                                                                  : "not JSON"),
                   ""};
    }
  }

  std::uint64_t expected = source->compressed() ? 0 : source->file_bytes();
  Merger merger(trace, expected);
  bool array_ended = false;
  std::string tail;
  const auto merge = [&](KinetoJob& job) {
    if (array_ended) {
      tail += job.text;
      return;
    }
    merger.add(job.chunk, job.text.size());
    if (job.chunk.array_ended) {
      array_ended = true;
      tail = std::move(job.chunk.tail);
    }
  };
  {
    std::optional<TaskPool> own;
    TaskPool* pool = options.pool;
    if (pool == nullptr && options.threads > 1)
      pool = &own.emplace(options.threads);
    KinetoPipeline pipeline(pool, options.threads, options.keep_python);
    buffer.erase(0, at);
    offset = at;
    for (;;) {
      std::size_t cut = buffer.size();
      if (!at_end) {
        cut = cut_at_event(buffer);
        if (cut < buffer.size() / 2)
          cut = std::max(cut, cut_by_structure(buffer));
        if (cut == 0) { // one event larger than the window
          fill(std::max(window, buffer.size()));
          continue;
        }
      }
      auto job = std::make_unique<KinetoJob>();
      job->offset = offset;
      std::string rest(buffer, cut);
      buffer.resize(cut);
      job->text = std::move(buffer);
      buffer = std::move(rest);
      offset += cut;
      pipeline.push(std::move(job), merge);
      if (at_end && buffer.empty())
        break;
      buffer.reserve(window + buffer.size() + 64);
      fill(window);
    }
    pipeline.drain(merge, 0);
  }
  merger.finish();

  if (!bare_array && array_ended) {
    std::size_t tail_at = 0;
    (void)scan_members(tail, tail_at, true, true, trace.header, trace.diagnostics);
  }
  if (!source->problem().empty())
    trace.diagnostics.add(
        Severity::kDataLoss, "input_damaged",
        fmt::format("{}: byte {} after unpacking", path, trace.input_bytes),
        fmt::format("{}; {} events before it were kept", source->problem(), trace.events.size()));
  else if (!array_ended)
    trace.diagnostics.add(
        Severity::kDataLoss, "input_truncated",
        fmt::format("{}: byte {} after unpacking", path, trace.input_bytes),
        fmt::format("the list of events is not closed (file truncated?); {} events were kept",
                    trace.events.size()));
  if (trace.events.size() == 0)
    return Error{ErrorCode::kUnreadable, path,
                 fmt::format("no usable event among {} entries of traceEvents; expected complete "
                             "events (ph X) with ts and dur",
                             trace.events_in_file),
                 ""};
  return trace;
}

} // namespace

const Reader kineto_json_reader{"kineto-json", "PyTorch/Kineto and Chrome JSON traces", sniff,
                                read};

} // namespace rankscope
