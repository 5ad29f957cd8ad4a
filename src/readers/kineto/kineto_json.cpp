// Reads Kineto / Chrome JSON traces: an object with traceEvents, or a list of events without the
// object; plain, gzip or zstd. The reader cuts the stream between events, and worker threads parse
// the pieces into chunks. Chunks are merged in file order, so the result does not depend on the
// threads.
#include "base/ascii.h"
#include "base/counters.h"
#include "base/utf8.h"
#include "core/gpu_work.h"
#include "core/trace_builder.h"
#include "os/byte_source.h"
#include "readers/foreign_format.h"
#include "readers/kineto/json_scan.h"
#include "readers/kineto/kineto_chunk.h"
#include "readers/kineto/kineto_header.h"
#include "readers/kineto/kineto_pipeline.h"
#include "readers/reader.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <simdjson.h>
#include <utility>

namespace rankscope {
namespace {

constexpr std::size_t kDefaultWindow = std::size_t{1} << 20;

// ---- merging -----------------------------------------------------------------------------------

/// Merges chunks into the builder in file order and collects the totals of the file.
class Merger {
public:
  Merger(TraceBuilder& out, std::uint64_t expected_bytes)
      : out_(out), expected_bytes_(expected_bytes) {}

  void add(const KinetoChunk& c, std::uint64_t bytes) {
    reserve(c.events.size(), bytes);
    const std::vector<std::uint32_t> tracks = out_.append(c, entries_);
    for (const MetadataEvent& m : c.metadata)
      name(c, m, tracks[m.track]);
    entries_ += c.event_count;
    out_.count_skipped_python(c.python_skipped);
    other_phases_ += c.other_phases;
    note(malformed_, c.malformed);
    note(bad_time_, c.bad_time);
    if (foreign_category_.empty())
      foreign_category_ = c.foreign_category;
  }

  /// Returns the number of entries of traceEvents that were merged, including dropped ones.
  [[nodiscard]] std::uint64_t entries() const { return entries_; }
  /// Returns the first category of a device that rankscope does not read, or "".
  [[nodiscard]] const std::string& foreign_category() const { return foreign_category_; }

  void report(const std::string& path, const ByteSource& source) {
    Diagnostics& d = out_.diagnostics();
    const auto where = [&](const DroppedEvents& dropped) {
      return fmt::format("{}: {}", path, source.place(dropped.first_offset));
    };
    if (malformed_.count > 0)
      d.add(counters::event_malformed(), where(malformed_), malformed_.count);
    if (bad_time_.count > 0)
      d.add(counters::event_bad_time(), where(bad_time_), bad_time_.count);
    report_texts(path);
    if (other_phases_ > 0)
      d.add(counters::event_phase_skipped(), path, other_phases_);
  }

private:
  static void note(DroppedEvents& total, const DroppedEvents& more) {
    if (total.count == 0)
      total.first_offset = more.first_offset;
    total.count += more.count;
  }

  void name(const KinetoChunk& c, const MetadataEvent& m, std::uint32_t track) {
    const Track& t = c.tracks[m.track];
    const StrId text = out_.text(c.strings.view(m.text));
    if (m.kind == MetadataEvent::Kind::kThreadName)
      out_.set_thread_name(track, text);
    else if (t.pid_text == kEmptyStr && m.kind == MetadataEvent::Kind::kProcessName)
      out_.set_process_name(t.pid, text);
    else if (t.pid_text == kEmptyStr)
      out_.set_process_label(t.pid, text);
  }

  /// Returns whether `c` is a control character other than tabs and line breaks, which may be part
  /// of the layout of arguments.
  static bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
  }

  void report_texts(const std::string& path) {
    std::uint64_t not_utf8 = 0;
    std::uint64_t control = 0;
    for (StrId i = 0; i < out_.text_count(); ++i) {
      const std::string_view text = out_.view(i);
      not_utf8 += simdjson::validate_utf8(text.data(), text.size()) ? 0 : 1;
      control += std::any_of(text.begin(), text.end(), is_control) ? 1 : 0;
    }
    if (not_utf8 > 0)
      out_.diagnostics().add(counters::text_not_utf8(), path, not_utf8);
    if (control > 0)
      out_.diagnostics().add(counters::text_control_characters(), path, control);
  }

