// Parses Kineto's event objects (output_json.cpp of libkineto, and older programs that write Chrome
// traces): {"ph","cat","name","pid","tid","ts","dur","id","bp","args":{...}}. Keys can be in any
// order, with any white space. The parser reads the bytes once. Values that are not needed are
// skipped by their structure only.
#include "readers/kineto/kineto_chunk.h"

#include "core/arg_text.h"
#include "readers/foreign_format.h"
#include "readers/kineto/json_scan.h"
#include "readers/kineto/kineto_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace rankscope {
namespace {

using json::skip_space;
using json::skip_value;
using json::string_end;

/// Reads one value into `raw`, and sets all its fields. If a key occurs several times, its last
/// value is used. Returns the position after the value, or nullptr. Inlining is forced because this
/// code runs for every member of every event.
[[gnu::always_inline]] inline const char* read_value(const char* p, const char* end, Raw& raw) {
  if (p >= end)
    return nullptr;
  raw.string = *p == '"';
  if (raw.string) {
    const char* const close = string_end(p + 1, end, raw.escaped);
    if (close >= end)
      return nullptr;
    raw.text = {p + 1, static_cast<std::size_t>(close - p - 1)};
    raw.present = true;
    return close + 1;
  }
  const char* const after = skip_value(p, end);
  if (after == nullptr)
    return nullptr;
  raw.text = {p, static_cast<std::size_t>(after - p)};
  raw.escaped = false;
  raw.present = true;
  return after;
}

/// Calls on_member(key, position of the value, end) for each member; the call must return the
/// position after the value, or nullptr. A key with escapes is decoded into `room`. Returns the
/// position after the closing brace, or nullptr if the object is incomplete.
template <class OnMember>
const char* scan_object(const char* p, const char* end, std::string& room,
                        const OnMember& on_member) {
  ++p; // skip the brace
  for (;;) {
    p = skip_space(p, end);
    while (p < end && *p == ',') // accept a trailing or repeated comma
      p = skip_space(p + 1, end);
    if (p >= end)
      return nullptr;
    if (*p == '}')
      return p + 1;
    if (*p != '"')
      return nullptr;
    bool escaped = false;
    const char* const close = string_end(p + 1, end, escaped);
    if (close >= end)
      return nullptr;
    std::string_view key(p + 1, static_cast<std::size_t>(close - p - 1));
    p = skip_space(close + 1, end);
    if (p >= end || *p != ':')
      return nullptr;
    p = skip_space(p + 1, end);
    if (escaped) [[unlikely]] {
      room = json::unescape(key);
      key = room;
    }
    p = on_member(key, p, end);
    if (p == nullptr)
      return nullptr;
    // only a comma or the end may follow a value; anything else is a damaged string or other damage
    p = skip_space(p, end);
    if (p >= end)
      return nullptr;
    if (*p == '}')
      return p + 1;
    if (*p++ != ',')
      return nullptr;
  }
}

class ChunkParser {
public:
  ChunkParser(KinetoChunk& chunk, KinetoKeep keep) : out_(chunk), keep_(keep) {
    out_.track_slots.assign(256, 0);
  }

  /// Parses the object that begins at p. Returns the position after it, or nullptr if the object is
  /// malformed.
  const char* event(const char* p, const char* end, std::uint64_t offset);

private:
  const char* args(const char* p, const char* end, RawArgs& a) {
    return scan_object(p, end, key_room_, [&a](std::string_view key, const char* v, const char* e) {
      Raw* const want = wanted_arg(a, key);
      return want != nullptr ? read_value(v, e, *want) : skip_value(v, e);
    });
  }
  void store(const RawEvent& e, const RawArgs& a, Category category, std::uint64_t offset);
  void store_collective(const RawArgs& a, EventId id);
  void store_graph_node(const RawArgs& a, EventId id);
  void store_flow(const RawEvent& e, std::string_view cat, bool start);
  void store_metadata(const RawEvent& e, const RawArgs& a);
  void store_counter(const RawEvent& e, const char* end, std::uint64_t offset);
  void bad_time(std::uint64_t offset) {
    if (out_.bad_time.count++ == 0)
      out_.bad_time.first_offset = offset;
  }
  std::uint32_t track_of(const Raw& pid, const Raw& tid);
  StrId text_of(const Raw& raw);
  /// Returns the JSON text of a value; for a string, including its quotes.
  static std::string_view json_text(const Raw& raw) {
    return raw.string ? std::string_view(raw.text.data() - 1, raw.text.size() + 2) : raw.text;
  }
  StrId json_of(const Raw& raw) {
    return !raw.present || raw.text == "null" ? kEmptyStr : out_.strings.intern(json_text(raw));
  }
  /// Returns the id of the normal form of the JSON text. Each distinct text in a chunk is converted
  /// only once.
  StrId arg_of(const Raw& raw) {
    if (!raw.present || raw.text == "null")
      return kEmptyStr;
    const std::string_view json = json_text(raw);
    const StrId known = raw_args_.intern(json);
    if (known == normal_args_.size()) // ids are dense: this text is new
      normal_args_.push_back(out_.strings.intern(normal_arg_text(json)));
    return normal_args_[known];
  }
  static std::int64_t int_of(const Raw& raw) {
    std::int64_t v = kNoId;
    return raw.present && json::text_to_int(raw.text, v) ? v : kNoId;
  }

