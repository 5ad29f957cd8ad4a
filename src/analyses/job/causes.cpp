#include "analyses/job/causes.h"

#include "analyses/job/cause_candidates.h"
#include "analyses/job/peer_places.h"
#include "base/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

namespace rankscope {
namespace {

constexpr std::array<std::string_view, 4> kUnsaidReasonNames = {"no-gain", "explained",
                                                                "below-noise", "few-steps"};
constexpr std::array<std::string_view, 3> kConfidenceNames = {"sure", "likely", "hint"};

constexpr double kFloorMs = 0.05;
constexpr double kLeastJitter = 2, kLeastCopies = 10; ///< times the floor
constexpr std::size_t kMostCauses = 12;
/// Thresholds for the remainder of LateRankParts, as fractions of the rank's excess.
constexpr double kDoubtfulRemainder = 0.2, kMostRemainder = 0.5;

class Causes {
public:
  Causes(const JobRun& run, const std::optional<GpuArch>& arch, RunSuspects suspects,
         const CauseOptions& options, const std::vector<PathPiece>& run_path)
      : run_(run), suspects_(std::move(suspects)), now_(step_ends(run, {}, run.graph.starts())),
        clock_(run, run_path, now_), options_(options) {
    if (options.steps)
      clock_.only(*options.steps);
    const std::vector<PathPiece> path =
        clock_.part_of(options.steps ? path_to_end_of(options.steps->last) : run_path, now_);
    out_.ranks = run.ranks.size();
    out_.recorded_steps = run.step_numbers.size();
    out_.steps = out_.recorded_steps > 0 ? clock_.counted() : 0;
    out_.boundary = clock_.boundary();
    out_.quality = quality_of(run.graph, path);
    if (options.prediction) {
      const PlaceNodes places(places_of(run, PlaceIn::kAnyStep));
      out_.prediction_error = prediction_error_percent(run, clock_, places);
    }
    out_.path = path_rows(run, path, clock_);
    out_.step_ms = step_ms(now_);
    out_.floor_ms = std::max(kFloorMs, out_.step_ms * options.floor_percent / 100);
    sum_path(path);
    collect(arch);
  }

  CauseFacts run() {
    edit_ = JobEdit::of(run_.graph);
    const std::vector<double> measured_ms = clock_.each_ms(now_);
    std::erase_if(candidates_, [this](const CauseCandidate& c) {
      // copies on the GPU are often necessary
      const double least = c.cause.rule == CauseRule::kDeviceCopy ? kLeastCopies : 1;
      const bool small = shortened_ms(c) < least * out_.floor_ms && c.unblocked.empty();
      if (small && compares_ranks(c.cause.rule))
        for (const std::int64_t rank : c.cause.ranks)
          small_ms_[rank] += excess_ms(c);
      return small;
    });
    for (CauseCandidate& c : candidates_) {
      measure(c);
      c.cause.alone_ms = c.cause.gain_ms;
    }
    // A candidate without a gain may gain time after the causes that hid it are removed.
    while (take_all() || take_together())
      for (CauseCandidate& c : candidates_)
        measure(c);
    add_jitter();
    take_contention();
    for (const CauseCandidate& c : candidates_)
      leave(c);
    out_.after_ms = step_ms(now_);
    find_long_steps(measured_ms);
    if (!options_.rule || compares_ranks(*options_.rule))
      out_.visible_ms = suspects_.visible_ms;
    if (!options_.rule || *options_.rule == CauseRule::kSlowLink)
      out_.untested_links = suspects_.untested_links;
    for (const UnclearRank& rank : suspects_.unclear)
      if (!options_.rule && is_of_interest(rank.rank) && rank.mean_ms > out_.floor_ms &&
          !named(rank.rank))
        out_.unclear_ranks.push_back(rank);
    for (const OutstandingRank& rank : suspects_.ranks)
      if (!options_.rule && is_of_interest(run_.ranks[rank.rank].rank) &&
          !explained(run_.ranks[rank.rank].rank))
        out_.unexplained_ranks.push_back(unexplained(rank));
    return std::move(out_);
  }

private:
  [[nodiscard]] UnexplainedRank unexplained(const OutstandingRank& outstanding) const {
    UnexplainedRank out{run_.ranks[outstanding.rank].rank, outstanding.excess_ms};
    const auto small = small_ms_.find(out.rank);
    out.small = out.excess_ms > 0 && small != small_ms_.end() &&
                small->second >= (1 - kMostRemainder) * out.excess_ms;
    return out;
  }
  [[nodiscard]] double step_ms(const std::vector<std::int64_t>& ends) const {
    return clock_.mean_ms(ends);
  }
  /// Returns the gain per step in addition to the causes taken before.
  [[nodiscard]] double gain_of(const std::vector<std::int64_t>& ends) const {
    return step_ms(now_) - step_ms(ends);
  }
  /// Sets the gain of a candidate in addition to the causes taken so far. Returns ends_with(c).
  std::vector<std::int64_t> measure(CauseCandidate& c) {
    std::vector<std::int64_t> ends = ends_with(c);
    c.cause.gain_ms = gain_of(ends);
    c.most_ms = std::max(c.most_ms, c.cause.gain_ms);
    return ends;
  }