  /// Reserves memory once for all events that the rest of the file probably contains, estimated
  /// from the events per byte so far. If columns grew by doubling, there would be two copies of
  /// them in memory when they are largest.
  void reserve(std::size_t more, std::uint64_t bytes) {
    bytes_seen_ += bytes;
    const std::size_t need = out_.events() + more;
    if (need <= out_.event_capacity())
      return;
    std::size_t want = need + need / 2;
    if (expected_bytes_ > bytes_seen_ && bytes_seen_ > 0) {
      const double density = static_cast<double>(need) / static_cast<double>(bytes_seen_);
      want = static_cast<std::size_t>(density * 1.05 * static_cast<double>(expected_bytes_)) + more;
    }
    out_.reserve(std::max(want, need));
  }

  TraceBuilder& out_;
  std::uint64_t expected_bytes_;
  std::uint64_t bytes_seen_ = 0;
  std::uint32_t entries_ = 0;
  std::uint64_t other_phases_ = 0;
  DroppedEvents malformed_;
  DroppedEvents bad_time_;
  std::string foreign_category_;
};

// ---- cutting -----------------------------------------------------------------------------------

/// Finds a position to cut if the producer does not write "ph" first. Reads complete values from
/// the start of the text to the end of the list. Blanks after the last value belong to it.
std::size_t cut_by_structure(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
  std::size_t cut = 0;
  for (;;) {
    p = json::skip_space(p, end);
    while (p < end && *p == ',')
      p = json::skip_space(p + 1, end);
    if (p < end && *p == ']') // cut here, because no event follows
      return static_cast<std::size_t>(p + 1 - begin);
    if (p >= end)
      return text.size();
    if (*p != '{')
      return cut;
    p = json::skip_value(p, end);
    if (p == nullptr)
      return cut;
    cut = static_cast<std::size_t>(p - begin);
  }
}

constexpr const char* kTooLong = "an event has more than 64 MiB";
static_assert(kMostKinetoValue == std::size_t{64} << 20U);

bool sniff_kineto_json(std::string_view head, std::string_view) {
  head = without_byte_order_mark(head);
  const char* const p = json::skip_space(head.data(), head.data() + head.size());
  return p < head.data() + head.size() && (*p == '{' || *p == '[');
}

NameClaim claims_kineto_json(std::string_view file_name) {
  return file_name.ends_with(".json") ? NameClaim::kYes : NameClaim::kNo;
}

std::optional<std::int64_t> int_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos)
    return std::nullopt;
  const std::size_t from = text.find_first_not_of(" :\t\n\r\"", at + key.size());
  if (from == std::string_view::npos)
    return std::nullopt;
  std::int64_t v = 0;
  const auto [end, ec] = std::from_chars(text.data() + from, text.data() + text.size(), v);
  return ec == std::errc() ? std::optional(v) : std::nullopt;
}

/// Reads the rank from distributedInfo, if that is in the first bytes of the file.
FileInfo inspect_kineto_json(std::string_view head, std::string_view) {
  constexpr std::size_t kHeadBytes = std::size_t{64} << 10;
  FileInfo out;
  const auto has = [head](std::string_view part) { return contains(head, part); };
  out.trace = has("\"traceEvents\"") || has("\"schemaVersion\"") || has("\"ph\"") ||
              head.size() == kHeadBytes;
  const std::size_t at = head.find("\"distributedInfo\"");
  if (at != std::string_view::npos) {
    const std::string_view part = head.substr(at, 400);
    if (const auto rank = int_after(part, "\"rank\""))
      out.ranks.push_back(*rank);
    out.world_size = int_after(part, "\"world_size\"");
  }
  return out;
}

/// Reads one file in windows, from the first byte to the last.
class KinetoFile {
public:
  KinetoFile(const std::string& path, const ReadOptions& options, ByteSource& source)
      : path_(path), options_(options), source_(source),
        window_(options.window_bytes > 0 ? options.window_bytes : kDefaultWindow),
        out_(path, kineto_json_reader.name) {
    out_.limit_for(source.file_bytes());
  }

  Result<Trace> read() {
    RS_CHECK(read_header());
    read_events();
    if (list_ended_)
      read_tail();
    const std::size_t kept = out_.events();
    report_end(kept);
    if (kept == 0 && too_long_)
      return Error{ErrorCode::kUnreadable, path_,
                   fmt::format("{}: {}", source_.place(offset_), kTooLong), ""};
    if (kept == 0)
      return Error{ErrorCode::kUnreadable, path_,
                   fmt::format("no usable event among {} entries of traceEvents; expected complete "
                               "events (ph X) with ts and dur",
                               entries_),
                   ""};
    out_.set_input(input_bytes_, entries_);
    out_.source().clock = head_.clock;
    out_.header() = std::move(head_.values);
    if (std::ranges::any_of(out_.header().other,
                            [](const auto& value) { return value.first == kMergedTraceKey; }))
      out_.diagnostics().add(counters::merged_trace(), path_);
    RS_TRY(Trace trace, std::move(out_).finish());
    if (!has_gpu_work(trace))
      if (const ForeignFormat* const format = foreign_producer(trace, foreign_category_))
        return refusal_of(*format, path_);
    return trace;
  }

private:
  void fill(std::size_t more) {
    const std::size_t had = buffer_.size();
    buffer_.resize(had + more);
    const std::size_t got = source_.read(buffer_.data() + had, more);
    buffer_.resize(had + got);
    input_bytes_ += got;
    at_end_ = got < more;
  }

