// GPU work that ran at the same time as an operator's kernels, on other streams and for other
// operators (docs/reference/report-rules.md 15).
#pragma once

#include "analyses/operators/launchers.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// Finds the GPU work that overlaps a kernel. Built once per trace in O(n log n). A query costs
/// O(log n) per stream and per overlap found, even if single events are long.
class KernelOverlaps {
public:
  KernelOverlaps(const Trace& trace, const LauncherIndex& index);

  /// The GPU work that overlaps the kernels of one call.
  struct Call {
    std::vector<EventId> others; ///< overlapping events without duplicates, in start order
    /// For each of `others`: its overlap with the merged kernel time of the call.
    std::vector<std::int64_t> other_ns;
    std::int64_t covered_ns = 0; ///< length of the union of these overlaps
    std::int64_t kernel_ns = 0;  ///< merged kernel time of the call
  };
  /// Returns the overlaps, except overlaps shorter than 1 us, events of the same stream or
  /// operator, and `kernels` themselves. An event without a stream counts as on a separate stream.
  [[nodiscard]] Call find(const Trace& trace, std::span<const EventId> kernels) const;

private:
  struct Lane {
    std::int16_t device = -1;
    std::int32_t stream = -1;
    std::vector<EventId> events; ///< in start order
    /// Tree of maxima over the events' ends. Leaf i is at width + i; node i is the parent of nodes
    /// 2i and 2i + 1.
    std::vector<std::int64_t> latest_ns;
    /// Returns the index of the first event from index i on that ends after `ns`, or events.size().
    /// O(log n).
    [[nodiscard]] std::size_t next_ending_after(std::size_t i, std::int64_t ns) const;
  };
  std::vector<Lane> lanes_;
  /// Operator of each GPU event, by event; kNoEvent for other events.
  std::vector<EventId> operator_;
};

struct OverlapsKey {
  using Value = KernelOverlaps;
  LaunchersKey launchers;
  auto operator<=>(const OverlapsKey&) const = default;
};
[[nodiscard]] KernelOverlaps compute(const LoadedTrace& trace, const OverlapsKey& key);

/// Numbers the distinct sets of overlapping kernel names, so that calls can be grouped by them.
class OverlapGroups {
public:
  /// Returns the number of the call's set; 0 if nothing overlapped.
  [[nodiscard]] std::uint32_t id_of(const Trace& trace, const KernelOverlaps::Call& call);

private:
  std::map<std::vector<StrId>, std::uint32_t> ids_;
};

/// Values of overlap_pct, overlapping_kernels_details_summary and trunc_overlapping_kernels_details
/// for a group of calls; NaN and empty texts if nothing overlapped.
struct OverlapCells {
  double pct = 0; ///< share (0 to 1) of the merged kernel time of all calls, rounded to 0.01
  /// Python list with an entry per kernel name and stream, longest overlap first.
  std::string summary;
  std::string truncated; ///< `summary` with shortened names
};
[[nodiscard]] OverlapCells overlap_cells(const Trace& trace,
                                         std::span<const KernelOverlaps::Call> calls);

/// Adds the columns of these values.
template <class Row> void add_overlap_columns(Schema<Row>& schema, OverlapCells Row::*cells) {
  schema.add({"overlap_share", "overlap_pct", Unit::kRatio,
              [cells](const Row& r) { return (r.*cells).pct; },
              "share of the kernel time during which other operators' GPU work ran"});
  schema.add({"overlapping_kernels", "overlapping_kernels_details_summary", Unit::kNone,
              [cells](const Row& r) { return text_or_blank((r.*cells).summary); },
              "Python list of the kernels of other operators that ran at the same time, longest "
              "overlap first"});
  schema.add(
      {"overlapping_kernels_short", "trunc_overlapping_kernels_details", Unit::kNone,
       [cells](const Row& r) { return text_or_blank((r.*cells).truncated); },
       "list of the overlapping kernels, with names cut to 64 characters and only mean times"});
}

} // namespace rankscope
