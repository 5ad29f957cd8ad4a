// GPU work that ran at the same time as an operator's kernels, on other streams and for other
// operators (docs/reference/report-rules.md 15).
#pragma once

#include "analyses/operators/launchers.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// Finds what overlaps a kernel. Built once per trace: O(n log n); a query costs log n for each
/// stream and for each overlap that it finds, however long single events are.
class KernelOverlaps {
public:
  KernelOverlaps(const Trace& trace, const LauncherIndex& index);

  /// What overlaps the kernels of one call.
  struct Call {
    std::vector<EventId> others;        ///< each once, in start order
    std::vector<std::int64_t> other_ns; ///< of the call's merged kernel time under each
    std::int64_t covered_ns = 0;        ///< union of those times
    std::int64_t kernel_ns = 0;         ///< merged kernel time of the call
  };
  /// Left out: overlaps shorter than 1 us, events of the same stream, of the same operator, and
  /// `kernels` themselves. An event without a stream counts as on a separate stream.
  [[nodiscard]] Call of(const Trace& trace, std::span<const EventId> kernels) const;

private:
  struct Lane {
    std::int16_t device = -1;
    std::int32_t stream = -1;
    std::vector<EventId> events; ///< in start order
    /// Tree of maxima over the events' ends: leaf i at width + i, node i above 2i and 2i + 1.
    std::vector<std::int64_t> latest_ns;
    /// First event from index i on that ends after `ns`, or events.size(). O(log n).
    [[nodiscard]] std::size_t next_ending_after(std::size_t i, std::int64_t ns) const;
  };
  std::vector<Lane> lanes_;
  std::vector<EventId> operator_; ///< by event: operator of a GPU event, else kNoEvent
};

struct OverlapsKey {
  using Value = KernelOverlaps;
  LaunchersKey launchers;
  auto operator<=>(const OverlapsKey&) const = default;
};
[[nodiscard]] KernelOverlaps compute(const LoadedTrace& trace, const OverlapsKey& key);

/// Numbers the sets of names of overlapping kernels, by which calls are grouped.
class OverlapGroups {
public:
  /// 0 when nothing overlapped.
  [[nodiscard]] std::uint32_t id_of(const Trace& trace, const KernelOverlaps::Call& call);

private:
  std::map<std::vector<StrId>, std::uint32_t> ids_;
};

/// What a group of calls has in overlap_pct, overlapping_kernels_details_summary and
/// trunc_overlapping_kernels_details; NaN and empty texts when nothing overlapped.
struct OverlapCells {
  double pct = 0;        ///< share (0 to 1) of the merged kernel time of all calls, hundredths
  std::string summary;   ///< Python list, an entry per kernel name and stream, longest cover first
  std::string truncated; ///< the same, names cut
};
[[nodiscard]] OverlapCells overlap_cells(const Trace& trace,
                                         std::span<const KernelOverlaps::Call> calls);

/// Their columns.
template <class Row> void add_overlap_columns(Schema<Row>& schema, OverlapCells Row::*of) {
  schema.add({"overlap_share", "overlap_pct", Unit::kRatio,
              [of](const Row& r) { return (r.*of).pct; },
              "share of the kernel time during which other operators' GPU work ran"});
  schema.add({"overlapping_kernels", "overlapping_kernels_details_summary", Unit::kNone,
              [of](const Row& r) { return text_or_blank((r.*of).summary); },
              "Python list of the kernels that ran at the same time, longest cover first"});
  schema.add({"overlapping_kernels_short", "trunc_overlapping_kernels_details", Unit::kNone,
              [of](const Row& r) { return text_or_blank((r.*of).truncated); },
              "the same with names cut to 64 characters and the mean alone"});
}

} // namespace rankscope