  KinetoChunk& out_;
  KinetoKeep keep_;
  RawArgs args_; ///< arguments of the current event
  bool args_used_ = false;
  std::string key_room_, ph_room_, cat_room_; ///< buffers for decoded texts
  StringPool raw_args_;                       ///< the arguments as written in the file
  std::vector<StrId> normal_args_{kEmptyStr}; ///< normal forms of the texts in raw_args_, by id
  std::string_view last_pid_text_, last_tid_text_;
  std::uint32_t last_track_ = 0;
  bool have_track_ = false;
};

StrId ChunkParser::text_of(const Raw& raw) {
  if (!raw.present)
    return kEmptyStr;
  if (!raw.escaped)
    return out_.strings.intern(raw.text);
  return out_.strings.intern(json::unescape(raw.text));
}

std::uint32_t ChunkParser::track_of(const Raw& pid, const Raw& tid) {
  // most events are on the same thread as the previous event
  if (have_track_ && pid.text == last_pid_text_ && tid.text == last_tid_text_)
    return last_track_;
  last_pid_text_ = pid.text;
  last_tid_text_ = tid.text;
  have_track_ = true;
  Track track;
  if (!pid.string || !json::text_to_int(pid.text, track.pid)) {
    if (pid.string)
      track.pid_text = text_of(pid);
    else if (pid.present && !json::text_to_int(pid.text, track.pid))
      track.pid_text = text_of(pid);
  }
  if (!tid.string || !json::text_to_int(tid.text, track.tid)) {
    if (tid.string)
      track.tid_text = text_of(tid);
    else if (tid.present && !json::text_to_int(tid.text, track.tid))
      track.tid_text = text_of(tid);
  }
  std::uint64_t h = static_cast<std::uint64_t>(track.pid) * 0x9e3779b97f4a7c15ULL +
                    static_cast<std::uint64_t>(track.tid) * 0xd6e8feb86659fd93ULL +
                    track.pid_text * 31U + track.tid_text * 131U;
  h ^= h >> 31;
  for (;; ++h) {
    std::uint32_t& slot = out_.track_slots[h & (out_.track_slots.size() - 1)];
    if (slot == 0) {
      out_.tracks.push_back(track);
      slot = static_cast<std::uint32_t>(out_.tracks.size());
      last_track_ = slot - 1;
      if (out_.tracks.size() * 2 > out_.track_slots.size()) {
        // rare: make a larger table and insert all entries again
        const std::size_t bigger = out_.track_slots.size() * 4;
        out_.track_slots.assign(bigger, 0);
        for (std::uint32_t i = 0; i < out_.tracks.size(); ++i) {
          const Track& t = out_.tracks[i];
          std::uint64_t g = static_cast<std::uint64_t>(t.pid) * 0x9e3779b97f4a7c15ULL +
                            static_cast<std::uint64_t>(t.tid) * 0xd6e8feb86659fd93ULL +
                            t.pid_text * 31U + t.tid_text * 131U;
          g ^= g >> 31;
          while (out_.track_slots[g & (bigger - 1)] != 0)
            ++g;
          out_.track_slots[g & (bigger - 1)] = i + 1;
        }
      }
      return last_track_;
    }
    const Track& t = out_.tracks[slot - 1];
    if (t.pid == track.pid && t.tid == track.tid && t.pid_text == track.pid_text &&
        t.tid_text == track.tid_text) {
      last_track_ = slot - 1;
      return last_track_;
    }
  }
}

void ChunkParser::store_collective(const RawArgs& a, EventId id) {
  CollectiveArgs c;
  c.collective_name = text_of(a.coll_name);
  c.dtype = text_of(a.dtype);
  c.pg_name = text_of(a.pg_name);
  c.pg_description = text_of(a.pg_desc);
  c.pg_ranks = text_of(a.pg_ranks);
  c.in_split = text_of(a.in_split);
  c.out_split = text_of(a.out_split);
  c.in_nelems = int_of(a.in_nelems);
  c.out_nelems = int_of(a.out_nelems);
  c.group_size = int_of(a.group_size);
  c.seq = int_of(a.seq);
  c.rank = int_of(a.rank);
  c.src_rank = int_of(a.src_rank);
  c.dst_rank = int_of(a.dst_rank);
  out_.collectives.emplace_back(id, c);
}

/// Stores the graph node of an event. CUPTI writes 0 if the event is not from a graph launch.
void ChunkParser::store_graph_node(const RawArgs& a, EventId id) {
  const std::int64_t node = int_of(a.graph_node);
  if (node != kNoId && node != 0)
    out_.graph_nodes.emplace_back(id, GraphNode{int_of(a.graph), node});
}

void ChunkParser::store(const RawEvent& e, const RawArgs& a, Category category,
                        std::uint64_t offset) {
  std::int64_t ts = 0;
  std::int64_t dur = 0;
  if (!json::us_text_to_ns(e.ts.text, ts) || !json::us_text_to_ns(e.dur.text, dur) ||
      !usable_time(ts, dur))
    return bad_time(offset);
  Events& ev = out_.events;
  const auto id = static_cast<EventId>(ev.size());
  std::uint32_t args_row = kNoRow;
  if (category == Category::kCpuOp) {
    if (a.dims.present || a.types.present || a.concrete.present || a.sequence.present ||
        a.kernel_file.present) {
      args_row = static_cast<std::uint32_t>(out_.op_args.size());
      out_.op_args.push_back({arg_of(a.dims), arg_of(a.types), arg_of(a.strides),
                              arg_of(a.concrete), int_of(a.sequence), text_of(a.kernel_file)});
    }
  } else if (is_gpu(category)) {
    if (a.grid.present || a.block.present || a.bytes.present) {
      args_row = static_cast<std::uint32_t>(out_.gpu_args.size());
      out_.gpu_args.push_back({json_of(a.grid), json_of(a.block), int_of(a.bytes)});
    }
    if (a.graph_node.present)
      store_graph_node(a, id);
  } else if (category == Category::kPythonFunction) {
    args_row = static_cast<std::uint32_t>(out_.python_args.size());
    out_.python_args.push_back(
        {int_of(a.python_id), int_of(a.python_parent), int_of(a.python_module)});
  } else if (keep_.launches && a.kernel.string && is_runtime(category)) {
    args_row = static_cast<std::uint32_t>(out_.launch_args.size());
    out_.launch_args.push_back({text_of(a.kernel), json_of(a.grid), json_of(a.block)});
  }
  if (a.collective)
    store_collective(a, id);
  const auto small = [](std::int64_t v, std::int64_t limit) { return v < 0 || v > limit ? -1 : v; };
  ev.ts_ns.push_back(ts);
  ev.dur_ns.push_back(dur);
  ev.correlation.push_back(int_of(a.correlation));
  ev.external_id.push_back(int_of(a.external_id));
  ev.name.push_back(text_of(e.name));
  ev.uid.push_back(out_.event_count);
  ev.track.push_back(track_of(e.pid, e.tid));
  ev.args.push_back(args_row);
  ev.stream.push_back(static_cast<std::int32_t>(small(int_of(a.stream), INT32_MAX)));
  ev.device.push_back(static_cast<std::int16_t>(small(int_of(a.device), INT16_MAX)));
  ev.category.push_back(category);
}

void ChunkParser::store_flow(const RawEvent& e, std::string_view cat, bool start) {
  const std::int64_t id = int_of(e.id);
  if (id == kNoId)
    return;
  std::int64_t ts = 0;
  if (!json::us_text_to_ns(e.ts.text, ts) || !usable_time(ts, 0))
    ts = 0; // the time is not valid, but the ids of the flow event still link events
  FlowKind kind = FlowKind::kOther;
  if (cat == "ac2g" || cat == "async_cpu_to_gpu")
    kind = start ? FlowKind::kAc2gStart : FlowKind::kAc2gEnd;
  else if (cat == "fwdbwd" || cat == "forward_backward")
    kind = start ? FlowKind::kFwdBwdStart : FlowKind::kFwdBwdEnd;
  out_.flows.id.push_back(id);
  out_.flows.ts_ns.push_back(ts);
  out_.flows.track.push_back(track_of(e.pid, e.tid));
  out_.flows.kind.push_back(kind);
}

void ChunkParser::store_metadata(const RawEvent& e, const RawArgs& a) {
  std::string room;
  const std::string_view name = plain(e.name, room);
  if (name == "process_name")
    out_.metadata.push_back(
        {MetadataEvent::Kind::kProcessName, track_of(e.pid, e.tid), text_of(a.name)});
  else if (name == "process_labels")
    out_.metadata.push_back(
        {MetadataEvent::Kind::kProcessLabel, track_of(e.pid, e.tid), text_of(a.labels)});
  else if (name == "thread_name")
    out_.metadata.push_back(
        {MetadataEvent::Kind::kThreadName, track_of(e.pid, e.tid), text_of(a.name)});
}

/// Stores a counter event. {"ph":"C","name":"GPU 0","ts":1,"args":{"power":300,"clock":1980}}
/// becomes samples with the names "GPU 0 power" and "GPU 0 clock". If the only member has the name
/// "value" or the name of the counter, the samples have the name of the counter.
void ChunkParser::store_counter(const RawEvent& e, const char* end, std::uint64_t offset) {
  std::int64_t ts = 0;
  if (!json::us_text_to_ns(e.ts.text, ts) || !usable_time(ts, 0))
    return bad_time(offset);
  if (e.args == nullptr)
    return;
  std::string room;
  const std::string name(plain(e.name, room));
  const std::uint32_t track = track_of(e.pid, e.tid);
  (void)scan_object(
      e.args, end, key_room_, [&](std::string_view key, const char* v, const char* stop) {
        Raw raw;
        const char* const after = read_value(v, stop, raw);
        double value = 0;
        const char* const last = raw.text.data() + raw.text.size();
        const auto [at, error] = std::from_chars(raw.text.data(), last, value);
        if (after == nullptr || error != std::errc() || at != last || !std::isfinite(value))
          return after;
        const bool named = key == "value" || key == name;
        out_.counters.track.push_back(track);
        out_.counters.name.push_back(
            out_.strings.intern(named ? name : name + " " + std::string(key)));
        out_.counters.ts_ns.push_back(ts);
        out_.counters.value.push_back(value);
        out_.counters.unit.push_back(kEmptyStr);
        return after;
      });
}

/// Returns the category of an event without "cat". PyTorch's profiler writes such events if it was
/// built without Kineto (some distributions, and versions before 1.8). The process name then shows
/// the category.
Category legacy_category(const RawEvent& e) {
  if (e.pid.text == "CPU functions")
    return e.name.text.starts_with("ProfilerStep#") ? Category::kUserAnnotation : Category::kCpuOp;
  return e.pid.text == "CUDA functions" ? Category::kKernel : Category::kOther;
}

const char* ChunkParser::event(const char* p, const char* end, std::uint64_t offset) {
  RawEvent e;
  if (args_used_) // clearing takes most of the time of an event without arguments
    args_ = {};
  args_used_ = false;
  RawArgs& a = args_;
  const char* const after = scan_object(
      p, end, key_room_, [&](std::string_view key, const char* v, const char* stop) -> const char* {
        if (Raw* const want = wanted_key(e, key))
          return read_value(v, stop, *want);
        if (key == "args" && v < stop && *v == '{') {
          e.args = v;
          // Kineto writes ph and cat first, so the arguments of events that are not stored need not
          // be parsed
          if (!keep_.python && e.cat.text == "python_function")
            return skip_value(v, stop);
          if (e.ph.text == "X" || e.ph.text == "M" || !e.ph.present || e.ph.escaped) {
            args_used_ = true;
            return args(v, stop, a);
          }
        }
        return skip_value(v, stop);
      });
  if (after == nullptr)
    return nullptr;
  const std::string_view ph = plain(e.ph, ph_room_);
  const std::string_view cat = plain(e.cat, cat_room_);
  if (ph == "X") {
    const Category category = e.cat.present ? category_of(cat) : legacy_category(e);
    if (category == Category::kOther && out_.foreign_category.empty() && foreign_category(cat))
      out_.foreign_category = cat;
    if (category == Category::kPythonFunction && !keep_.python)
      ++out_.python_skipped;
    else
      store(e, a, category, offset);
  } else if (ph == "s" || ph == "f" || ph == "t") {
    store_flow(e, cat, ph == "s");
  } else if (ph == "M") {
    store_metadata(e, a);
  } else if (ph == "C") {
    store_counter(e, after, offset);
  } else if (ph.empty() && !e.name.present && !e.ts.present) {
    // {}: Kineto writes this instead of an event that it discarded; it only increments the uid
  } else if (ph != "i" && ph != "I") { // instant events are not needed, so they are not counted as
                                       // skipped
    ++out_.other_phases;
  }
  return after;
}

/// Finds the next probable start of an event in [p, end) after a damaged event: an object that
/// begins with "ph", or an object with keys that follows a comma. This is safe because no Kineto
/// event contains a list of objects. The search for the comma goes back to `begin` at most.
const char* resync(const char* begin, const char* p, const char* end) {
  while (p < end) {
    p = static_cast<const char*>(std::memchr(p, '{', static_cast<std::size_t>(end - p)));
    if (p == nullptr)
      return end;
    const char* const q = skip_space(p + 1, end);
    if (end - q >= 4 && std::memcmp(q, "\"ph\"", 4) == 0)
      return p;
    if (q < end && *q == '"') {
      const char* before = p;
      while (before > begin &&
             (before[-1] == ' ' || before[-1] == '\n' || before[-1] == '\r' || before[-1] == '\t'))
        --before;
      if (before > begin && before[-1] == ',')
        return p;
    }
    ++p;
  }
  return end;
}

/// Limits the work for attempts to parse that fail. If brackets are never closed, each attempt
/// reads to the end of the text, and the next attempt begins a few bytes later; for a megabyte of
/// such text this would take minutes. The budget is 16 times the size of the text, plus 64 bytes
/// for each byte that was passed. An event that is longer than the remaining budget counts as
/// damaged, so the total work is linear.
class FailedTries {
public:
  explicit FailedTries(std::size_t text) : left_(16 * text) {}
  [[nodiscard]] std::size_t limit(std::size_t most) const { return std::min(most, left_); }
  void failed(std::size_t bytes) { left_ -= bytes; }
  void passed(std::size_t bytes) { left_ += 64 * bytes; }

private:
  std::size_t left_;
};

} // namespace