  /// Returns the critical path back from the last GPU work of the step. The path of the run may not
  /// include that work.
  [[nodiscard]] std::vector<PathPiece> path_to_end_of(std::size_t step) const {
    const JobGraph& graph = run_.graph;
    for (NodeId n = 0; n < graph.size(); ++n)
      if (run_.gpu_work[n] && graph.end_ns(n) == now_[step])
        return critical_path(graph, {}, replay_starts(graph, {}), n);
    return critical_path(graph);
  }

  void sum_path(const std::vector<PathPiece>& path) {
    std::int64_t gpu = 0, host = 0;
    for (const PathPiece& piece : path) {
      const std::int64_t ns = piece.end_ns - piece.begin_ns;
      if (piece.kind != PathPiece::Kind::kActivity)
        continue;
      on_path_.emplace_back(piece.node, ns); // a path meets each node once, in ascending order
      (on_gpu(run_.activity(piece.node).kind) ? gpu : host) += ns;
    }
    out_.gpu_busy_percent = percent_of(gpu, out_.quality.path_ns, 0.0);
    out_.host_percent = percent_of(host, out_.quality.path_ns, 0.0);
    out_.exposed = exposed_time(run_, clock_);
    for (const RankGraph& rank : run_.ranks) {
      out_.stacks = out_.stacks || rank.stacks;
      out_.frame_cost_percent = std::max(out_.frame_cost_percent, rank.frame_cost_percent);
      out_.unlinked_percent =
          std::max(out_.unlinked_percent, percent_of(late_unlinked(rank), rank.gpu_ns, 0.0));
    }
  }
  /// Returns the GPU time without a launch. Work launched before the window is left out.
  [[nodiscard]] static std::int64_t late_unlinked(const RankGraph& rank) {
    return rank.unlinked_ns - rank.early_ns;
  }

  void collect(const std::optional<GpuArch>& arch) {
    std::vector<std::vector<NodeId>> nodes = run_.activities_by_rank();
    contention_.emplace(run_, clock_, nodes);
    const CauseInput in{run_, arch, &*contention_};
    for (std::uint32_t r = 0; r < run_.ranks.size(); ++r) {
      if (!is_of_interest(run_.ranks[r].rank))
        continue;
      for (const auto candidates : {host_candidates, gpu_candidates, avoidable_candidates})
        for (CauseCandidate& c : candidates(in, r, nodes[r])) {
          c.cause.ranks = {run_.ranks[r].rank};
          join(std::move(c));
        }
    }
    release(nodes);
    gather_pauses(run_, candidates_);
    if (!suspects_.ranks.empty() && run_.ranks.size() >= kFewestRanks)
      add_rank_causes(in);
    const auto append = [this](std::vector<CauseCandidate> candidates) {
      std::ranges::move(candidates, std::back_inserter(candidates_));
    };
    for (CauseCandidate& c : link_candidates(in, suspects_.transfers))
      join(std::move(c));
    append(small_collective_candidates(in, suspects_.small));
    append(repeated_reduction_candidates(in, suspects_.repeated));
    append(uneven_exchange_candidates(in, suspects_.uneven));
    append(contention_candidates(run_, clock_, *contention_));
    std::erase_if(candidates_, [this](const CauseCandidate& c) {
      return (options_.rule && c.cause.rule != *options_.rule) ||
             std::ranges::none_of(c.cause.ranks,
                                  [this](std::int64_t r) { return is_of_interest(r); });
    });
    for (CauseCandidate& c : candidates_)
      describe(c);
  }
  [[nodiscard]] bool is_of_interest(std::int64_t rank) const {
    return !options_.rank || rank == *options_.rank;
  }

  void add_rank_causes(const CauseInput& in) {
    std::vector<std::uint32_t> ranks;
    for (const OutstandingRank& rank : suspects_.ranks)
      ranks.push_back(rank.rank);
    const PeerPlaces peers(run_, ranks, &*contention_);
    out_.late_rank_parts = late_rank_parts(run_, clock_, peers, ranks);
    for (CauseCandidate& c : rank_candidates(in, suspects_.ranks, peers)) {
      const auto parts =
          std::ranges::find(out_.late_rank_parts, c.cause.ranks.front(), &LateRankParts::rank);
      const bool known = parts != out_.late_rank_parts.end();
      const double excess = known ? parts->all.excess_ms : 0;
      const double remainder = known ? std::abs(parts->remainder_ms()) : 0;
      const bool late = excess > out_.floor_ms; // else it is late in small groups only
      if (late && remainder > kMostRemainder * excess)
        continue; // the rank is known, but not the reason
      // one step cannot show that the rank is always slower
      if (known ? !late || remainder > kDoubtfulRemainder * excess : clock_.counted() < 2)
        c.cause.confidence = std::max(c.cause.confidence, Confidence::kLikely);
      join(std::move(c));
    }
  }

