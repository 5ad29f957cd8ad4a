#include "analyses/job/rank_graph.h"

#include "analyses/job/host_ranges.h"
#include "analyses/operators/launchers.h"
#include "analyses/timeline/idle_causes.h"
#include "base/ascii.h"
#include "base/sort.h"
#include "core/steps.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace rankscope {
namespace {

constexpr std::array<std::string_view, kActivityKinds> kActivityKindNames = {
    "host", "call", "kernel", "collective", "copy", "set"};

constexpr std::int64_t kSeparateNs = 10'000; ///< longer calls are separate activities
constexpr std::int64_t kLateEndNs =
    2'000; ///< a call may return this much before the end of its work
/// For a copy: by its duration divided by this, if longer.
constexpr std::int64_t kLateEndPart = 20;
/// An inferred wait ended at most this long before the start.
constexpr std::int64_t kSameTimeNs = 10'000;
/// Launches at least this long before the stream was free are queued.
constexpr std::int64_t kLongQueuedNs = 20'000;
constexpr std::int64_t kNotLaunched = INT64_MIN / 2;
constexpr std::int64_t kQueueCallNs = 50'000; ///< a longer launch may wait for a place in the queue
constexpr std::size_t kQueueDepth = 256;      ///< least number of queued works for that
constexpr std::uint32_t kMostRecorded = UINT16_MAX; ///< of RankNode::recorded

/// An outermost runtime call on a launching thread.
struct HostCall {
  EventId event = kNoEvent;
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t track = 0;
  std::uint32_t first = 0, last = 0; ///< range of its GPU work in Extraction::launched_
  bool blocks = false;               ///< by the call's name
  bool all_streams = false;          ///< waits for all streams, by its name
};

struct Latest {
  NodeId node = kNoNode;
  std::int64_t end_ns = INT64_MIN;
};

class Extraction {
public:
  explicit Extraction(const LoadedTrace& t)
      : t_(t), e_(t.trace.events), work_(t.shared(TraceGpuWorkKey{})),
        text_of_(t.trace.strings.size(), StringPool::kNotFound), host_text_of_(text_of_) {}

  RankGraph run() {
    out_.rank = t_.rank;
    out_.base_time_ns = t_.trace.clock().offset_ns;
    set_window();
    join_numbered_annotations();
    collect_calls();
    collect_gpu();
    set_lags();
    add_host();
    add_gpu();
    add_gpu_waits();
    add_stream_order();
    add_blocking();
    out_.texts = std::move(texts_);
    out_.nodes.shrink_to_fit();
    out_.step_of.shrink_to_fit();
    out_.waits.shrink_to_fit();
    return std::move(out_);
  }

private:
  // -- window
  void set_window() {
    steps_ = profiler_steps(t_.trace);
    for (const ProfilerStep& step : steps_) {
      out_.steps.push_back(step.number);
      out_.step_begin_ns.push_back(step.start_ns);
    }
    if (!steps_.empty()) {
      begin_ns_ = steps_.front().start_ns;
      end_ns_ = steps_.back().end_ns;
      return;
    }
    std::optional<std::int64_t> begin, end;
    for (EventId i = 0; i < e_.size(); ++i)
      if (t_.trace.gpu(i) || is_runtime(e_.category[i])) {
        begin = std::min(begin.value_or(INT64_MAX), e_.ts_ns[i]);
        end = std::max(end.value_or(INT64_MIN), t_.trace.end_ns(i));
      }
    begin_ns_ = begin.value_or(0);
    end_ns_ = end.value_or(0);
  }

  [[nodiscard]] bool inside(std::int64_t ts_ns) const {
    return ts_ns >= begin_ns_ && ts_ns <= end_ns_;
  }
  [[nodiscard]] std::int32_t step_of(std::int64_t ts_ns) const {
    const auto& begins = out_.step_begin_ns;
    const auto after = std::upper_bound(begins.begin(), begins.end(), ts_ns);
    return static_cast<std::int32_t>(after - begins.begin()) - 1;
  }

