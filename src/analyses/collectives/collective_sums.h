// The parts of CollectiveFacts, each computed from timed collectives or from ranks.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "base/sort.h"

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace rankscope {

inline constexpr double kGib = 1.073741824; ///< 1024^3 / 10^9

/// Sorts the rows stably, largest value first, NaN last.
template <class Row, class Value> void largest_first(std::vector<Row>& rows, Value value) {
  sort_stably(rows, [&](const Row& a, const Row& b) {
    const double x = value(a);
    const double y = value(b);
    return std::isnan(x) || std::isnan(y) ? !std::isnan(x) && std::isnan(y) : x > y;
  });
}

/// Returns the integers in "[0, 1, ...]".
[[nodiscard]] std::vector<std::int64_t> numbers_in(std::string_view list);
/// Returns intra_node if all members of "[0, 1, ...]" share a node, else inter_node. Returns
/// unknown without per_node or members.
[[nodiscard]] std::string_view node_span(std::string_view group_ranks, std::int64_t per_node);
/// Returns the size of a buffer in MiB; NaN if the type or the number of elements is unknown.
[[nodiscard]] double mib_of(const RankCollectives& r, const Collective& c, std::int64_t nelems);

/// Sums over collectives that are added one by one, in the order of MatchResult. settle() computes
/// the medians of the process groups added so far and releases their samples; no more collectives
/// of these groups may be added. Calling settle() is optional: the results are the same without it.
class SyncSummarySums {
public:
  SyncSummarySums(std::int64_t per_node, bool compat_tracelens)
      : per_node_(per_node), compat_(compat_tracelens) {}
  void add(const TimedCollective& t); ///< ignores collectives that do not synchronise
  void settle();
  [[nodiscard]] std::vector<SyncSummary> take();

private:
  using Key = std::tuple<std::string, std::string, std::int64_t, std::string>;
  struct Sum {
    SyncSummary row;
    std::array<std::vector<double>, 5> samples;
    std::map<std::int64_t, std::pair<double, std::int64_t>> step_bus_gbps; ///< sum and count
    void settle();
  };
  std::int64_t per_node_;
  bool compat_;
  std::map<Key, Sum> sums_;
  std::vector<Sum*> open_;
};

class GroupSums {
public:
  GroupSums(std::int64_t per_node, bool compat_tracelens)
      : per_node_(per_node), compat_(compat_tracelens) {}
  void add(const std::vector<RankCollectives>& ranks, const TimedCollective& t);
  void settle();
  [[nodiscard]] std::vector<GroupSummary> take();

private:
  struct Sum {
    GroupSummary group;
    std::vector<double> bus;
    void settle();
  };
  std::int64_t per_node_;
  bool compat_;
  std::map<std::pair<std::string, std::string>, Sum> sums_;
  std::vector<Sum*> open_;
};

class ExposedTypeSums {
public:
  void add(const std::vector<RankCollectives>& ranks, const TimedCollective& t);
  [[nodiscard]] std::vector<ExposedType> take();

private:
  using Sums = std::map<std::string, ExposedType, std::less<>>;
  Sums named_;
  Sums unnamed_; ///< collectives without a recorded name, by the name of the kernel
};

class SentSums {
public:
  explicit SentSums(bool compat_tracelens) : compat_(compat_tracelens) {}
  void add(const std::vector<RankCollectives>& ranks, const TimedCollective& t);
  [[nodiscard]] std::vector<SentTo> take();

private:
  bool compat_;
  std::map<std::pair<std::int64_t, std::int64_t>, SentTo> sums_;
};

/// Returns whether the collective can compare ranks: no member is missing and all members wait for
/// each other.
[[nodiscard]] bool compares_ranks(const TimedCollective& t);

/// Numbers the profiler steps of the collectives that compares_ranks() accepts. The step of a
/// collective is that of its first member. A trace without profiler steps counts as one step: parts
/// of it would not be independent samples, since lateness carries over from one collective to the
/// next.
class StepNumbers {
public:
  /// Returns the number of the collective's step.
  std::size_t add(const TimedCollective& t);
  /// Returns the step number that add() gave to the collectives outside of the profiler steps; they
  /// are not a sample. Empty if there are no such collectives, or only such collectives.
  [[nodiscard]] std::optional<std::size_t> outside() const;

private:
  static constexpr std::int64_t kNoStep = -1;

  std::map<std::int64_t, std::size_t> numbers_;
};

class StragglerSums {
public:
  explicit StragglerSums(std::size_t ranks) : sums_(ranks) {}
  /// Adds a collective; requires compares_ranks(t).
  void add(const std::vector<RankCollectives>& ranks, const TimedCollective& t, std::size_t step);
  /// `outside`: result of StepNumbers::outside(): the step that is not a sample.
  [[nodiscard]] std::vector<Straggler> take(const std::vector<RankCollectives>& ranks,
                                            std::optional<std::size_t> outside);

private:
  struct Sum {
    Straggler rank;
    std::int64_t lateness_ns = 0;
    double latest_us = 0; ///< lateness at Straggler::latest
    using SumAndCount = std::pair<double, std::int64_t>;
    std::map<std::size_t, SumAndCount> late_us; ///< by step
    std::map<std::size_t, double> by_group;     ///< sum of lateness, us, by value of groups_
  };
  std::vector<Sum> sums_;
  std::map<std::string, std::size_t> groups_; ///< number of each group
};

/// Returns the row of `t`, an all-to-all-v. The row refers to `t`.
[[nodiscard]] AllToAllV all_to_all_v_of(const std::vector<RankCollectives>& ranks,
                                        const TimedCollective& t, bool compat_tracelens);
/// Returns the row of a synchronizing collective. The row refers to `t`.
[[nodiscard]] SyncCollective sync_collective_of(const std::vector<RankCollectives>& ranks,
                                                const TimedCollective& t);

[[nodiscard]] std::vector<SyncSummary> sync_summary(const std::vector<TimedCollective>& timed,
                                                    std::int64_t per_node, bool compat_tracelens);
/// Returns the summaries, with nodes if per_node > 0.
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
/// `calls` must be in the order of the collectives.
[[nodiscard]] std::vector<AllToAllVSummary>
all_to_all_v_summary(const std::vector<AllToAllV>& calls);
/// Returns the amounts that ranks send to each other in all-to-all-v. The i-th split goes to the
/// i-th member of the group. (The reference uses i as the rank, which is wrong in sub-groups.)
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
