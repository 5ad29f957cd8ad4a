// Times on the common clock; the parts are put together.
#include "analyses/collectives/collective_facts.h"

#include "analyses/collectives/collective_findings.h"
#include "analyses/collectives/collective_sums.h"
#include "base/units.h"

#include <fmt/format.h>
#include <limits>

namespace rankscope {
namespace {

/// From a rank's file times to the common clock.
struct Clocks {
  std::vector<std::int64_t> base_ns;  ///< by position: added to file times
  std::vector<ClockOffset> alignment; ///< by position; empty when nothing was aligned
  std::vector<std::int64_t> unix_ns;  ///< by position: from file times to what alignment takes

  [[nodiscard]] std::int64_t common(std::size_t rank, std::int64_t ts_ns) const {
    const std::int64_t shift =
        alignment.empty() ? 0 : alignment[rank].used().at(ts_ns + unix_ns[rank]);
    return ts_ns + base_ns[rank] - shift;
  }
};

Clocks clocks_of(const std::vector<RankCollectives>& ranks, const std::vector<ClockOffset>& offsets,
                 AlignMode align) {
  Clocks out;
  out.base_ns.assign(ranks.size(), 0);
  if (align == AlignMode::kNone)
    return out;
  std::int64_t lowest_base = INT64_MAX;
  for (const RankCollectives& r : ranks)
    lowest_base = std::min(lowest_base, r.base_time_ns);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    out.base_ns[r] = ranks[r].base_time_ns - lowest_base;
    out.unix_ns.push_back(ranks[r].base_time_ns);
  }
  if (align == AlignMode::kCollectives && ranks.size() > 1)
    out.alignment = offsets;
  return out;
}

/// Kinds whose members wait for each other; of a send, a receive or a broadcast somebody else may
/// be waiting, and of a kernel of unknown kind nobody knows.
bool makes_wait(CollectiveKind kind) {
  return synchronises(kind) || kind == CollectiveKind::kAllToAllV ||
         kind == CollectiveKind::kBarrier;
}

TimedCollective timed(const std::vector<RankCollectives>& ranks, MatchedCollective match,
                      const Clocks& clocks, bool compat_tracelens) {
  TimedCollective t;
  std::int64_t min_end = INT64_MAX;
  std::int64_t max_end = INT64_MIN;
  t.latest_start_ns = INT64_MIN;
  t.latency_ns = INT64_MAX;
  for (const auto& [rank, row] : match.members) {
    const Collective& c = ranks[rank].rows[row];
    const std::int64_t start = clocks.common(rank, c.ts_ns);
    t.start_ns.push_back(start);
    t.end_ns.push_back(start + c.dur_ns);
    t.latest_start_ns = std::max(t.latest_start_ns, start);
    t.latency_ns = std::min(t.latency_ns, c.dur_ns);
    min_end = std::min(min_end, t.end_ns.back());
    max_end = std::max(max_end, t.end_ns.back());
  }
  t.end_skew_ns = max_end - min_end;
  for (const std::int64_t s : t.start_ns)
    t.wait_ns.push_back(t.latest_start_ns - s);
  t.first_rank = &ranks[match.members.front().first];
  t.first = &t.first_rank->rows[match.members.front().second];
  t.full_mib =
      mib_of(*t.first_rank, *t.first,
             match.kind == CollectiveKind::kAllGather ? t.first->out_nelems : t.first->in_nelems);
  t.algo_gbps = t.bus_gbps = std::numeric_limits<double>::quiet_NaN();
  t.told_waits = compat_tracelens || (!match.incomplete() && makes_wait(match.kind));
  if (t.latency_ns > 0 && (compat_tracelens || !match.incomplete())) {
    const double gibps = (t.full_mib / 1024) / ns_to_s(t.latency_ns);
    const double scale = compat_tracelens ? 1.0 : kGib;
    t.algo_gbps = gibps * scale;
    t.bus_gbps = gibps * bus_bandwidth_factor(match.kind, t.first->group_size) * scale;
  }
  t.id = fmt::format("{}_{}", match.pg, match.index);
  t.match = std::move(match);
  return t;
}

} // namespace

std::optional<AlignMode> align_mode(std::string_view text) {
  return text == "none"          ? std::optional(AlignMode::kNone)
         : text == "base"        ? std::optional(AlignMode::kBase)
         : text == "collectives" ? std::optional(AlignMode::kCollectives)
                                 : std::nullopt;
}

double SyncCollective::mean_wait_us() const {
  return ns_to_us(wait_ns) / static_cast<double>(timed->wait_ns.size());
}

Result<CollectiveFacts> collective_facts(const std::vector<RankCollectives>& ranks,
                                         const CollectiveOptions& options) {
  if (std::all_of(ranks.begin(), ranks.end(), [](const auto& r) { return r.rows.empty(); }))
    return Error{ErrorCode::kUnreadable, ranks.empty() ? "" : ranks.front().path,
                 "no collective kernel (nccl, rccl, cross_device_reduce, ...) in any rank", ""};
  const bool compat = options.compat_tracelens;
  const std::int64_t per_node = options.gpus_per_node > 0
                                    ? options.gpus_per_node
                                    : static_cast<std::int64_t>(ranks.front().device_count);
  MatchResult matched = match_collectives(ranks);
  CollectiveFacts out;
  out.offsets = align_clocks(collective_ends(ranks, matched.collectives));
  const Clocks clocks = clocks_of(ranks, out.offsets, options.align);
  out.ranks = ranks;
  out.compat_tracelens = compat;
  out.problems = std::move(matched.problems);
  out.collectives.reserve(matched.collectives.size());
  for (MatchedCollective& m : matched.collectives)
    out.collectives.push_back(timed(ranks, std::move(m), clocks, compat));
  std::vector<const RankCollectives*> all;
  for (const RankCollectives& r : ranks)
    all.push_back(&r);
  out.summary = sync_summary(out.collectives, compat);
  out.rank_summary = rank_summary(all, per_node);
  out.a2av = all_to_all_v(ranks, out.collectives, compat);
  out.a2av_summary = all_to_all_v_summary(out.a2av);
  largest_first(out.a2av, [](const AllToAllV& c) { return c.sent_mib; });
  if (options.all_to_all_v_heatmap)
    out.a2av_sent = all_to_all_v_sent(ranks, out.collectives, compat);
  out.kernels = collective_kernels(ranks, out.collectives);
  out.synchronising = synchronising(ranks, out.collectives);
  out.stragglers = stragglers(ranks, out.collectives);
  for (const RankCollectives& r : ranks)
    out.exposed_ranks.push_back(
        {r.rank, r.comm_ns, r.exposed_ns, r.hidden_compute_ns, r.hidden_memcpy_ns});
  out.exposed_types = exposed_types(ranks, out.collectives);
  out.groups = process_groups(ranks, out.collectives, per_node, compat);
  for (std::size_t r = 0; r < clocks.alignment.size(); ++r)
    out.clocks.push_back({ranks[r].rank, ranks[r].base_time_ns, clocks.alignment[r]});
  out.findings = collective_findings(out);
  return out;
}

} // namespace rankscope