  /// Gives annotations one text if only the numbers in their names differ, and each name is in one
  /// step: "batch 7" and "batch 8" become "batch N". The steps then have the same activities.
  void join_numbered_annotations() {
    const auto family_of = [this](StrId name) {
      std::string out;
      bool in_number = false;
      for (const char c : t_.trace.strings.view(name)) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit || !in_number)
          out += digit ? 'N' : c;
        in_number = digit;
      }
      return out;
    };
    std::map<StrId, std::int32_t> step_of_name;
    std::set<std::string> recurring; // names that are in several steps
    for (EventId i = 0; i < e_.size(); ++i) {
      if (e_.category[i] != Category::kUserAnnotation)
        continue;
      const std::int32_t step = step_of(e_.ts_ns[i]);
      if (step_of_name.try_emplace(e_.name[i], step).first->second != step)
        recurring.insert(family_of(e_.name[i]));
    }
    std::map<std::string, std::vector<StrId>> families;
    for (const auto& [name, step] : step_of_name)
      families[family_of(name)].push_back(name);
    for (const auto& [family, names] : families) {
      const std::int32_t first = step_of_name.at(names.front());
      const auto in_first_step = [&](StrId name) { return step_of_name.at(name) == first; };
      if (recurring.contains(family) || std::ranges::all_of(names, in_first_step))
        continue;
      for (const StrId name : names)
        text_of_[name] = host_text_of_[name] = texts_.intern(family);
    }
  }

  /// Returns the outermost runtime call around `call`.
  [[nodiscard]] EventId outermost(EventId call) const {
    for (EventId up = t_.tree.parent(call); up != kNoEvent && is_runtime(e_.category[up]);
         up = t_.tree.parent(up))
      call = up;
    return call;
  }

  /// Collects the calls of the threads that launch GPU work, ordered by start.
  void collect_calls() {
    std::vector<std::pair<EventId, EventId>> launched; // call, GPU event
    std::vector<bool> launches(t_.trace.tracks.size());
    for (const EventId g : work_.events)
      if (t_.tree.linked(g)) {
        const EventId call = outermost(t_.tree.parent(g));
        if (!inside(e_.ts_ns[call]))
          continue;
        launched.emplace_back(call, g);
        launches[e_.track[call]] = true;
      }
    sort_stably(launched);
    std::vector<EventId> ids;
    for (EventId i = 0; i < e_.size(); ++i)
      if (is_runtime(e_.category[i]) && launches[e_.track[i]] && inside(e_.ts_ns[i]) &&
          outermost(i) == i)
        ids.push_back(i);
    sort_by_start(e_, ids);
    for (const EventId i : ids) {
      if (contains(t_.trace.name(i), "StreamWaitEvent"))
        stream_waits_.push_back(e_.ts_ns[i]);
      const auto range =
          std::equal_range(launched.begin(), launched.end(), std::pair(i, kNoEvent),
                           [](const auto& a, const auto& b) { return a.first < b.first; });
      HostCall call{i, e_.ts_ns[i], t_.trace.end_ns(i), e_.track[i]};
      call.blocks = may_block(t_.trace.name(i));
      call.all_streams = contains(t_.trace.name(i), "DeviceSynchronize") ||
                         contains(t_.trace.name(i), "CtxSynchronize");
      call.first = static_cast<std::uint32_t>(launched_.size());
      for (auto at = range.first; at != range.second; ++at)
        launched_.push_back(at->second);
      call.last = static_cast<std::uint32_t>(launched_.size());
      if (call.last > call.first || call.blocks || call.end_ns - call.start_ns >= kSeparateNs)
        calls_.push_back(call);
    }
  }

  /// Collects the GPU work of the window, ordered by start: the work of its calls and work without
  /// a launch.
  void collect_gpu() {
    gpu_ = launched_;
    for (const EventId g : work_.events)
      if (!t_.tree.linked(g) && inside(e_.ts_ns[g])) {
        gpu_.push_back(g);
        out_.unlinked_ns += e_.dur_ns[g];
      }
    sort_unique_by_start(t_.trace, gpu_);
    for (const EventId g : gpu_)
      if (t_.tree.linked(g))
        first_launched_.try_emplace({e_.device[g], e_.stream[g]}, e_.ts_ns[g]);
    for (const EventId g : gpu_) {
      out_.gpu_ns += e_.dur_ns[g];
      if (is_early(g)) {
        out_.early_ns += e_.dur_ns[g];
        out_.early_until_ns = std::max(out_.early_until_ns, t_.trace.end_ns(g) - begin_ns_);
      }
    }
  }

  /// Returns whether the work was launched before the window. Such work runs before the launched
  /// work of its stream.
  [[nodiscard]] bool is_early(EventId g) const {
    if (t_.tree.linked(g))
      return false;
    const auto launched = first_launched_.find({e_.device[g], e_.stream[g]});
    return launched != first_launched_.end() && e_.ts_ns[g] < launched->second;
  }

  /// Sets the usual lags, at most 4 kUnexplainedNs. Launch lag: the 5th percentile of the times
  /// from a launch to its work on an idle stream. Stream lag: the median time between two works
  /// that were both queued.
  void set_lags() {
    std::map<std::pair<int, int>, std::int64_t> busy_until;
    std::vector<std::int64_t> launch, next;
    call_of_.assign(e_.size(), kNoRow);
    for (std::uint32_t c = 0; c < calls_.size(); ++c)
      for (std::uint32_t k = calls_[c].first; k < calls_[c].last; ++k)
        call_of_[launched_[k]] = c;
    for (const EventId g : gpu_) {
      auto [busy, is_first] = busy_until.try_emplace({e_.device[g], e_.stream[g]}, INT64_MIN);
      if (const std::int64_t launched = launch_ns(g); launched != kNotLaunched) {
        if (is_first || busy->second <= launched) {
          if (e_.ts_ns[g] >= launched)
            launch.push_back(e_.ts_ns[g] - launched);
        } else if (e_.ts_ns[g] >= busy->second && launched + kLongQueuedNs < busy->second) {
          next.push_back(e_.ts_ns[g] - busy->second);
        }
      }
      busy->second = std::max(busy->second, t_.trace.end_ns(g));
    }
    const auto quantile = [](std::vector<std::int64_t>& lags, std::size_t percent) {
      if (lags.empty())
        return std::int64_t{0};
      const auto at = lags.begin() + static_cast<std::ptrdiff_t>(lags.size() * percent / 100);
      std::nth_element(lags.begin(), at, lags.end());
      return std::min(*at, kUnexplainedNs * 4);
    };
    launch_lag_ns_ = quantile(launch, 5);
    stream_lag_ns_ = quantile(next, 50);
  }

  // -- nodes
  std::uint32_t activity(const Activity& a) {
    const auto [at, is_new] =
        activity_rows_.try_emplace(a, static_cast<std::uint32_t>(out_.activities.size()));
    if (is_new)
      out_.activities.push_back(a);
    return at->second;
  }
  NodeId node(std::int64_t start, std::int64_t end, std::uint32_t activity, std::uint32_t line,
              std::int32_t step, std::uint32_t recorded = 0) {
    out_.nodes.push_back({start, std::max<std::int64_t>(0, end - start), activity,
                          static_cast<std::uint16_t>(line),
                          static_cast<std::uint16_t>(std::min(recorded, kMostRecorded))});
    out_.step_of.push_back(step);
    return static_cast<NodeId>(out_.nodes.size() - 1);
  }
  void wait(NodeId node, NodeId from, WaitKind kind, std::int64_t lag = 0) {
    out_.waits.emplace_back(node, Wait(from, kind, lag));
  }
  std::uint32_t add_line(bool stream, std::int64_t id, std::int64_t device) {
    if (out_.lines.size() < kMostLines)
      out_.lines.push_back({stream, id, device});
    return static_cast<std::uint32_t>(out_.lines.size() - 1);
  }
  /// Returns the graph's id of a text of the trace.
  StrId text(StrId id) {
    StrId& out = text_of_[id];
    if (out == StringPool::kNotFound)
      out = texts_.intern(t_.trace.strings.view(id));
    return out;
  }
  /// Returns text() of "<built-in method f of type object at 0x7f12>" without the address, which
  /// differs by process.
  StrId host_text(StrId id) {
    StrId& out = host_text_of_[id];
    if (out == StringPool::kNotFound) {
      const std::string_view name = t_.trace.strings.view(id);
      out = texts_.intern(name.substr(0, name.rfind(" at 0x")));
    }
    return out;
  }

  std::uint32_t thread_line(std::uint32_t track) {
    const auto [at, is_new] = thread_lines_.try_emplace(track, 0);
    if (is_new)
      at->second = add_line(false, t_.trace.tracks[track].tid, t_.trace.tracks[track].pid);
    return at->second;
  }

  /// Adds the host's nodes: each call, and the activity of its thread before the call. Threads of
  /// one process that take turns form one sequence.
  void add_host() {
    const ProfilerStep window{0, begin_ns_, end_ns_};
    std::vector<std::int64_t> launches;
    for (const HostCall& call : calls_)
      if (call.last > call.first)
        launches.push_back(call.start_ns);
    HostRanges ranges(
        t_.trace, tracks_of_calls(),
        steps_.empty() ? std::span(&window, 1) : std::span<const ProfilerStep>(steps_), launches);
    out_.stacks = ranges.has_python();
    out_.frame_cost_percent = ranges.frame_cost_percent();
    struct Thread {
      NodeId last = kNoNode;
      std::int64_t end_ns = 0;
    };
    std::map<std::uint32_t, Thread> threads;
    std::map<std::int64_t, std::uint32_t> last_track; // last track of each process
    for (HostCall& call : calls_) {
      const std::int64_t pid = t_.trace.tracks[call.track].pid;
      Thread& thread = threads.try_emplace(call.track).first->second;
      const auto before = last_track.find(pid);
      NodeId from = thread.last;
      std::int64_t from_end = thread.end_ns;
      WaitKind kind = WaitKind::kHost;
      if (before != last_track.end() && before->second != call.track) {
        const Thread& other = threads.at(before->second);
        if (other.end_ns <= call.start_ns &&
            (thread.last == kNoNode || other.end_ns > thread.end_ns)) {
          from = other.last;
          from_end = other.end_ns;
          kind = WaitKind::kHandOver;
        }
      }
      if (before == last_track.end())
        from_end = begin_ns_;
      else if (from == kNoNode)
        from_end = call.start_ns; // a thread that first appears while the others are in calls
      from_end = std::min(from_end, call.start_ns);
      const std::uint32_t line = thread_line(call.track);
      const HostRanges::Stretch host = ranges.stretch(call.track, from_end, call.start_ns);
      const NodeId gap = node(from_end, call.start_ns, activity(host_activity(host)), line,
                              step_of(call.start_ns), host.begun);
      if (from != kNoNode)
        wait(gap, from, kind);
      const HostRanges::At around = ranges.at(call.track, call.start_ns);
      out_.operator_ns.push_back(static_cast<std::uint32_t>(
          std::min<std::int64_t>(call.start_ns - std::max(from_end, around.begin_ns), UINT32_MAX)));
      const NodeId at = node(call.start_ns, call.end_ns, activity(call_activity(call, around)),
                             line, step_of(call.start_ns), 1);
      wait(at, gap, WaitKind::kHost);
      gap_of_call_.push_back(gap);
      node_of_call_.push_back(at);
      thread = {at, std::max(thread.end_ns, call.end_ns)};
      last_track[pid] = call.track;
    }
    add_last_host(ranges);
  }

  /// Adds the host's time from the last call to the end of a single step. With several steps, the
  /// begin of the next step shows it.
  void add_last_host(HostRanges& ranges) {
    if (calls_.empty() || out_.steps.size() != 1)
      return;
    const HostCall& last = calls_.back();
    if (last.end_ns >= end_ns_)
      return;
    const HostRanges::Stretch stretch = ranges.stretch(last.track, last.end_ns, end_ns_);
    const Activity a{ActivityKind::kHost, host_text(stretch.name), kEmptyStr, text(stretch.before)};
    const NodeId gap = node(last.end_ns, end_ns_, activity(a), thread_line(last.track),
                            step_of(last.end_ns), stretch.begun);
    wait(gap, node_of_call_.back(), WaitKind::kHost);
  }

  [[nodiscard]] std::vector<bool> tracks_of_calls() const {
    std::vector<bool> out(t_.trace.tracks.size());
    for (const HostCall& call : calls_)
      out[call.track] = true;
    return out;
  }

  Activity host_activity(const HostRanges::Stretch& stretch) {
    return {ActivityKind::kHost, host_text(stretch.name), text(stretch.after),
            text(stretch.before)};
  }
  Activity call_activity(const HostCall& call, const HostRanges::At& around) {
    context_of_call_.push_back(text(around.outermost));
    return {ActivityKind::kCall, text(e_.name[call.event]), text(around.op),
            text(around.outermost)};
  }

  Activity gpu_activity(EventId g) {
    Activity a;
    const Category category = e_.category[g];
    a.kind = category == Category::kGpuMemcpy   ? ActivityKind::kCopy
             : category == Category::kGpuMemset ? ActivityKind::kSet
             : work_.communication[e_.name[g]]  ? ActivityKind::kCollective
                                                : ActivityKind::kKernel;
    a.name = text(e_.name[g]);
    if (call_of_[g] != kNoRow)
      a.context = context_of_call_[call_of_[g]];
    const EventId op = t_.tree.cpu_op_above(t_.trace, g);
    const CollectiveArgs* called =
        a.kind == ActivityKind::kCollective ? t_.trace.collective_of(g) : nullptr;
    if (called == nullptr && a.kind == ActivityKind::kCollective && op != kNoEvent)
      called = t_.trace.collective_of(op);
    if (a.kind == ActivityKind::kCollective)
      for (EventId caller = op; StrId & id : a.callers) {
        if (caller == kNoEvent)
          break;
        id = text(e_.name[caller]);
        caller = t_.tree.cpu_op_above(t_.trace, caller);
      }
    if (called != nullptr && called->collective_name != kEmptyStr) {
      a.op =
          text(called->collective_name); // a kernel of RCCL has the same name for all collectives
    } else if (op != kNoEvent) {
      a.op = text(e_.name[op]);
      if (const OpArgs* args = t_.trace.op(op)) {
        a.shapes = text(args->input_dims);
        a.types = text(args->input_types);
      }
    }
    if (a.kind == ActivityKind::kCopy)
      if (const GpuArgs* args = t_.trace.gpu_arg(g))
        a.bytes = std::max<std::int64_t>(0, args->bytes); // unknown: 0
    return a;
  }

  void add_gpu() {
    std::map<std::pair<int, int>, std::uint32_t> lines;
    first_gpu_ = static_cast<NodeId>(out_.nodes.size());
    node_of_.assign(e_.size(), kNoNode);
    for (const EventId g : gpu_) {
      const auto [line, is_new] = lines.try_emplace({e_.device[g], e_.stream[g]}, 0);
      if (is_new)
        line->second = add_line(true, e_.stream[g], e_.device[g]);
      const std::int64_t launched = launch_ns(g);
      node_of_[g] = node(e_.ts_ns[g], t_.trace.end_ns(g), activity(gpu_activity(g)), line->second,
                         step_of(is_early(g)                ? begin_ns_
                                 : launched == kNotLaunched ? e_.ts_ns[g]
                                                            : launched));
    }
  }

  // -- waits of the GPU
  void add_gpu_waits() {
    for (std::size_t c = 0; c < calls_.size(); ++c)
      for (std::uint32_t k = calls_[c].first; k < calls_[c].last; ++k) {
        const NodeId n = node_of_[launched_[k]];
        // Work may begin within its call. If it begins after the end of a long call, it was
        // submitted at the end.
        const bool behind = calls_[c].end_ns - calls_[c].start_ns >= kQueueCallNs &&
                            out_.nodes[n].start_ns >= calls_[c].end_ns;
        const std::int64_t from = behind ? calls_[c].end_ns : calls_[c].start_ns;
        wait(n, behind ? node_of_call_[c] : gap_of_call_[c], WaitKind::kLaunch,
             std::clamp<std::int64_t>(out_.nodes[n].start_ns - from, 0, launch_lag_ns_));
      }
    on_stream_.resize(out_.lines.size());
    std::vector<NodeId> by_end;
    for (NodeId n = first_gpu_; n < out_.nodes.size(); ++n)
      by_end.push_back(n);
    sort_stably(by_end, [this](NodeId a, NodeId b) { return end_of(a) < end_of(b); });
    for (std::size_t k = 0; k < gpu_.size(); ++k) {
      const auto n = static_cast<NodeId>(first_gpu_ + k);
      std::vector<NodeId>& on_stream = on_stream_[out_.nodes[n].line];
      std::int64_t ready = launch_ns(gpu_[k]) + launch_lag_ns_;
      if (const NodeId before = last_ended(on_stream, out_.nodes[n].start_ns); before != kNoNode) {
        const std::int64_t real = out_.nodes[n].start_ns - end_of(before);
        const std::int64_t lag = std::clamp<std::int64_t>(real, 0, stream_lag_ns_);
        wait(n, before, WaitKind::kStream, lag);
        ready = std::max(ready, end_of(before) + lag);
      }
      on_stream.push_back(n);
      if (out_.nodes[n].start_ns - ready > kUnexplainedNs)
        add_other_stream(n, ready, by_end);
    }
  }

  [[nodiscard]] std::int64_t end_of(NodeId n) const {
    return out_.nodes[n].start_ns + out_.nodes[n].dur_ns;
  }
  /// Returns the begin of the work's call; kNotLaunched if there is no such call in the window.
  [[nodiscard]] std::int64_t launch_ns(EventId g) const {
    return call_of_[g] == kNoRow ? kNotLaunched : calls_[call_of_[g]].start_ns;
  }
  /// Returns the last work that has ended by `at`. Kernels of a graph may overlap on one stream.
  [[nodiscard]] NodeId last_ended(const std::vector<NodeId>& works, std::int64_t at) const {
    constexpr std::size_t kBack = 32;
    for (std::size_t k = 0; k < std::min(kBack, works.size()); ++k)
      if (const NodeId n = works[works.size() - 1 - k]; end_of(n) <= at)
        return n;
    return kNoNode;
  }
  /// Adds a wait for work that ended on another stream just before this node began.
  void add_other_stream(NodeId n, std::int64_t ready, const std::vector<NodeId>& by_end) {
    const std::int64_t at = out_.nodes[n].start_ns;
    auto after = std::partition_point(by_end.begin(), by_end.end(),
                                      [&](NodeId o) { return end_of(o) <= at; });
    while (after != by_end.begin()) {
      const NodeId other = *--after;
      if (end_of(other) + kSameTimeNs < at || end_of(other) <= ready)
        return;
      if (out_.nodes[other].line != out_.nodes[n].line) {
        wait(n, other, WaitKind::kOtherStream, std::min(at - end_of(other), kUnexplainedNs));
        return;
      }
    }
  }

  // -- stream order through events, which traces seldom show
  /// Adds two kinds of waits, if no work of the trace contradicts them and at least kBinding works
  /// show them. A collective waits for the kernels launched on the main stream before it (as in
  /// c10d). Work of the main stream after a ...StreamWaitEvent waits for the collective before it.
  void add_stream_order() {
    const std::uint32_t main = main_line();
    if (main == kNoRow)
      return;
    std::map<std::pair<std::uint32_t, bool>, StreamOrder> orders; // by line of the collectives
    std::map<std::uint32_t, NodeId> last_collective;
    NodeId last_main = kNoNode;
    std::size_t next_wait = 0;
    bool waits = false;
    for (const HostCall& call : calls_) {
      for (; next_wait < stream_waits_.size() && stream_waits_[next_wait] < call.start_ns;
           ++next_wait)
        waits = true;
      for (std::uint32_t k = call.first; k < call.last; ++k) {
        const NodeId n = node_of_[launched_[k]];
        const std::uint32_t line = out_.nodes[n].line;
        if (out_.activity(n).kind == ActivityKind::kCollective && line != main) {
          if (last_main != kNoNode)
            consider(orders[{line, true}], n, last_main, call.start_ns);
          last_collective[line] = n;
          waits = false; // the event was for the collective
        } else if (line == main) {
          if (std::exchange(waits, false))
            for (const auto& [other_line, collective] : last_collective)
              consider(orders[{other_line, false}], n, collective, call.start_ns);
          last_main = n;
        }
      }
    }
    for (auto& [key, order] : orders)
      add_order(order);
  }
  /// Pairs of a work and the work that it may wait for, of one kind.
  struct StreamOrder {
    std::vector<std::pair<NodeId, NodeId>> pairs;
    std::vector<std::int64_t> gaps; ///< gaps of the pairs in which the wait is visible
    std::size_t contradicted = 0;
  };
  void consider(StreamOrder& order, NodeId n, NodeId from, std::int64_t launched) const {
    const std::int64_t gap = out_.nodes[n].start_ns - end_of(from);
    order.pairs.emplace_back(n, from);
    if (gap < -kLateEndNs)
      ++order.contradicted;
    else if (end_of(from) > launched + launch_lag_ns_)
      order.gaps.push_back(std::max<std::int64_t>(0, gap));
  }
  void add_order(StreamOrder& order) {
    constexpr std::size_t kBinding = 3;
    if (order.contradicted > 0 || order.gaps.size() < kBinding)
      return;
    const auto middle = order.gaps.begin() + static_cast<std::ptrdiff_t>(order.gaps.size() / 2);
    std::nth_element(order.gaps.begin(), middle, order.gaps.end());
    const std::int64_t usual = std::min(*middle, kUnexplainedNs);
    for (const auto& [n, from] : order.pairs)
      wait(n, from, WaitKind::kOtherStream,
           std::clamp<std::int64_t>(out_.nodes[n].start_ns - end_of(from), 0, usual));
  }
  /// Returns the stream with the most time in kernels other than collectives; kNoRow if there is no
  /// such stream.
  [[nodiscard]] std::uint32_t main_line() const {
    std::vector<std::int64_t> busy(out_.lines.size(), 0);
    for (NodeId n = first_gpu_; n < out_.nodes.size(); ++n)
      if (out_.activity(n).kind == ActivityKind::kKernel)
        busy[out_.nodes[n].line] += out_.nodes[n].dur_ns;
    const auto most = std::max_element(busy.begin(), busy.end());
    return most == busy.end() || *most == 0 ? kNoRow
                                            : static_cast<std::uint32_t>(most - busy.begin());
  }

  // -- calls that wait for the GPU
  void add_blocking() {
    out_.blocking_launches = launches_block();
    std::map<std::uint32_t, Latest> launched; // by stream: the launched work that ends last
    EndedWork ended;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      const HostCall& call = calls_[c];
      Latest until;
      const auto consider = [&](NodeId n) {
        const std::int64_t end = end_of(n);
        const std::int64_t late = out_.activity(n).kind == ActivityKind::kCopy
                                      ? std::max(kLateEndNs, out_.nodes[n].dur_ns / kLateEndPart)
                                      : kLateEndNs;
        if (end > call.start_ns && end <= call.end_ns + late && end > until.end_ns)
          until = {n, end};
      };
      for (std::uint32_t k = call.first; k < call.last; ++k) {
        const NodeId n = node_of_[launched_[k]];
        keep_order(n, ended);
        if (out_.blocking_launches || out_.activity(n).kind == ActivityKind::kCopy)
          consider(n);
        Latest& latest = launched[out_.nodes[n].line];
        if (end_of(n) > latest.end_ns)
          latest = {n, end_of(n)};
      }
      if (call.blocks)
        for (const auto& [line, latest] : launched)
          consider(latest.node);
      if (until.node != kNoNode) {
        block(node_of_call_[c], until, WaitKind::kBlocking);
        if (out_.blocking_launches)
          continue;
        ++ended.calls;
        ended.add(out_.nodes[until.node].line, until.node);
        for (const auto& [line, latest] : launched)
          if (call.all_streams && latest.end_ns <= until.end_ns)
            ended.add(line, latest.node);
      } else if (call.last > call.first && call.end_ns - call.start_ns >= kQueueCallNs) {
        wait_for_place(c);
      }
    }
  }
  /// The work that calls have waited for.
  struct EndedWork {
    struct Last {
      NodeId node = kNoNode;
      std::size_t since = 0; ///< the first call that waited for it
    };
    std::size_t calls = 0;
    std::map<std::uint32_t, Last> by_stream;
    std::map<std::uint32_t, std::size_t> met; ///< by stream: `calls` at its last work

    void add(std::uint32_t line, NodeId node) {
      if (Last& last = by_stream[line]; node != last.node)
        last = {node, calls};
    }
  };
  /// Makes the first work of a stream after such a call wait for the work of other streams that the
  /// call waited for. The traces seldom show that it needs this work, and without the call nothing
  /// else may keep their order.
  void keep_order(NodeId n, EndedWork& ended) {
    const std::uint32_t line = out_.nodes[n].line;
    const std::size_t met = std::exchange(ended.met[line], ended.calls);
    if (met == ended.calls)
      return;
    for (const auto& [other, last] : ended.by_stream)
      if (other != line && last.since > met && end_of(last.node) <= out_.nodes[n].start_ns)
        wait(n, last.node, WaitKind::kOtherStream);
  }
  void block(NodeId call, const Latest& until, WaitKind kind) {
    RankNode& n = out_.nodes[call];
    const std::int64_t end = n.start_ns + n.dur_ns;
    const std::int64_t from = std::min(until.end_ns, end);
    n.dur_ns = end - from;
    n.start_ns = from;
    wait(call, until.node, kind, from - until.end_ns);
  }
  /// Adds a wait for a launch that lasts while the queue is full: until some work of its stream has
  /// ended.
  void wait_for_place(std::size_t c) {
    const HostCall& call = calls_[c];
    const std::uint32_t line = out_.nodes[node_of_[launched_[call.first]]].line;
    const std::vector<NodeId>& works = on_stream_[line];
    const auto begun = std::partition_point(works.begin(), works.end(), [&](NodeId n) {
      return out_.nodes[n].start_ns <= call.end_ns;
    });
    const auto launched = std::find_if(
        begun, works.end(), [&](NodeId n) { return n == node_of_[launched_[call.first]]; });
    if (launched == works.end() || static_cast<std::size_t>(launched - begun) < kQueueDepth)
      return;
    for (auto at = begun; at != works.begin();)
      if (const NodeId n = *--at; end_of(n) <= call.end_ns) {
        if (end_of(n) > call.start_ns)
          block(node_of_call_[c], {n, end_of(n)}, WaitKind::kQueue);
        return;
      }
  }
  /// Returns whether at least 90 % of the kernel launches last until their kernel has ended.
  [[nodiscard]] bool launches_block() const {
    std::size_t launches = 0, blocked = 0;
    for (const HostCall& call : calls_) {
      if (call.last != call.first + 1 || e_.category[launched_[call.first]] != Category::kKernel)
        continue;
      ++launches;
      blocked += t_.trace.end_ns(launched_[call.first]) <= call.end_ns + kLateEndNs ? 1 : 0;
    }
    return launches >= 20 && blocked * 10 >= launches * 9;
  }

  const LoadedTrace& t_;
  const Events& e_;
  const TraceGpuWork& work_;
  RankGraph out_;
  StringPool texts_;
  std::vector<ProfilerStep> steps_;
  std::vector<StrId> text_of_, host_text_of_; ///< by text of the trace; kNotFound: not used yet
  std::vector<HostCall> calls_;               ///< ordered by start
  std::vector<std::int64_t> stream_waits_;    ///< begins of ...StreamWaitEvent calls
  std::vector<EventId> launched_;             ///< GPU events, by call
  std::vector<EventId> gpu_;                  ///< ordered by start
  /// The begin of the first launched work, by stream.
  std::map<std::pair<int, int>, std::int64_t> first_launched_;
  std::vector<std::uint32_t> call_of_; ///< by event: row of calls_, kNoRow = none in the window
  std::vector<NodeId> node_of_;        ///< by event
  std::vector<NodeId> gap_of_call_, node_of_call_;
  std::vector<StrId> context_of_call_;
  std::map<std::uint32_t, std::uint32_t> thread_lines_;
  std::map<Activity, std::uint32_t> activity_rows_;
  std::vector<std::vector<NodeId>> on_stream_; ///< GPU work by line, ordered by start
  std::int64_t begin_ns_ = 0, end_ns_ = 0;     ///< the window: complete steps, or the entire trace
  /// The usual times from a call to its work on an idle stream, and from work to the next queued
  /// work.
  std::int64_t launch_lag_ns_ = 0, stream_lag_ns_ = 0;
  NodeId first_gpu_ = 0;
};

} // namespace

std::string_view activity_kind_name(ActivityKind kind) {
  return kActivityKindNames[static_cast<std::size_t>(kind)];
}

bool may_block(std::string_view call) {
  return waits_for_gpu(call) || contains(call, "Free");
}

RankGraph rank_graph_of(const LoadedTrace& trace) {
  return Extraction(trace).run();
}

} // namespace rankscope