  /// Returns whether ranks (or groups) are slower than their peers by about the same time. Without
  /// the cause on one of them, the run still waits for the others. So they are removed together.
  [[nodiscard]] bool alike(const CauseCandidate& a, const CauseCandidate& b) const {
    constexpr double kAlike = 1.3;
    const double x = shortened_ms(a), y = shortened_ms(b);
    return x <= kAlike * y && y <= kAlike * x;
  }

  /// Adds the differences of one more rank or group to the means over them.
  static void average(StepCause& to, const StepCause& more) {
    const auto n = static_cast<double>(to.groups.empty() ? to.ranks.size() : to.groups.size());
    const auto mean = [n](double& average, double value) {
      average = (n * average + value) / (n + 1);
    };
    mean(to.percent, more.percent);
    mean(to.rate, more.rate);
    mean(to.rate_to, more.rate_to);
    if (to.excess_ms > 0 && more.excess_ms > 0)
      mean(to.excess_ms, more.excess_ms);
    else
      to.excess_ms = 0; // unknown
    to.others = std::min(to.others, more.others);
    to.groups.insert(to.groups.end(), more.groups.begin(), more.groups.end());
    to.shapes = to.shapes && more.shapes;
    to.alike = to.alike && more.alike;
    to.confidence = std::max(to.confidence, more.confidence);
  }

  /// Takes the waiting that is left if no rank is slow or late in all steps. It comes last, because
  /// its gain includes the gains of other rules. Ranks always differ a little, so it needs more
  /// gain.
  void add_jitter() {
    constexpr std::size_t kFewestSteps = 3;
    const double least_ms = kLeastJitter * out_.floor_ms;
    if (!suspects_.ranks.empty() || run_.ranks.size() < kFewestRanks || out_.steps < kFewestSteps ||
        out_.exposed.wait_ms < least_ms || (options_.rule && *options_.rule != CauseRule::kJitter))
      return;
    for (CauseCandidate& c :
         jitter_candidates(run_, clock_, PlaceNodes(places_of(run_, PlaceIn::kAnyStep)))) {
      measure(c);
      if (c.cause.gain_ms < least_ms)
        continue;
      describe(c);
      c.cause.alone_ms = c.cause.gain_ms;
      if (!out_.causes.empty()) {
        JobEdit alone = JobEdit::of(run_.graph);
        apply(c, alone);
        contention_->settle(alone);
        c.cause.alone_ms = out_.step_ms - step_ms(step_ends(run_, alone));
      }
      candidates_.push_back(std::move(c));
    }
    take_all();
  }

  void find_long_steps(const std::vector<double>& measured_ms) {
    constexpr std::size_t kFewestSteps = 5;
    constexpr double kLeastExcess = 0.2, kDeviations = 5;
    if (out_.steps < kFewestSteps)
      return;
    const RobustSpread usual = robust_spread(measured_ms);
    const std::vector<double> left_ms = clock_.each_ms(now_);
    const double usual_left = quantile_of(left_ms, 0.5);
    for (std::size_t k = 0; k < measured_ms.size(); ++k)
      if (const double excess = measured_ms[k] - usual.median;
          excess > std::max(kLeastExcess * usual.median, kDeviations * usual.deviation))
        out_.long_steps.push_back({run_.step_numbers[clock_.first() + k], measured_ms[k], excess,
                                   left_ms[k] - usual_left});
  }

  /// Adds a candidate. Equal causes of several ranks become one cause.
  void join(CauseCandidate c) {
    const auto same = std::find_if(candidates_.begin(), candidates_.end(), [&](const auto& other) {
      const StepCause& a = other.cause;
      const StepCause& b = c.cause;
      return a.rule == b.rule && a.what == b.what && a.before == b.before && a.after == b.after &&
             a.from_host == b.from_host && (!compares_ranks(a.rule) || alike(other, c));
    });
    if (same == candidates_.end()) {
      candidates_.push_back(std::move(c));
      return;
    }
    StepCause& to = same->cause;
    if (compares_ranks(to.rule))
      average(to, c.cause);
    to.ranks.insert(to.ranks.end(), c.cause.ranks.begin(), c.cause.ranks.end());
    std::ranges::sort(to.ranks);
    to.ranks.erase(std::unique(to.ranks.begin(), to.ranks.end()), to.ranks.end());
    const auto append = [](auto& list, const auto& more) {
      list.insert(list.end(), more.begin(), more.end());
    };
    append(same->nodes, c.nodes);
    append(same->parts, c.parts);
    append(same->counted, c.counted);
    append(same->durations, c.durations);
    append(same->unblocked, c.unblocked);
    append(same->unordered, c.unordered);
  }

  [[nodiscard]] std::int64_t on_path_ns(NodeId n) const {
    const auto at =
        std::ranges::lower_bound(on_path_, n, {}, &std::pair<NodeId, std::int64_t>::first);
    return at == on_path_.end() || at->first != n ? 0 : at->second;
  }

