#include "writers/merged_trace.h"

#include "base/counters.h"
#include "base/json_text.h"
#include "core/steps.h"
#include "writers/lanes.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr std::int64_t kPidsPerRank = 1000;
constexpr std::int64_t kCpuPid = 500;
constexpr std::int64_t kMaxTid = 4000000000; ///< Perfetto stores thread ids in 32 bits
constexpr std::int64_t kHeadroomNs = 10'000'000'000;

bool on_gpu(Category c) {
  return is_gpu(c) || c == Category::kGpuUserAnnotation;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.back() == ' ')
    s.remove_suffix(1);
  return s;
}

struct OutTrack {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string name;
  std::int64_t sort = 0;
};

} // namespace

class RankMerger {
public:
  RankMerger(MergedTraceWriter& w, const Trace& t, std::int64_t rank, const ClockLine& clock,
             Diagnostics& diag)
      : w_(w), t_(t), rank_(rank), prefix_(fmt::format("[R{}] ", rank)), diag_(diag),
        to_unix_(t.clock().offset_ns), clock_(clock), escaped_(t.strings.size()),
        has_escaped_(t.strings.size(), false) {}

  void run() {
    MergedRank& summary = w_.summary_.ranks.emplace_back();
    summary.rank = rank_;
    choose();
    if (!w_.begun_)
      begin();
    if (w_.has_base_ != (t_.clock().domain == ClockDomain::kUnix))
      diag_.add(counters::merge_no_base_time(), t_.path);
    cut(summary);
    if (kept_.empty()) {
      diag_.add(counters::merge_empty_rank(rank_), t_.path);
      return;
    }
    // Viewers connect the end of an arrow to the slice on its track that began last. Therefore
    // slices are written in order of start, longer slices first, and the arrow ends of a slice
    // directly follow it.
    std::sort(kept_.begin(), kept_.end(), [this](EventId a, EventId b) { return before(a, b); });
    assign_tracks(summary);
    metadata();
    launch_arrows(summary);
    if (w_.options_.cpu_ops)
      backward_arrows(summary);
    order_ends();
    if (back_in_time_ > 0)
      diag_.add(counters::merge_arrow_back_in_time(), t_.path, back_in_time_);
    slices(summary);
  }

private:
  [[nodiscard]] bool before(EventId a, EventId b) const {
    const std::int64_t start_a = start_ns(a);
    const std::int64_t start_b = start_ns(b);
    if (start_a != start_b)
      return start_a < start_b;
    const std::int64_t end_a = end_ns(a);
    const std::int64_t end_b = end_ns(b);
    return end_a != end_b ? end_a > end_b : a < b;
  }

  /// Converts a time in the file to a Unix time on the common clock.
  std::int64_t common_ns(std::int64_t ts) const {
    return ts + (to_unix_ - clock_.at(ts + to_unix_));
  }
  std::int64_t start_ns(EventId e) const { return common_ns(t_.events.ts_ns[e]); }
  std::int64_t end_ns(EventId e) const {
    return common_ns(t_.events.ts_ns[e] + std::max<std::int64_t>(0, t_.events.dur_ns[e]));
  }
  std::int64_t out_ns(std::int64_t unix_ns) const { return unix_ns - w_.summary_.base_time_ns; }

  bool wanted(Category c) const {
    switch (c) {
    case Category::kKernel:
    case Category::kGpuMemcpy:
    case Category::kGpuMemset:
    case Category::kGpuUserAnnotation:
    case Category::kUserAnnotation:
    case Category::kRuntime:
    case Category::kDriver:
      return true;
    case Category::kCpuOp:
      return w_.options_.cpu_ops;
    default:
      return false;
    }
  }

  void choose() {
    for (EventId e = 0; e < t_.events.size(); ++e)
      if (wanted(t_.events.category[e]))
        kept_.push_back(e);
  }