void parse_kineto_chunk(std::string_view text, std::uint64_t offset, bool last, KinetoKeep keep,
                        KinetoChunk& chunk) {
  ChunkParser parser(chunk, keep);
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
  const auto place = [&](const char* at) {
    return offset + static_cast<std::uint64_t>(at - begin);
  };
  (void)last;
  FailedTries tries(text.size());
  for (;;) {
    p = skip_space(p, end);
    if (p >= end)
      return;
    if (*p == ',') {
      ++p;
      continue;
    }
    if (*p == ']') {
      chunk.array_ended = true;
      chunk.tail.assign(p + 1, end);
      return;
    }
    const std::size_t limit =
        *p == '{' ? tries.limit(static_cast<std::size_t>(end - p)) : std::size_t{0};
    const char* const after = limit > 0 ? parser.event(p, p + limit, place(p)) : nullptr;
    ++chunk.event_count;
    const char* const from = p;
    if (after == nullptr) {
      if (chunk.malformed.count++ == 0)
        chunk.malformed.first_offset = place(p);
      tries.failed(limit);
      p = resync(begin, p + 1, end);
    } else {
      p = after;
    }
    tries.passed(static_cast<std::size_t>(p - from));
  }
}

std::size_t cut_at_event(std::string_view text) {
  // "ph" directly after a brace cannot be inside a string, because its quotes are not escaped. So
  // `}` `,` `{` `"ph"` is a boundary between two events. A search from the end finds it without
  // reading the rest of the text.
  for (std::size_t at = text.rfind("\"ph\""); at != std::string_view::npos && at > 0;
       at = text.rfind("\"ph\"", at - 1)) {
    std::size_t q = at;
    const auto back_over_space = [&] {
      while (q > 0 && (text[q - 1] == ' ' || text[q - 1] == '\n' || text[q - 1] == '\r' ||
                       text[q - 1] == '\t'))
        --q;
    };
    back_over_space();
    if (q == 0 || text[q - 1] != '{')
      continue;
    const std::size_t brace = --q;
    back_over_space();
    if (q == 0 || text[q - 1] != ',')
      continue;
    --q;
    back_over_space();
    if (q > 0 && text[q - 1] == '}')
      return brace;
  }
  return 0;
}

} // namespace rankscope