  /// Returns the time per step that the nodes of the cause lose on the critical path without it.
  [[nodiscard]] double cost_ms(const CauseCandidate& c) const {
    std::map<NodeId, std::int64_t> without; // durations without the cause, of nodes on the path
    for (const auto& [n, dur] : c.durations)
      if (on_path_ns(n) > 0)
        without.emplace(n, dur);
    double ns = 0;
    for (const NodeId n : c.nodes) {
      const auto on_path = static_cast<double>(on_path_ns(n));
      const auto at = without.find(n);
      const double kept = at == without.end() ? 0
                                              : static_cast<double>(at->second) /
                                                    static_cast<double>(run_.graph.dur_ns(n));
      ns += on_path * (1 - (c.exact ? kept : std::min(kept, 1.0)));
    }
    for (const auto& [node, part_ns] : c.parts)
      ns += static_cast<double>(std::min(on_path_ns(node), part_ns));
    return std::max(0.0, clock_.per_step_ms(std::llround(ns)));
  }

  /// Sets the rank that has most of the time of a cause, and four times as much as others.
  void set_main_rank(CauseCandidate& c) const {
    std::vector<std::int64_t> by_rank(run_.ranks.size(), 0);
    std::int64_t all = 0;
    for (const auto& [n, dur] : c.durations)
      if (const std::int64_t ns = run_.graph.dur_ns(n) - dur; ns > 0) {
        by_rank[run_.rank_of[n]] += ns;
        all += ns;
      }
    constexpr std::int64_t kMore = 4;
    const auto others = std::ssize(c.cause.ranks) - 1;
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
      if (const std::int64_t ns = by_rank[rank]; 2 * ns > all && ns * others >= kMore * (all - ns))
        c.cause.main_rank = run_.ranks[rank].rank;
  }

  /// Returns how long the calls of the cause wait for other GPU work than that of the cause. The
  /// node of such a call begins after the wait.
  [[nodiscard]] std::map<NodeId, std::int64_t> blocked_ns(const CauseCandidate& c) const {
    std::map<NodeId, std::int64_t> out;
    if (c.unblocked.empty())
      return out;
    const std::set<NodeId> own(c.nodes.begin(), c.nodes.end());
    for (const NodeId n : c.unblocked) {
      const NodeId before = run_.graph.waited(n, WaitKind::kHost);
      if (before == kNoNode || own.contains(run_.graph.waited(n, WaitKind::kBlocking)))
        continue;
      const RankNode& host = run_.node(before);
      out[n] = std::max<std::int64_t>(0, run_.node(n).start_ns - host.start_ns - host.dur_ns);
    }
    return out;
  }

  /// Sets the count, place and cost of the cause from its nodes.
  void describe(CauseCandidate& c) const {
    set_main_rank(c);
    StepCause& cause = c.cause;
    std::set<std::size_t> seen;
    std::int64_t longest = -1;
    const std::map<NodeId, std::int64_t> waits = blocked_ns(c);
    std::map<std::uint32_t, double> copied; // bytes by rank
    for (const NodeId n : c.nodes) {
      if (!clock_.counts(run_.step_of(n)))
        continue;
      seen.insert(run_.step_of(n));
      if (run_.activity(n).kind == ActivityKind::kCopy)
        copied[run_.rank_of[n]] += static_cast<double>(run_.activity(n).bytes);
      const auto wait = waits.find(n);
      const std::int64_t blocked = wait == waits.end() ? 0 : wait->second;
      if (run_.graph.dur_ns(n) + blocked <= longest)
        continue;
      longest = run_.graph.dur_ns(n) + blocked;
      const RankNode& node = run_.node(n);
      cause.place = FindingPlace{run_.ranks[run_.rank_of[n]].rank, node.start_ns - blocked,
                                 node.start_ns + node.dur_ns};
      if (!run_.step_numbers.empty())
        cause.place_step = run_.step_numbers[run_.step_of(n)];
      cause.occurrence_ms = ns_to_ms(node.dur_ns + blocked);
    }
    const std::vector<NodeId>& counted = c.counted.empty() ? c.nodes : c.counted;
    cause.count = static_cast<std::size_t>(std::ranges::count_if(
        counted, [this](NodeId n) { return clock_.counts(run_.step_of(n)); }));
    for (const auto& [rank, bytes] : copied)
      cause.bytes = std::max<std::int64_t>(
          cause.bytes, std::llround(std::min(bytes / static_cast<double>(clock_.counted()), 9e18)));
    if (on_host(cause.rule) && (options_.shortened || out_.frame_cost_percent > kFrameCostPercent))
      cause.confidence = std::max(cause.confidence, Confidence::kLikely);
    cause.steps = clock_.counted();
    // the longer kernels of a rank are in every step, but may be longer in some steps only
    cause.steps_seen = compares_ranks(cause.rule) && cause.rule != CauseRule::kMoreWork
                           ? steps_with_excess(c)
                           : seen.size();
    cause.cost_ms = cost_ms(c);
  }