  void begin() {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const EventId e : kept_)
      first = std::min(first, start_ns(e));
    if (kept_.empty())
      first = common_ns(0);
    w_.begun_ = true;
    w_.has_base_ = (t_.clock().domain == ClockDomain::kUnix);
    w_.zero_ns_ = first;
    // Perfetto stores ts as a double of microseconds, which is exact to a nanosecond only if the
    // base is near the data. The base is earlier than this rank's first event by kHeadroomNs, for
    // ranks that begin earlier.
    const std::int64_t base = std::max<std::int64_t>(0, first - kHeadroomNs);
    w_.summary_.base_time_ns = base / 1'000'000'000 * 1'000'000'000;
    w_.sink_.text(fmt::format("{{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", "
                              "\"baseTimeNanoseconds\": {},\n\"traceEvents\": [",
                              w_.summary_.base_time_ns));
  }

  /// Returns the call of each correlation id.
  std::unordered_map<std::int64_t, EventId> launch_calls() const {
    std::unordered_map<std::int64_t, EventId> out;
    for (const EventId e : kept_)
      if (is_runtime(t_.events.category[e]) && t_.events.correlation[e] != kNoId)
        out.emplace(t_.events.correlation[e], e);
    return out;
  }

  /// Selects the events that start inside the time window and the selected steps. GPU work belongs
  /// to the step in which it was launched.
  void cut(MergedRank& summary) {
    const MergeOptions& o = w_.options_;
    std::int64_t from = std::numeric_limits<std::int64_t>::min();
    std::int64_t to = std::numeric_limits<std::int64_t>::max();
    if (o.from_ms > -1e12)
      from = w_.zero_ns_ + static_cast<std::int64_t>(o.from_ms * 1e6);
    if (o.to_ms < 1e12)
      to = w_.zero_ns_ + static_cast<std::int64_t>(o.to_ms * 1e6);
    std::int64_t cpu_from = from;
    std::int64_t cpu_to = to;
    std::int64_t gpu_from = from;
    std::int64_t gpu_to = to;
    std::int64_t work_from = from; ///< of GPU work without a launch in the trace
    std::unordered_map<std::int64_t, EventId> calls;
    if (o.steps) {
      step_span(Category::kUserAnnotation, cpu_from, cpu_to);
      step_span(Category::kGpuUserAnnotation, gpu_from, gpu_to);
      work_from = gpu_from;
      if (gpu_from == from && gpu_to == to) { // there are no GPU annotations: use the time range on
                                              // the host
        work_from = gpu_from = cpu_from;
        gpu_to = cpu_to;
      } else if (cpu_from != from) {
        // on other streams, kernels may begin before the first kernel of the annotation
        work_from = std::min(gpu_from, std::max(from, cpu_from));
      }
      if (cpu_from != from || cpu_to != to)
        calls = launch_calls();
    }
    const auto outside = [&](EventId e) {
      const Category category = t_.events.category[e];
      const std::int64_t ts = start_ns(e);
      if (!on_gpu(category))
        return ts < cpu_from || ts >= cpu_to;
      if (category == Category::kGpuUserAnnotation)
        return ts < gpu_from || ts >= gpu_to;
      if (const auto call = calls.find(t_.events.correlation[e]); call != calls.end()) {
        const std::int64_t launched = start_ns(call->second);
        return launched < cpu_from || launched >= cpu_to;
      }
      return ts < work_from || ts >= gpu_to;
    };
    const auto end = std::remove_if(kept_.begin(), kept_.end(), outside);
    summary.outside = static_cast<std::uint64_t>(kept_.end() - end);
    kept_.erase(end, kept_.end());
  }

  void step_span(Category category, std::int64_t& from, std::int64_t& to) const {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    bool any = false;
    for (const EventId e : kept_) {
      if (t_.events.category[e] != category)
        continue;
      const auto step = profiler_step_number(t_.name(e));
      if (!step)
        continue;
      any = true;
      if (*step < w_.options_.steps->first || *step > w_.options_.steps->second)
        continue;
      first = std::min(first, start_ns(e));
      last = std::max(last, end_ns(e));
    }
    if (!any)
      return;
    if (first > last) { // there are annotations, but no annotation of these steps
      to = from = std::numeric_limits<std::int64_t>::max();
      return;
    }
    from = std::max(from, first);
    to = std::min(to, last);
  }

  std::int64_t stream_of(EventId e) const {
    return t_.events.stream[e] >= 0 ? t_.events.stream[e] : t_.tracks[t_.events.track[e]].tid;
  }
  std::int64_t device_of(EventId e) const {
    return t_.events.device[e] >= 0 ? t_.events.device[e] : t_.tracks[t_.events.track[e]].pid;
  }

  void assign_tracks(MergedRank& summary) {
    // Lanes of the source: (is GPU, device or pid, stream or tid, text id). The text id
    // distinguishes lanes whose ids are texts.
    using Key = std::tuple<bool, std::int64_t, std::int64_t, StrId>;
    std::map<Key, std::vector<EventId>> lanes;
    for (const EventId e : kept_) {
      const Track& track = t_.tracks[t_.events.track[e]];
      if (on_gpu(t_.events.category[e]))
        lanes[{false, device_of(e), stream_of(e), kEmptyStr}].push_back(e);
      else
        lanes[{true, track.pid, track.tid, track.tid_text}].push_back(e);
    }
    std::map<std::pair<bool, std::int64_t>, std::int64_t> pids;
    track_of_.assign(t_.events.size(), 0);
    for (auto& [key, events] : lanes) {
      const auto& [cpu, process, thread, text] = key;
      const auto [it, added] = pids.try_emplace({cpu, process}, 0);
      if (added) {
        std::int64_t index = 0;
        for (const auto& [other, pid] : pids)
          index += other.first == cpu && pid != 0 ? 1 : 0;
        // the limit of 499 prevents overlaps between the pid ranges of two ranks
        it->second =
            rank_ * kPidsPerRank + (cpu ? kCpuPid : 0) + std::min<std::int64_t>(index, 499);
        processes_.push_back({it->second, cpu, process, events.front()});
        if (it->second == 0)
          it->second = -1; // rank 0's GPU has pid 0, but 0 means "new" above, so -1 is stored for
                           // it
      }
      place(std::max<std::int64_t>(0, it->second), cpu, thread, events, summary);
    }
  }

  void place(std::int64_t pid, bool cpu, std::int64_t thread, std::vector<EventId>& events,
             MergedRank& summary) {
    const std::vector<bool> crossing = crossing_annotations(events);
    Lanes lanes;
    std::vector<std::uint32_t> out_tracks;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const EventId e = events[i];
      const std::size_t lane = lanes.place(start_ns(e), end_ns(e), crossing[i] ? 1 : 0);
      while (out_tracks.size() <= lane)
        out_tracks.push_back(new_track(pid, cpu, thread, events.front(), out_tracks.size()));
      track_of_[e] = out_tracks[lane];
      summary.overflow += lane > 0 ? 1 : 0;
    }
  }

  /// Finds annotations that begin or end inside a kernel. Such an annotation moves to another lane;
  /// a kernel never moves because of an annotation.
  std::vector<bool> crossing_annotations(const std::vector<EventId>& events) const {
    const Events& ev = t_.events;
    std::vector<bool> out(events.size(), false);
    std::vector<std::pair<std::int64_t, std::int64_t>> kernels;
    for (const EventId e : events)
      if (is_gpu(ev.category[e]))
        kernels.emplace_back(start_ns(e), end_ns(e));
    if (kernels.empty())
      return out;
    const auto cuts = [&](std::int64_t at) {
      // only the last kernels that begin before `at` are checked, because few kernels overlap on a
      // stream
      auto it = std::lower_bound(kernels.begin(), kernels.end(), std::pair{at, std::int64_t{0}});
      for (int back = 0; it != kernels.begin() && back < 4; ++back) {
        --it;
        if (it->first < at && at < it->second)
          return true;
      }
      return false;
    };
    for (std::size_t i = 0; i < events.size(); ++i)
      if (ev.category[events[i]] == Category::kGpuUserAnnotation)
        out[i] = cuts(start_ns(events[i])) || cuts(end_ns(events[i]));
    return out;
  }

  std::uint32_t new_track(std::int64_t pid, bool cpu, std::int64_t thread, EventId sample,
                          std::size_t lane) {
    const Track& source = t_.tracks[t_.events.track[sample]];
    OutTrack out;
    out.pid = pid;
    // never use 0: for Perfetto, tid 0 of process p means the thread with id p
    std::int64_t wanted = cpu ? thread : thread + 1;
    if (wanted < 1 || wanted > kMaxTid)
      wanted = 900000;
    if (lane > 0)
      wanted = 1000000 + static_cast<std::int64_t>(lane) * 1000000 + wanted % 1000000;
    if (wanted > kMaxTid) // possible only with thousands of lanes
      wanted = ++last_free_tid_;
    while (!used_tids_.insert({pid, wanted}).second)
      ++wanted;
    out.tid = wanted;
    std::string name(trimmed(t_.strings.view(source.thread_name)));
    if (name.empty())
      name = cpu ? (source.tid_text != kEmptyStr ? std::string(t_.strings.view(source.tid_text))
                                                 : fmt::format("thread {}", thread))
                 : fmt::format("stream {}", thread);
    out.name = lane == 0 ? name : fmt::format("{} ({})", name, lane + 1);
    out.sort = static_cast<std::int64_t>(tracks_.size());
    tracks_.push_back(std::move(out));
    return static_cast<std::uint32_t>(tracks_.size() - 1);
  }

  void record() { w_.begin_record(); }

  void metadata() {
    for (const Process& p : processes_) {
      const std::int64_t pid = p.pid;
      const char* kind = p.cpu ? "CPU/CUDA Runtime" : "GPU Stream";
      const bool more = pid % 500 != 0;
      // use an existing thread, because viewers create a thread for the id in the metadata of a
      // process
      const std::int64_t tid = std::ranges::find(tracks_, pid, &OutTrack::pid)->tid;
      meta("process_name", pid, tid,
           fmt::format("\"name\": \"Rank {} - {}{}\"", rank_, kind,
                       more ? fmt::format(" ({})", p.id) : ""));
      meta("process_labels", pid, tid, fmt::format("\"labels\": \"{}\"", json_escaped(label(p))));
      meta("process_sort_index", pid, tid,
           fmt::format("\"sort_index\": {}", rank_ * kPidsPerRank + pid % kPidsPerRank));
    }
    for (const OutTrack& t : tracks_) {
      meta("thread_name", t.pid, t.tid, fmt::format("\"name\": \"{}\"", json_escaped(t.name)));
      meta("thread_sort_index", t.pid, t.tid, fmt::format("\"sort_index\": {}", t.sort));
    }
  }

  struct Process {
    std::int64_t pid;
    bool cpu;
    std::int64_t id; ///< device id, or pid in the source
    EventId sample;
  };

  std::string label(const Process& p) const {
    if (p.cpu) {
      const Track& track = t_.tracks[t_.events.track[p.sample]];
      const std::string_view name = t_.strings.view(track.process_name);
      return name.empty() ? fmt::format("pid {}", p.id) : fmt::format("{} {}", name, p.id);
    }
    for (const DeviceInfo& d : t_.header.devices)
      if (d.id == p.id && !d.name.empty())
        return fmt::format("GPU {} {}", p.id, d.name);
    return fmt::format("GPU {}", p.id);
  }

  void meta(const char* name, std::int64_t pid, std::int64_t tid, const std::string& args) {
    record();
    w_.sink_.text(fmt::format(
        "{{\"ph\":\"M\",\"name\":\"{}\",\"ts\":0,\"pid\":{},\"tid\":{},\"args\":{{{}}}}}", name,
        pid, tid, args));
  }

  const std::string& escaped(StrId id) {
    if (!has_escaped_[id]) {
      escaped_[id] = json_escaped(t_.strings.view(id));
      has_escaped_[id] = true;
    }
    return escaped_[id];
  }

  void int_arg(std::string_view key, std::int64_t value) {
    if (value == kNoId)
      return;
    w_.sink_.text(key);
    w_.sink_.number(value);
  }
  void text_arg(std::string_view key, StrId value) {
    if (value == kEmptyStr)
      return;
    w_.sink_.text(key);
    w_.sink_.character('"');
    w_.sink_.text(escaped(value));
    w_.sink_.character('"');
  }
  void raw_arg(std::string_view key, StrId value) {
    if (value == kEmptyStr)
      return;
    if (!is_plain_json_list(t_.strings.view(value))) { // a damaged input must not damage the output
      text_arg(key, value);
      return;
    }
    w_.sink_.text(key);
    w_.sink_.text(t_.strings.view(value));
  }

  void slices(MergedRank& summary) {
    const Events& ev = t_.events;
    std::uint64_t counts[32] = {};
    TextSink& out = w_.sink_;
    std::vector<End>::const_iterator end = ends_.begin();
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const EventId e = kept_[i];
      const Category c = ev.category[e];
      ++counts[static_cast<std::size_t>(c)];
      record();
      out.text("{\"ph\":\"X\",\"cat\":\"");
      out.text(category_name(c));
      out.text("\",\"name\":\"");
      out.text(prefix_);
      out.text(escaped(ev.name[e]));
      const std::int64_t start = start_ns(e);
      place_of(track_of_[e], out_ns(start));
      w_.first_ns_ = std::min(w_.first_ns_, out_ns(start));
      w_.last_ns_ = std::max(w_.last_ns_, out_ns(end_ns(e)));
      out.text(",\"dur\":");
      out.microseconds(end_ns(e) - start);
      out.text(",\"args\":{\"rank\":");
      out.number(rank_);
      int_arg(",\"External id\":", ev.external_id[e]);
      if (on_gpu(c)) {
        int_arg(",\"device\":", ev.device[e] < 0 ? kNoId : ev.device[e]);
        int_arg(",\"stream\":", ev.stream[e] < 0 ? kNoId : ev.stream[e]);
      }
      int_arg(",\"correlation\":", ev.correlation[e]);
      if (const GpuArgs* g = t_.gpu_arg(e)) {
        raw_arg(",\"grid\":", g->grid);
        raw_arg(",\"block\":", g->block);
        int_arg(",\"bytes\":", g->bytes);
      }
      if (const OpArgs* op = t_.op(e)) {
        int_arg(",\"Sequence number\":", op->sequence_number);
        raw_arg(",\"Input Dims\":", op->input_dims);
        raw_arg(",\"Input type\":", op->input_types);
      }
      if (const CollectiveArgs* a = t_.collective_of(e))
        collective(*a);
      out.text("}}");
      for (; end != ends_.end() && end->slice == place_[e]; ++end)
        flow(end->category, end->start, end->id, e);
    }
    for (std::size_t i = 0; i < 32; ++i)
      if (counts[i] > 0)
        summary.events[std::string(category_name(static_cast<Category>(i)))] = counts[i];
  }

  void collective(const CollectiveArgs& a) {
    text_arg(",\"Collective name\":", a.collective_name);
    int_arg(",\"In msg nelems\":", a.in_nelems);
    int_arg(",\"Out msg nelems\":", a.out_nelems);
    int_arg(",\"Group size\":", a.group_size);
    text_arg(",\"dtype\":", a.dtype);
    text_arg(",\"Process Group Name\":", a.pg_name);
    text_arg(",\"Process Group Description\":", a.pg_description);
    text_arg(",\"Process Group Ranks\":", a.pg_ranks);
    int_arg(",\"Seq\":", a.seq);
    int_arg(",\"Src Rank\":", a.src_rank);
    int_arg(",\"Dst Rank\":", a.dst_rank);
  }

  void place_of(std::uint32_t track, std::int64_t ns) {
    w_.sink_.text("\",\"pid\":");
    w_.sink_.number(tracks_[track].pid);
    w_.sink_.text(",\"tid\":");
    w_.sink_.number(tracks_[track].tid);
    w_.sink_.text(",\"ts\":");
    w_.sink_.microseconds(ns);
  }

  void flow(std::string_view category, bool start, std::int64_t id, EventId slice) {
    record();
    w_.sink_.text(start ? "{\"ph\":\"s\",\"id\":" : "{\"ph\":\"f\",\"bp\":\"e\",\"id\":");
    w_.sink_.number(id);
    w_.sink_.text(",\"cat\":\"");
    w_.sink_.text(category);
    w_.sink_.text("\",\"name\":\"");
    w_.sink_.text(category);
    place_of(track_of_[slice], out_ns(start_ns(slice)));
    w_.sink_.character('}');
  }
  /// One end of an arrow. It is written directly after its slice.
  struct End {
    std::uint32_t slice; ///< index in kept_
    std::int64_t id;
    const char* category; ///< "ac2g" or "fwdbwd"
    bool start;
  };

  /// Sorts the ends by slice; ends of the same slice stay sorted by id. Uses counting sort, because
  /// slices are numbered and most have one end.
  void order_ends() {
    std::vector<std::size_t> at(kept_.size() + 1);
    for (const End& end : ends_)
      ++at[end.slice + 1];
    for (std::size_t i = 1; i < at.size(); ++i)
      at[i] += at[i - 1];
    std::vector<End> ordered(ends_.size());
    for (const End& end : ends_)
      ordered[at[end.slice]++] = end;
    ends_ = std::move(ordered);
  }

  /// Adds an arrow. If its end is earlier than its start (because the clocks of host and device
  /// differ), viewers drop the arrow; such arrows are counted and not written.
  void arrow(const char* category, EventId from, EventId to, MergedRank& summary) {
    if (start_ns(to) < start_ns(from)) {
      ++back_in_time_;
      return;
    }
    const std::int64_t id = w_.next_flow_++;
    ends_.push_back({place_[from], id, category, true});
    ends_.push_back({place_[to], id, category, false});
    ++summary.flows;
  }

  /// Adds an arrow from the call to each GPU event that it launched, by the correlation ids. The
  /// ac2g events of the file are not used: some have only one end, and all kernels of a graph
  /// launch have the same id.
  void launch_arrows(MergedRank& summary) {
    const Events& ev = t_.events;
    place_.assign(ev.size(), 0);
    for (std::size_t i = 0; i < kept_.size(); ++i)
      place_[kept_[i]] = static_cast<std::uint32_t>(i);
    const std::unordered_map<std::int64_t, EventId> calls = launch_calls();
    for (const EventId e : kept_) {
      if (!is_gpu(ev.category[e]) || ev.correlation[e] == kNoId)
        continue;
      const auto it = calls.find(ev.correlation[e]);
      if (it != calls.end())
        arrow("ac2g", it->second, e, summary);
    }
  }

  /// Adds arrows from forward to backward if both slices are written. The slice of an arrow end is
  /// found by track and start.
  void backward_arrows(MergedRank& summary) {
    // if several slices have the same start, the innermost one is used
    std::map<std::pair<std::uint32_t, std::int64_t>, EventId> starts;
    for (const EventId e : kept_)
      if (t_.events.category[e] == Category::kCpuOp)
        starts[{t_.events.track[e], t_.events.ts_ns[e]}] = e;
    std::unordered_map<std::int64_t, EventId> from;
    const Flows& f = t_.flows;
    const auto slice = [&](std::size_t i) {
      const auto it = starts.find({f.track[i], f.ts_ns[i]});
      return it == starts.end() ? kNoEvent : it->second;
    };
    for (std::size_t i = 0; i < f.size(); ++i)
      if (f.kind[i] == FlowKind::kFwdBwdStart && slice(i) != kNoEvent)
        from.emplace(f.id[i], slice(i));
    for (std::size_t i = 0; i < f.size(); ++i) {
      if (f.kind[i] != FlowKind::kFwdBwdEnd || slice(i) == kNoEvent)
        continue;
      const auto it = from.find(f.id[i]);
      if (it != from.end())
        arrow("fwdbwd", it->second, slice(i), summary);
    }
  }

  MergedTraceWriter& w_;
  const Trace& t_;
  const std::int64_t rank_;
  const std::string prefix_;
  Diagnostics& diag_;
  const std::int64_t to_unix_; ///< offset from times in the file to the rank's own clock
  const ClockLine clock_;      ///< the rank's clock relative to the common clock
  std::vector<EventId> kept_;
  std::vector<std::uint32_t> place_;    ///< for each event: index in kept_
  std::vector<End> ends_;               ///< sorted by slice, then by id
  std::uint64_t back_in_time_ = 0;      ///< number of arrows that are not written
  std::vector<std::uint32_t> track_of_; ///< for each event: index in tracks_
  std::vector<OutTrack> tracks_;
  std::vector<Process> processes_;
  std::set<std::pair<std::int64_t, std::int64_t>> used_tids_;
  std::int64_t last_free_tid_ = 950000; ///< last id for lanes for which the formula gives no valid
                                        ///< id
  std::vector<std::string> escaped_;
  std::vector<bool> has_escaped_;
};

