// The parts of CollectiveFacts, each made of timed collectives or of ranks.
#pragma once

#include "analyses/collectives/collective_facts.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

inline constexpr double kGib = 1.073741824; ///< 1024^3 / 10^9

/// Stable, largest first, NaN last.
template <class Row, class Of> void largest_first(std::vector<Row>& rows, Of of) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const double x = of(a);
    const double y = of(b);
    return std::isnan(x) || std::isnan(y) ? !std::isnan(x) && std::isnan(y) : x > y;
  });
}

/// The integers of "[0, 1, ...]".
[[nodiscard]] std::vector<std::int64_t> numbers_in(std::string_view list);
/// intra_node when all members of "[0, 1, ...]" share a node; unknown without per_node.
[[nodiscard]] std::string node_span(std::string_view group_ranks, std::int64_t per_node);
/// Size of a buffer; NaN without a known type or number of elements.
[[nodiscard]] double mib_of(const RankCollectives& r, const Collective& c, std::int64_t nelems);

[[nodiscard]] std::vector<SyncSummary> sync_summary(const std::vector<TimedCollective>& timed,
                                                    bool compat_tracelens);
/// Nodes are filled in when per_node > 0.
[[nodiscard]] std::vector<RankSummary>
rank_summary(const std::vector<const RankCollectives*>& ranks, std::int64_t per_node);
[[nodiscard]] std::vector<CollectiveKernel>
collective_kernels(const std::vector<RankCollectives>& ranks,
                   const std::vector<TimedCollective>& timed);
[[nodiscard]] std::vector<SyncCollective> synchronising(const std::vector<RankCollectives>& ranks,
                                                        const std::vector<TimedCollective>& timed);
[[nodiscard]] std::vector<AllToAllV> all_to_all_v(const std::vector<RankCollectives>& ranks,
                                                  const std::vector<TimedCollective>& timed,
                                                  bool compat_tracelens);
/// `calls` in the order of the collectives.
[[nodiscard]] std::vector<AllToAllVSummary>
all_to_all_v_summary(const std::vector<AllToAllV>& calls);
/// Who sends how much to whom in all-to-all-v: the i-th split goes to the i-th member of the group
/// (the reference takes i as the rank itself, which is wrong in sub-groups).
[[nodiscard]] std::vector<SentTo> all_to_all_v_sent(const std::vector<RankCollectives>& ranks,
                                                    const std::vector<TimedCollective>& timed,
                                                    bool compat_tracelens);
[[nodiscard]] std::vector<Straggler> stragglers(const std::vector<RankCollectives>& ranks,
                                                const std::vector<TimedCollective>& timed);
[[nodiscard]] std::vector<ExposedType> exposed_types(const std::vector<RankCollectives>& ranks,
                                                     const std::vector<TimedCollective>& timed);
[[nodiscard]] std::vector<GroupSummary> process_groups(const std::vector<RankCollectives>& ranks,
                                                       const std::vector<TimedCollective>& timed,
                                                       std::int64_t per_node,
                                                       bool compat_tracelens);

} // namespace rankscope