  /// Returns whether the cause consists of host time, which the recording of frames lengthens.
  [[nodiscard]] static bool on_host(CauseRule rule) {
    return rule == CauseRule::kHostCode || rule == CauseRule::kLaunchBound ||
           rule == CauseRule::kOptimizerLoop || rule == CauseRule::kSlowHost;
  }

  /// Returns the usual time between a kernel or copy and the one before it on its stream, which is
  /// not there if the kernel does not run. 0 for other nodes.
  [[nodiscard]] std::int64_t gap_before(NodeId n) const {
    const ActivityKind kind = run_.activity(n).kind;
    if (on_gpu(kind) && kind != ActivityKind::kCollective)
      for (const Wait& wait : run_.graph.waits(n))
        if (wait.kind() == WaitKind::kStream)
          return wait.lag_ns();
    return 0;
  }

  void apply(const CauseCandidate& c, JobEdit& edit) const {
    for (const auto& [node, dur] : c.durations) {
      std::int64_t& now = edit.dur_ns[node];
      now = c.exact && now == run_.graph.dur_ns(node) ? dur : std::min(now, dur);
      if (c.removes_gaps && now == 0) {
        std::int64_t& delay = edit.delay(run_.graph, node);
        delay = std::min(delay, -gap_before(node));
      }
    }
    for (const NodeId node : c.unblocked)
      for (const WaitKind kind : {WaitKind::kBlocking, WaitKind::kMember})
        edit.leave_out(run_.graph, node, kind);
    for (const NodeId node : c.unordered)
      edit.leave_out(run_.graph, node, WaitKind::kOtherStream);
  }
  /// Returns the step ends without the causes taken so far and without these candidates. GEMMs of
  /// ranks that wait less have less contention.
  [[nodiscard]] std::vector<std::int64_t>
  ends_with(std::span<const CauseCandidate* const> members) {
    // a copy of the edit would take 8 bytes for each node of the run
    std::vector<std::int64_t> before;
    const auto each_duration = [&](const auto& visit) {
      for (const CauseCandidate* c : members)
        for (const auto& [node, dur] : c->durations)
          visit(edit_.dur_ns[node]);
      if (contention_->found())
        for (const auto& gemms : contention_->gemms())
          for (const Contention::Overlapped& gemm : gemms)
            visit(edit_.dur_ns[gemm.node]);
    };
    each_duration([&](std::int64_t dur) { before.push_back(dur); });
    std::vector<std::int64_t> delays = edit_.delay_ns;
    std::vector<std::uint8_t> without = edit_.without;
    for (const CauseCandidate* c : members)
      apply(*c, edit_);
    if (members.front()->cause.rule != CauseRule::kContention)
      contention_->settle(edit_);
    std::vector<std::int64_t> ends = step_ends(run_, edit_);
    auto at = before.begin();
    each_duration([&at](std::int64_t& dur) { dur = *at++; });
    edit_.delay_ns = std::move(delays);
    edit_.without = std::move(without);
    return ends;
  }
  [[nodiscard]] std::vector<std::int64_t> ends_with(const CauseCandidate& c) {
    const CauseCandidate* const members[] = {&c};
    return ends_with(members);
  }
  /// `members`: positions in `candidates_`.
  [[nodiscard]] std::vector<std::int64_t> ends_with(const std::vector<std::size_t>& members) {
    std::vector<const CauseCandidate*> out;
    for (const std::size_t k : members)
      out.push_back(&candidates_[k]);
    return ends_with(out);
  }

  /// Returns the gain used for ordering. A bound with hardly more gain than an estimate comes after
  /// it.
  [[nodiscard]] static double weight(const StepCause& cause) {
    constexpr double kOfABound = 0.95;
    return cause.kind == GainKind::kAtMost ? kOfABound * cause.gain_ms : cause.gain_ms;
  }
  /// Returns the largest possible gain per step: the time subtracted from the activities, per rank.
  [[nodiscard]] double shortened_ms(const CauseCandidate& c) const {
    std::int64_t ns = 0;
    for (const auto& [node, dur] : c.durations)
      if (run_.in_steps(node))
        ns += std::max<std::int64_t>(0, run_.graph.dur_ns(node) - dur);
    return ns_to_ms(ns) / static_cast<double>(run_.steps() * c.cause.ranks.size());
  }
  /// Returns the time by which a rank's activities are longer than those of its peers, by step.
  /// Shorter ones count too, so noise adds up to about 0.
  [[nodiscard]] std::vector<std::int64_t> excess_by_step(const CauseCandidate& c) const {
    std::vector<std::int64_t> out(run_.steps(), 0);
    for (const auto& [node, dur] : c.durations)
      if (run_.in_steps(node))
        out[run_.step_of(node)] += run_.graph.dur_ns(node) - dur;
    return out;
  }
  /// Returns the mean of excess_by_step() over the steps and ranks.
  [[nodiscard]] double excess_ms(const CauseCandidate& c) const {
    const std::vector<std::int64_t> by_step = excess_by_step(c);
    return ns_to_ms(std::reduce(by_step.begin(), by_step.end())) /
           static_cast<double>(run_.steps() * c.cause.ranks.size());
  }
  /// Returns the number of counted steps with at least half of their mean excess.
  [[nodiscard]] std::size_t steps_with_excess(const CauseCandidate& c) const {
    const std::vector<std::int64_t> by_step = excess_by_step(c);
    const auto counted = std::span(by_step).subspan(clock_.first(), clock_.counted());
    const std::int64_t all = std::reduce(counted.begin(), counted.end());
    return static_cast<std::size_t>(std::ranges::count_if(
        counted, [&](std::int64_t ns) { return ns > 0 && 2 * ns * std::ssize(counted) >= all; }));
  }