Result<MergedTraceWriter> MergedTraceWriter::create(const std::string& path,
                                                    const MergeOptions& options) {
  const bool gz = options.gzip || (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0);
  RS_TRY(TextSink sink, TextSink::create(path, gz));
  return MergedTraceWriter(std::move(sink), options);
}

void MergedTraceWriter::add(const Trace& trace, std::int64_t rank, const ClockLine& clock,
                            Diagnostics& diag) {
  RankMerger(*this, trace, rank, clock, diag).run();
}

std::int64_t MergedTraceWriter::run_process() const {
  constexpr std::int64_t kFirstPid = 900'000'000; // far above all pids of ranks
  return kFirstPid + run_processes_;
}

void MergedTraceWriter::begin_record() {
  sink_.text(records_++ == 0 ? "\n" : ",\n");
}

void MergedTraceWriter::record(std::string_view text) {
  begin_record();
  sink_.text(text);
}

void MergedTraceWriter::name_run_process(std::string_view process) {
  record(fmt::format("{{\"ph\":\"M\",\"name\":\"process_name\",\"ts\":0,\"pid\":{},\"tid\":1,"
                     "\"args\":{{\"name\":\"{}\"}}}}",
                     run_process(), json_escaped(process)));
  ++run_processes_;
}

std::size_t MergedTraceWriter::add_path(std::string_view process,
                                        const std::vector<PathSlice>& slices) {
  const std::int64_t base = summary_.base_time_ns;
  std::size_t written = 0;
  std::int64_t written_to = first_ns_;
  for (std::size_t k = 0; k < slices.size(); ++k) {
    const PathSlice& slice = slices[k];
    const std::int64_t end =
        k + 1 < slices.size() ? std::min(slice.end_ns, slices[k + 1].begin_ns) : slice.end_ns;
    // slices never overlap, even if the clocks of the ranks differ
    const std::int64_t from = std::max(slice.begin_ns - base, written_to);
    const std::int64_t to = std::min(end - base, last_ns_);
    if (from >= to)
      continue;
    record(fmt::format("{{\"ph\":\"X\",\"cat\":\"critical_path\",\"name\":\"[R{}] {}\",\"pid\":{},"
                       "\"tid\":1,\"args\":{{\"rank\":{}}},\"ts\":",
                       slice.rank, json_escaped(slice.name), run_process(), slice.rank));
    sink_.microseconds(from);
    sink_.text(",\"dur\":");
    sink_.microseconds(to - from);
    sink_.text("}");
    written_to = to;
    ++written;
  }
  if (written > 0)
    name_run_process(process);
  return written;
}