  /// Begins a window with `rest` and room for new data, and reuses the memory of a text that was
  /// parsed. New memory would cost as much time as reading, because its pages must be mapped and
  /// zeroed.
  void begin_window(std::string_view rest) {
    buffer_ = std::exchange(spare_, {});
    buffer_.resize(rest.size() + window_);
    std::copy(rest.begin(), rest.end(), buffer_.begin());
    const std::size_t got = source_.read(buffer_.data() + rest.size(), window_);
    buffer_.resize(rest.size() + got);
    input_bytes_ += got;
    at_end_ = got < window_;
  }

  /// Reads the header. Afterwards the buffer begins at the first event.
  Result<void> read_header() {
    buffer_.reserve(window_ + window_ / 4); // with room for the text that remains from the previous
                                            // window
    fill(window_);
    if (buffer_.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0)
      buffer_.replace(0, kByteOrderMark.size(), kByteOrderMark.size(), ' ');
    for (skip_blanks(); buffer_.empty() && !at_end_; skip_blanks())
      fill(window_);
    std::size_t at = 0;
    const char* const first = json::skip_space(buffer_.data(), buffer_.data() + buffer_.size());
    bare_list_ = first < buffer_.data() + buffer_.size() && *first == '[';
    if (bare_list_) {
      at = static_cast<std::size_t>(first - buffer_.data()) + 1;
    } else {
      bool inside = false;
      std::size_t members = 0; // size of the members before the buffer, without the blanks between
                               // them
      for (;;) {
        const HeadState state =
            scan_members(buffer_, at, inside, at_end_, head_, out_.diagnostics());
        if (state == HeadState::kEvents)
          break;
        inside = inside || at > 0;
        if (state != HeadState::kNeedMore || at_end_)
          return no_events(state, at);
        offset_ += at;
        members += at;
        buffer_.erase(0, at);
        at = 0;
        skip_blanks();
        if (members + buffer_.size() >= kMostKinetoValue)
          return Error{ErrorCode::kUnreadable, path_,
                       fmt::format("{}: the header has more than {} MiB", source_.place(offset_),
                                   kMostKinetoValue >> 20U),
                       ""};
        fill(std::max(window_, buffer_.size()));
      }
    }
    buffer_.erase(0, at);
    offset_ += at;
    return {};
  }

  /// Skips blanks between values. A small compressed file can contain any number of blanks.
  void skip_blanks() {
    const char* const begin = buffer_.data();
    const auto blanks =
        static_cast<std::size_t>(json::skip_space(begin, begin + buffer_.size()) - begin);
    buffer_.erase(0, blanks);
    offset_ += blanks;
  }

  [[nodiscard]] Error no_events(HeadState state, std::size_t at) const {
    const std::string why = source_.problem();
    return Error{
        ErrorCode::kUnreadable, path_,
        fmt::format("{}: {}; expected a JSON object with traceEvents, or an array of events",
                    source_.place(offset_ + at),
                    !why.empty()                       ? why
                    : buffer_.empty()                  ? "the file is empty"
                    : state == HeadState::kEndOfObject ? "no traceEvents in the object"
                    : state == HeadState::kNeedMore    ? "the file ends in its header"
                                                       : "not JSON"),
        ""};
  }

