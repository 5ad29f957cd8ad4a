// What the collectives of a run say, in sentences.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "base/statistics.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace rankscope {

/// Looks for a collective far below what its own kind and size reach otherwise.
class SlowCollectives {
public:
  /// One that synchronises. They come in the order of MatchResult.
  void add(const TimedCollective& t);
  /// No other one of the process groups so far will come: their samples are given up.
  void settle();
  /// The slowest, when there is one below the interval in which one more of the others would be
  /// expected (Student's t), of as many as were added.
  [[nodiscard]] std::optional<CollectiveSentence> take();

private:
  struct Kind {
    std::vector<double> bus_gbps;
    std::size_t least_at = 0; ///< of them the first that is smallest
    double least = 0;
    std::string id; ///< of that one
    SampleStats others;
    void settle();
  };
  /// Of a group, a name, a type and a number of elements.
  std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, Kind> kinds_;
  std::vector<Kind*> open_;
  std::size_t added_ = 0;
};

/// What findings need of single collectives.
struct CollectiveTotals {
  std::size_t matched = 0, incomplete = 0;
  std::optional<CollectiveSentence> slow;
};

/// From the facts (their `findings` are not looked at).
[[nodiscard]] std::vector<CollectiveSentence> collective_findings(const CollectiveFacts& facts);
/// The same where single collectives are not among the facts.
[[nodiscard]] std::vector<CollectiveSentence> collective_findings(const CollectiveFacts& facts,
                                                                  const CollectiveTotals& totals);

/// A line for each time that ranks differ in: smallest, quartiles and largest over the ranks, and
/// whose the largest is. Empty for a rank alone.
[[nodiscard]] std::vector<std::string> rank_spreads(const CollectiveFacts& facts);

/// Rows of the same name, type, size and group size, whatever their group: thousands of groups of
/// two become a row ("5000 groups"). Means by the number of collectives; medians, deviations and
/// extremes of the mean alone. Most latency first.
[[nodiscard]] std::vector<SyncSummary> over_like_groups(std::span<const SyncSummary> rows);

} // namespace rankscope