std::size_t MergedTraceWriter::add_counters(std::string_view process,
                                            const std::vector<CounterTrack>& tracks) {
  const std::int64_t base = summary_.base_time_ns;
  std::size_t written = 0;
  for (const CounterTrack& track : tracks) {
    const auto at = [base](const CounterTrack::Sample& s) { return s.unix_ns - base; };
    auto first = std::partition_point(track.samples.begin(), track.samples.end(),
                                      [&](const auto& s) { return at(s) < first_ns_; });
    auto last = std::partition_point(first, track.samples.end(),
                                     [&](const auto& s) { return at(s) <= last_ns_; });
    if (first == track.samples.end() || last == track.samples.begin())
      continue; // no sample is in the time range of the slices
    first -= first == track.samples.begin() ? 0 : 1;
    last += last == track.samples.end() ? 0 : 1;
    for (; first != last; ++first, ++written) {
      record(fmt::format("{{\"ph\":\"C\",\"name\":\"{}\",\"pid\":{},\"ts\":",
                         json_escaped(track.name), run_process()));
      sink_.microseconds(at(*first));
      sink_.text(fmt::format(",\"args\":{{\"value\":{:.6g}}}}}", first->value));
    }
  }
  if (written > 0)
    name_run_process(process);
  return written;
}

Result<MergeSummary> MergedTraceWriter::finish() {
  if (!begun_)
    sink_.text("{\"schemaVersion\": 1,\n\"traceEvents\": [");
  sink_.text(summary_.ranks.size() > 1
                 ? fmt::format("\n],\"{}\": {}}}\n", kMergedTraceKey, summary_.ranks.size())
                 : "\n]}\n");
  summary_.bytes = sink_.bytes();
  RS_CHECK(sink_.commit());
  return std::move(summary_);
}

} // namespace rankscope
