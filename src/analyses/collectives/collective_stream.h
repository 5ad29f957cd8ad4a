// The facts and long tables of collective_facts() for runs whose rows do not fit into memory. The
// values and their order are those of collective_facts(); the rows are in a ByteStore. Ranks are
// read and released one after the other. Then process groups are processed one after the other,
// some collectives at a time. Memory use: kilobytes per rank, eight bytes per collective (24 if
// neither Seq nor order numbers them without gaps). In addition, 40 bytes per synchronizing
// collective while its process group is processed, and a row per all-to-all-v.
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

/// The collectives of a group, indexed by their places.
class GroupIndex {
public:
  /// Adds a collective. Places must be added in ascending order.
  void add(const CollectivePlace& place, bool synchronises);
  [[nodiscard]] std::size_t size() const { return synchronises_.size(); }
  /// Returns the index of a place that was added.
  [[nodiscard]] std::size_t find(const CollectivePlace& place) const;
  [[nodiscard]] bool synchronises(std::size_t index) const { return synchronises_[index]; }

  /// Start of the last member of each collective; kUnknownStart if the waits are unknown.
  std::vector<std::int64_t> latest_start_ns;
  static constexpr std::int64_t kUnknownStart = INT64_MIN;

private:
  std::int64_t first_ = 0; ///< first place; if `places_` is empty, the other places follow without
                           ///< gaps
  std::vector<CollectivePlace> places_; ///< all places, if they have gaps
  std::vector<bool> synchronises_;
};

class CollectiveStream {
public:
  /// `window_rows`: number of rows of a group in memory at once.
  CollectiveStream(ByteStore& store, CollectiveOptions options,
                   std::size_t window_rows = kWindowRows);

  /// Adds a rank. Ranks must be added in ascending order. Errors: those of the store.
  Result<void> add(RankCollectives rank);
  [[nodiscard]] std::size_t ranks() const { return rows_.ranks().size(); }

  /// Returns the facts of collective_facts(), without the lists `collectives`, `kernels` and
  /// `synchronising`. Must be called once, after the last rank. The facts refer to this object.
  /// Errors: those of collective_facts() and of the store.
  Result<CollectiveFacts> facts();

  // The rows of the lists `kernels` and `synchronising` in order, some at a time. May be called any
  // number of times after facts(). Errors: those of `use` and of the store.
  [[nodiscard]] std::size_t kernels() const { return rows_.rows(); }
  Result<void>
  each_kernel(const std::function<Result<void>(std::span<const CollectiveKernel>)>& use);
  [[nodiscard]] std::size_t synchronising() const { return synchronising_; }
  Result<void>
  each_synchronising(const std::function<Result<void>(std::span<const SyncCollective>)>& use);

  static constexpr std::size_t kWindowRows = std::size_t{1} << 18;

private:
  using UseTimed = std::function<void(std::vector<TimedCollective>)>;
  class Ends;
  struct Sums;

  void order_groups(std::vector<CollectiveProblem>& problems);
  void index_group(std::size_t group, std::vector<CollectiveProblem>& problems);
  void each_timed(std::size_t group, const UseTimed& use);
  void sum_up(std::size_t group, const std::vector<TimedCollective>& timed, Sums& sums);
  void keep_all_to_all_v(const TimedCollective& t, std::vector<AllToAllV>& calls);
  [[nodiscard]] bool names_return() const;

  CollectiveRows rows_;
  const CollectiveOptions options_;
  const std::size_t window_rows_;
  std::int64_t per_node_ = 0;
  std::vector<RankSummary> rank_summary_;
  std::vector<GroupOrder> orders_; ///< by group
  std::vector<GroupIndex> index_;
  Clocks clocks_;
  CollectiveTotals totals_;
  std::size_t synchronising_ = 0;
  std::deque<TimedCollective> all_to_all_v_; ///< without members
  std::deque<Collective> all_to_all_v_first_;
};

/// Returns collective_tables() of the facts. A long table of more than `most_rows` rows is empty:
/// its rows come from `streams`, which refer to `stream`. Errors: those of the store.
Result<Report> streamed_tables(CollectiveStream& stream, const CollectiveFacts& facts,
                               const CollectiveOptions& options, std::size_t most_rows,
                               RowStreams& streams);

} // namespace rankscope