  void read_events() {
    Merger merger(out_, source_.compressed() ? 0 : source_.file_bytes());
    const auto merge = [&](KinetoJob& job) {
      if (list_ended_) {
        keep_tail(job.text);
        return;
      }
      merger.add(job.chunk, job.text.size());
      if (job.chunk.array_ended) {
        list_ended_ = true;
        keep_tail(job.chunk.tail);
      }
      if (job.text.capacity() <= 4 * window_) // do not keep the memory of an extremely long event
        spare_ = std::move(job.text);
    };
    std::optional<TaskPool> local_pool;
    TaskPool* pool = options_.pool;
    if (pool == nullptr && options_.threads > 1)
      pool = &local_pool.emplace(options_.threads);
    KinetoPipeline pipeline(pool, options_.threads, {options_.keep_python, options_.keep_launches});
    for (;;) {
      std::size_t cut = buffer_.size();
      if (!at_end_) {
        cut = cut_at_event(buffer_);
        if (cut < buffer_.size() / 2)
          cut = std::max(cut, cut_by_structure(buffer_));
        if (cut == 0) { // an event that is larger than the window, or the end of the list
          pipeline.drain(merge, 0);
          if (list_ended_)
            break;
          skip_blanks();
          if (buffer_.size() >= kMostKinetoValue) {
            too_long_ = true;
            break;
          }
          fill(std::max(window_, buffer_.size()));
          continue;
        }
      }
      auto job = std::make_unique<KinetoJob>();
      job->offset = offset_;
      std::string rest(buffer_, cut);
      buffer_.resize(cut);
      job->text = std::move(buffer_);
      offset_ += cut;
      pipeline.push(std::move(job), merge);
      if ((at_end_ && rest.empty()) || list_ended_) {
        buffer_ = std::move(rest);
        break;
      }
      begin_window(rest);
    }
    pipeline.drain(merge, 0);
    entries_ = merger.entries();
    foreign_category_ = merger.foreign_category();
    merger.report(path_, source_);
  }

  /// Stores the text after the list of events; it contains the other members of the root object.
  void keep_tail(std::string_view text) {
    constexpr std::size_t kMost = std::size_t{64} << 20;
    constexpr std::size_t kBlanks = std::size_t{1} << 20; // more blanks than a header contains
    if (text.size() >= kBlanks && text.find_first_not_of(" \t\r\n") == std::string_view::npos)
      return;
    const std::size_t room = kMost - std::min(kMost, tail_.size());
    tail_ += text.substr(0, room);
    tail_cut_ = tail_cut_ || text.size() > room;
  }

  /// Reads the header members after the list of events. Text after the end of the root object
  /// (another trace, garbage) and a second list of events are reported but not read.
  void read_tail() {
    keep_tail(buffer_);
    while (!at_end_ && !tail_cut_) {
      buffer_.clear();
      fill(window_);
      keep_tail(buffer_);
    }
    std::size_t at = 0;
    HeadState state = HeadState::kEndOfObject;
    if (!bare_list_)
      state = scan_members(tail_, at, true, true, head_, out_.diagnostics());
    const char* const end = tail_.data() + tail_.size();
    const char* const more = json::skip_space(tail_.data() + at, end);
    if (state == HeadState::kEvents)
      out_.diagnostics().add(counters::second_event_list(), path_);
    else if (tail_cut_ || state == HeadState::kMalformed ||
             (state == HeadState::kEndOfObject && more < end))
      out_.diagnostics().add(counters::input_after_end(), path_);
  }

  void report_end(std::size_t kept) {
    const std::string where =
        fmt::format("{}: {}", path_, source_.place(too_long_ ? offset_ : input_bytes_));
    if (too_long_)
      out_.diagnostics().add(counters::event_too_long(kTooLong, kept), where);
    else if (!source_.problem().empty())
      out_.diagnostics().add(counters::input_damaged(source_.problem(), kept), where);
    else if (!list_ended_)
      out_.diagnostics().add(counters::input_truncated(kept), where);
  }

  const std::string& path_;
  const ReadOptions& options_;
  ByteSource& source_;
  std::size_t window_;
  TraceBuilder out_;
  KinetoHeader head_;
  std::string buffer_;
  std::string spare_;        ///< text of a piece that was parsed; its memory is reused
  std::uint64_t offset_ = 0; ///< position of the first byte of buffer_ in the decompressed file
  std::uint64_t input_bytes_ = 0;
  std::uint64_t entries_ = 0;
  std::string foreign_category_;
  bool at_end_ = false;
  bool bare_list_ = false;
  bool list_ended_ = false;
  bool too_long_ = false; ///< an event was too long, so reading stopped
  std::string tail_;
  bool tail_cut_ = false;
};

Result<void> read_kineto_json(ByteSource& source, const std::string& path,
                              const ReadOptions& options, const TraceSink& sink) {
  RS_TRY(Trace trace, KinetoFile(path, options, source).read());
  return sink(std::move(trace));
}

} // namespace

const Reader kineto_json_reader{"kineto-json",     "PyTorch/Kineto and Chrome JSON traces",
                                ".json",           claims_kineto_json,
                                sniff_kineto_json, inspect_kineto_json,
                                read_kineto_json};

} // namespace rankscope
