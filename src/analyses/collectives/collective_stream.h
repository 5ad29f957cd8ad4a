// The facts and long tables of collective_facts() for runs whose rows do not fit into memory: the
// same values in the same order, from rows in a ByteStore. Ranks are read one after the other and
// released; then process groups are processed one after the other, some collectives at a time.
// Memory use: kilobytes per rank, eight bytes per collective (24 where neither Seq nor order
// numbers them without gaps), 40 per synchronizing one while its process group is processed, and a
// row per all-to-all-v.
#pragma once

#include "analyses/collectives/collective_rows.h"
#include "analyses/collectives/collective_sums.h"
#include "analyses/collectives/collective_times.h"
#include "core/report.h"
#include "core/row_stream.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <vector>

namespace rankscope {

/// The collectives of a group, by their place in it.
class GroupIndex {
public:
  /// Ascending.
  void add(const CollectivePlace& place, bool synchronises);
  [[nodiscard]] std::size_t size() const { return synchronises_.size(); }
  /// Of a place that was added.
  [[nodiscard]] std::size_t find(const CollectivePlace& place) const;
  [[nodiscard]] bool synchronises(std::size_t index) const { return synchronises_[index]; }

  /// Start of the last member; kNotTold where waits are unknown.
  std::vector<std::int64_t> latest_start_ns;
  static constexpr std::int64_t kNotTold = INT64_MIN;

private:
  std::int64_t first_ = 0;              ///< the places are this one and those after it, ...
  std::vector<CollectivePlace> places_; ///< ... unless they are here
  std::vector<bool> synchronises_;
};

class CollectiveStream {
public:
  /// `window_rows`: of a group in memory at once.
  CollectiveStream(ByteStore& store, CollectiveOptions options,
                   std::size_t window_rows = kWindowRows);

  /// Ranks come ascending. Errors: those of the store.
  Result<void> add(RankCollectives rank);
  [[nodiscard]] std::size_t ranks() const { return rows_.ranks().size(); }

  /// After the last rank, once: those of collective_facts(), without its lists `collectives`,
  /// `kernels` and `synchronising`. They refer to this object. Errors: those of collective_facts()
  /// and of the store.
  Result<CollectiveFacts> facts();

  // After facts(), any number of times: the rows of those lists in their order, some at a time.
  // Errors: those of `take` and of the store.
  [[nodiscard]] std::size_t kernels() const { return rows_.rows(); }
  Result<void>
  each_kernel(const std::function<Result<void>(std::span<const CollectiveKernel>)>& take);
  [[nodiscard]] std::size_t synchronising() const { return synchronising_; }
  Result<void>
  each_synchronising(const std::function<Result<void>(std::span<const SyncCollective>)>& take);

  static constexpr std::size_t kWindowRows = std::size_t{1} << 18;

private:
  using TakeTimed = std::function<void(std::vector<TimedCollective>)>;
  class Ends;
  struct Sums;

  void order_groups(std::vector<CollectiveProblem>& problems);
  void index_group(std::size_t group, std::vector<CollectiveProblem>& problems);
  void each_timed(std::size_t group, const TakeTimed& take);
  void sum_up(std::size_t group, const std::vector<TimedCollective>& timed, Sums& sums);
  void keep_all_to_all_v(const TimedCollective& t, std::vector<AllToAllV>& calls);
  [[nodiscard]] bool names_return() const;

  CollectiveRows rows_;
  const CollectiveOptions options_;
  const std::size_t window_rows_;
  std::int64_t per_node_ = 0;
  std::vector<RankSummary> rank_summary_;
  std::vector<GroupOrder> orders_; ///< by group, as the next
  std::vector<GroupIndex> index_;
  Clocks clocks_;
  CollectiveTotals totals_;
  std::size_t synchronising_ = 0;
  std::deque<TimedCollective> all_to_all_v_; ///< without their members
  std::deque<Collective> all_to_all_v_first_;
};

/// Returns collective_tables() of its facts. A long table of more than `held_rows` rows is empty:
/// its rows come from `streams`, which refer to `of`. Errors: those of the store.
Result<Report> streamed_tables(CollectiveStream& of, const CollectiveFacts& facts,
                               const CollectiveOptions& options, std::size_t held_rows,
                               RowStreams& streams);

} // namespace rankscope