  /// Takes causes until none passes or the list is full. Returns whether any cause was taken.
  bool take_all() {
    const std::size_t before = out_.causes.size();
    while (out_.causes.size() < kMostCauses && take_best()) {
    }
    return out_.causes.size() > before;
  }

  struct Best {
    std::size_t candidate = 0;
    std::vector<std::int64_t> ends;
  };
  /// Returns the candidate of such a rule with the largest gain in addition to the causes taken
  /// before. Empty if no candidate reaches the floor and exceeds the noise of the steps. Gains
  /// seldom grow when other causes are taken. So candidates are tested in the order of their
  /// earlier gains, until no further candidate can have a larger gain.
  template <class Among> std::optional<Best> best_of(const Among& among) {
    std::sort(candidates_.begin(), candidates_.end(),
              [](const auto& a, const auto& b) { return weight(a.cause) > weight(b.cause); });
    std::optional<Best> best;
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
      StepCause& cause = candidates_[k].cause;
      if (!among(cause.rule))
        continue;
      const double most = best ? weight(candidates_[best->candidate].cause) : 0;
      if (best && weight(cause) <= most)
        break;
      std::vector<std::int64_t> ends = measure(candidates_[k]);
      set_interval(cause, ends);
      if (cause.gain_ms >= out_.floor_ms && !below_noise(cause) && (!best || weight(cause) > most))
        best = Best{k, std::move(ends)};
    }
    return best;
  }

  [[nodiscard]] static bool is_stretch(CauseRule rule) {
    return rule < CauseRule::kReadBack || rule == CauseRule::kLoading ||
           rule == CauseRule::kGraphBreaks;
  }

  /// Returns whether stretches of the host gain most of the time that the candidate gains. Without
  /// a call that waits for the GPU, the host would run ahead, and a stretch after the call would
  /// overlap GPU work, so that both gain the same time. A slow host may be slow because of a
  /// stretch.
  [[nodiscard]] bool stretches_gain_it(std::size_t candidate) {
    constexpr double kMostOfIt = 0.7;
    std::vector<std::size_t> stretches;
    for (std::size_t k = 0; k < candidates_.size(); ++k)
      if (is_stretch(candidates_[k].cause.rule))
        stretches.push_back(k);
    if (stretches.empty())
      return false;
    const double gain = candidates_[candidate].cause.gain_ms;
    const double of_stretches = gain_of(ends_with(stretches));
    stretches.push_back(candidate);
    const double same = gain + of_stretches - gain_of(ends_with(stretches));
    return same >= kMostOfIt * gain;
  }

  /// Takes contention last: it depends on the waits that other causes make, and cannot be removed
  /// entirely.
  void take_contention() {
    if (out_.causes.size() < kMostCauses)
      take(best_of([](CauseRule rule) { return rule == CauseRule::kContention; }));
  }

  /// Takes the best candidate. Returns false if no candidate passes. If stretches of the host gain
  /// most of the time of a call that waits for the GPU, or of a slow host, they are the causes.
  bool take_best() {
    std::optional<Best> best = best_of(of_any_rule);
    if (!best)
      return false;
    if (const CauseRule rule = candidates_[best->candidate].cause.rule;
        (rule == CauseRule::kReadBack || rule == CauseRule::kStreamWait ||
         rule == CauseRule::kSlowHost) &&
        stretches_gain_it(best->candidate)) {
      best = best_of(is_stretch);
      if (!best) { // each of them alone is below the floor or the noise
        best = best_of(of_any_rule);
        StepCause& cause = candidates_[best->candidate].cause;
        cause.before_host_code = cause.rule == CauseRule::kReadBack;
        if (cause.before_host_code)
          cause.confidence = std::max(cause.confidence, Confidence::kLikely);
      }
    }
    // A bound on the copies of all ranks would hide that those of one rank are slower. The bound
    // without the order of streams includes the gain without the wait of the host.
    switch (candidates_[best->candidate].cause.rule) {
    case CauseRule::kExposedCopy:
    case CauseRule::kPageableCopy:
      best = rather(CauseRule::kSlowCopies);
      break;
    case CauseRule::kStreamWait:
      best = rather(CauseRule::kReadBack);
      break;
    default:
      break;
    }
    return take(std::move(best));
  }
  /// Returns the best candidate of the rule, else the best of all.
  std::optional<Best> rather(CauseRule rule) {
    std::optional<Best> best = best_of([rule](CauseRule r) { return r == rule; });
    return best ? std::move(best) : best_of(of_any_rule); // the order may have changed
  }
  [[nodiscard]] static bool of_any_rule(CauseRule rule) { return rule != CauseRule::kContention; }

  /// Moves the candidate to the causes. Returns whether there is one. It may have hidden a gain of
  /// other candidates, and a later cause may gain the same time.
  bool take(std::optional<Best> best) {
    if (!best)
      return false;
    const auto chosen = candidates_.begin() + static_cast<std::ptrdiff_t>(best->candidate);
    apply(*chosen, edit_);
    now_ = std::move(best->ends);
    out_.causes.push_back(std::move(chosen->cause));
    candidates_.erase(chosen);
    for (CauseCandidate& c : candidates_)
      if (c.most_ms < out_.floor_ms &&
          (compares_ranks(c.cause.rule) ? excess_ms(c) : c.cause.cost_ms) >= out_.floor_ms)
        c.most_ms = gain_of(ends_with(c));
    return true;
  }

  /// Takes causes that gain time only together: if one of them is removed, the run waits for the
  /// others. At least one of them is a cause of outstanding ranks; the others are such causes too,
  /// or causes on the host. Returns whether any cause was taken.
  bool take_together() {
    constexpr std::size_t kMostHosts = 8; // each costs a replay
    std::vector<std::size_t> ranks, hosts;
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
      const CauseCandidate& c = candidates_[k];
      if (in_single_steps(c.cause))
        continue;
      if (compares_ranks(c.cause.rule))
        ranks.push_back(k);
      else if (c.cause.rule <= CauseRule::kOptimizerLoop && shortened_ms(c) >= out_.floor_ms)
        hosts.push_back(k);
    }
    if (ranks.empty())
      return false;
    if (take_group(ranks))
      return true;
    if (hosts.empty())
      return false;
    std::ranges::sort(hosts, std::greater{},
                      [this](std::size_t k) { return shortened_ms(candidates_[k]); });
    hosts.resize(std::min(hosts.size(), kMostHosts));
    ranks.insert(ranks.end(), hosts.begin(), hosts.end());
    return take_group(std::move(ranks));
  }

  /// Takes these candidates together, without those that add hardly any gain to the others. Returns
  /// false if fewer than two are left, none of outstanding ranks, or the gain is too small.
  bool take_group(std::vector<std::size_t> members) {
    constexpr double kAsMuch = 0.9; // a cause is left out if the others gain as much
    if (members.size() < 2)
      return false;
    std::vector<std::int64_t> ends = ends_with(members);
    for (std::size_t k = members.size();
         k-- > 0 && members.size() > 1 && gain_of(ends) >= out_.floor_ms;) {
      std::vector<std::size_t> others = members;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
      std::vector<std::int64_t> without = ends_with(others);
      if (gain_of(without) < kAsMuch * gain_of(ends))
        continue;
      members = std::move(others);
      ends = std::move(without);
    }
    const bool any_rank = std::ranges::any_of(
        members, [this](std::size_t k) { return compares_ranks(candidates_[k].cause.rule); });
    if (members.size() < 2 || !any_rank || gain_of(ends) < out_.floor_ms ||
        out_.causes.size() + members.size() > kMostCauses)
      return false;
    for (const std::size_t k : members)
      set_interval(candidates_[k].cause, ends);
    if (below_noise(candidates_[members.front()].cause))
      return false;
    const auto count = static_cast<double>(members.size());
    const bool bound = std::ranges::any_of(
        members, [this](std::size_t k) { return candidates_[k].cause.kind == GainKind::kAtMost; });
    const std::size_t group = out_.causes.size() + 1;
    for (const std::size_t k : members) {
      StepCause& cause = candidates_[k].cause;
      apply(candidates_[k], edit_);
      cause.together = group;
      cause.kind = bound ? GainKind::kAtMost : cause.kind;
      cause.gain_ms = gain_of(ends) / count;
      if (cause.low_ms && cause.high_ms) {
        *cause.low_ms /= count;
        *cause.high_ms /= count;
      }
      out_.causes.push_back(std::move(cause));
    }
    std::ranges::sort(members, std::greater{});
    for (const std::size_t k : members)
      candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(k));
    now_ = std::move(ends);
    return true;
  }

  /// Returns whether the gain is noise. An activity in single steps is noise, unless the rule
  /// expects that.
  [[nodiscard]] static bool below_noise(const StepCause& cause) {
    if (cause.rule == CauseRule::kCheckpoint || cause.rule == CauseRule::kLoading ||
        cause.rule == CauseRule::kSlowCollective)
      return false;
    return in_single_steps(cause) || (cause.low_ms && *cause.low_ms <= 0);
  }

  /// Sets the interval of the gain from the gains in the counted steps.
  void set_interval(StepCause& cause, const std::vector<std::int64_t>& ends) const {
    if (in_single_steps(cause))
      return;
    if (const std::optional<MeanDifference> interval = clock_.difference_ms(now_, ends)) {
      cause.low_ms = interval->difference - interval->half_width;
      cause.high_ms = interval->difference + interval->half_width;
    }
  }

  [[nodiscard]] static bool has(const StepCause& cause, std::int64_t rank) {
    return std::ranges::find(cause.ranks, rank) != cause.ranks.end();
  }
  /// Returns whether a listed cause is that this rank differs from its peers.
  [[nodiscard]] bool named(std::int64_t rank) const {
    return std::ranges::any_of(
        out_.causes, [rank](const StepCause& c) { return compares_ranks(c.rule) && has(c, rank); });
  }
  /// Returns whether some cause belongs to this rank alone or mostly, to ranks like it, or to its
  /// slow link; or whether its kernels or the transfers of its link take longer, but without a
  /// cost; or whether the listed causes gain the time of a difference from its peers.
  [[nodiscard]] bool explained(std::int64_t rank) const {
    const auto not_listed = [&](const CauseCandidate& c) {
      const CauseRule rule = c.cause.rule;
      return (rule == CauseRule::kSlowGpu || rule == CauseRule::kSlowOperator ||
              rule == CauseRule::kSlowLink ||
              (compares_ranks(rule) && c.most_ms >= out_.floor_ms)) &&
             has(c.cause, rank);
    };
    const auto for_this_rank = [&](const StepCause& c) {
      return (c.ranks.size() == 1 || c.main_rank == rank) && has(c, rank);
    };
    return named(rank) || std::ranges::any_of(candidates_, not_listed) ||
           std::ranges::any_of(out_.causes, for_this_rank);
  }

  void leave(const CauseCandidate& c) {
    Unsaid unsaid{c.cause.rule, UnsaidReason::kNoGain, c.cause.cost_ms, c.cause.gain_ms};
    if (std::max({unsaid.cost_ms, unsaid.gain_ms, c.most_ms}) < out_.floor_ms ||
        (compares_ranks(unsaid.rule) && excess_ms(c) < out_.floor_ms))
      return;
    if (unsaid.gain_ms >= out_.floor_ms)
      unsaid.reason =
          in_single_steps(c.cause) ? UnsaidReason::kFewSteps : UnsaidReason::kBelowNoise;
    else if (c.most_ms >= out_.floor_ms)
      unsaid.reason = UnsaidReason::kExplained;
    const auto same = std::find_if(out_.unsaid.begin(), out_.unsaid.end(), [&](const Unsaid& u) {
      return u.rule == unsaid.rule && u.reason == unsaid.reason;
    });
    if (same == out_.unsaid.end())
      out_.unsaid.push_back(unsaid);
    else
      *same = {unsaid.rule, unsaid.reason, same->cost_ms + unsaid.cost_ms,
               std::max(same->gain_ms, unsaid.gain_ms)};
  }

  const JobRun& run_;
  RunSuspects suspects_;
  std::vector<std::int64_t> now_; ///< step ends without the causes taken so far
  CountedSteps clock_;
  CauseFacts out_;
  /// Nodes on the critical path in the counted steps, ascending, with their time on it.
  std::vector<std::pair<NodeId, std::int64_t>> on_path_;
  std::vector<CauseCandidate> candidates_;
  std::map<std::int64_t, double> small_ms_; ///< by rank: excess in candidates below the floor
  CauseOptions options_;
  JobEdit edit_; ///< edit that removes the causes taken so far
  std::optional<Contention> contention_;
};

} // namespace

bool in_single_steps(const StepCause& cause) {
  return !compares_ranks(cause.rule) && 2 * cause.steps_seen < cause.steps;
}

std::string_view cause_rule_id(CauseRule rule) {
  return kCauseRuleIds[static_cast<std::size_t>(rule)];
}

std::optional<CauseRule> cause_rule_of(std::string_view id) {
  const auto found = std::ranges::find(kCauseRuleIds, id);
  if (found == kCauseRuleIds.end())
    return std::nullopt;
  return static_cast<CauseRule>(found - kCauseRuleIds.begin());
}

std::string_view unsaid_reason_name(UnsaidReason reason) {
  return kUnsaidReasonNames[static_cast<std::size_t>(reason)];
}

std::string_view confidence_name(Confidence confidence) {
  return kConfidenceNames[static_cast<std::size_t>(confidence)];
}

CauseFacts causes_of(const JobRun& run, const std::optional<GpuArch>& arch, RunSuspects suspects,
                     const CauseOptions& options) {
  Causes causes(run, arch, std::move(suspects), options, critical_path(run.graph));
  return causes.run(); // without the path
}

} // namespace rankscope
