// RankCollectives: the data of one rank's trace for multi-rank analyses. When they are extracted,
// the trace can be released.
#pragma once

#include "base/interval_set.h"
#include "core/loaded_trace.h"
#include "model/bus_bandwidth.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope {

/// One collective kernel on one rank. Texts are ids of RankCollectives::texts.
struct Collective {
  StrId pg_name = kEmptyStr, pg_ranks = kEmptyStr, pg_description = kEmptyStr;
  StrId name = kEmptyStr; ///< collective name
  StrId dtype = kEmptyStr, in_split = kEmptyStr, out_split = kEmptyStr;
  StrId kernel = kEmptyStr;
  CollectiveKind kind = CollectiveKind::kOther;
  enum class NameFrom : std::uint8_t { kKernelArgs, kOperator, kKernelName, kNone };
  NameFrom name_from = NameFrom::kNone;
  std::int64_t in_nelems = kNoId, out_nelems = kNoId, group_size = kNoId, seq = kNoId;
  /// The ranks of a send or a receive in a group of more than two ranks. Its own rank is always
  /// set, the other rank only if it is recorded.
  std::int64_t src_rank = kNoId, dst_rank = kNoId;
  std::int32_t stream = -1;
  /// Number of the profiler step that launched it (step_of_gpu_event()); -1: none.
  std::int64_t step = -1;
  std::int64_t ts_ns = 0; ///< start time as in the file
  std::int64_t dur_ns = 0;
  std::int64_t hidden_compute_ns = 0; ///< part of dur_ns during which compute kernels ran on this
                                      ///< rank
  std::int64_t hidden_memcpy_ns = 0;  ///< part of the remaining time during which copies ran
  bool has_ids = false;               ///< the kernel carries a correlation or External id

  [[nodiscard]] std::int64_t end_ns() const { return ts_ns + dur_ns; }
  /// Returns whether two ranks of the group take part instead of all.
  [[nodiscard]] bool of_pair() const { return src_rank != kNoId || dst_rank != kNoId; }
  [[nodiscard]] bool knows_pair() const { return src_rank != kNoId && dst_rank != kNoId; }
};

struct RankCollectives {
  std::int64_t rank = 0;
  std::string path;
  std::int64_t base_time_ns = 0;
  std::size_t device_count = 0;
  std::vector<Collective> rows; ///< file order
  StringPool texts;
  std::int64_t comm_ns = 0;    ///< union of all collectives
  std::int64_t exposed_ns = 0; ///< part of comm_ns during which neither compute kernels nor copies
                               ///< ran
  std::int64_t hidden_compute_ns = 0;
  std::int64_t hidden_memcpy_ns = 0;

  [[nodiscard]] std::string_view text(StrId id) const { return texts.view(id); }
  /// Returns the size of an element; 0 = unknown dtype.
  [[nodiscard]] int element_bytes(const Collective& c) const { return dtype_bytes(text(c.dtype)); }
};

/// Returns the number of GPUs per node: `chosen` if it is above 0, else the number of devices that
/// the rank's trace lists. 0 (unknown) if it lists only one, which may be the only GPU that the
/// process can see.
[[nodiscard]] std::int64_t gpus_per_node(std::int64_t chosen, std::int64_t devices);

/// Returns whether no rank leaves a collective of this kind before all have entered it.
[[nodiscard]] bool synchronises(CollectiveKind kind);
/// Returns whether the kind is a send or a receive.
[[nodiscard]] bool is_point_to_point(CollectiveKind kind);

/// Returns the collectives of a trace. The type of a collective comes from the kernel's arguments,
/// else from the linked record_param_comms operator, else from the kernel's name.
[[nodiscard]] RankCollectives extract_collectives(const LoadedTrace& trace);

/// The reference's name for the only group of a rank with kernels that name no group.
inline constexpr std::string_view kEveryCollective = "all";

/// Reduces the rank to the data that the reference uses: kernel arguments, and names found in
/// kernel names. If no kernel of the rank names a group and all are on one stream, their group is
/// kEveryCollective. In this case, kernels of unknown kind count as a kind that synchronises.
void as_reference(RankCollectives& rank);

/// Returns the kernels with these names (flags by StrId) and an External id. Their arguments come
/// from the kernel events only; hidden and exposed times are not computed.
[[nodiscard]] RankCollectives named_collectives(const Trace& trace, std::int64_t rank,
                                                const std::vector<bool>& names);

/// Returns only the kernels with arguments, without hidden and exposed times. This is enough to
/// match collectives and to align clocks. The trace need not be linked.
[[nodiscard]] RankCollectives described_collectives(const Trace& trace, std::int64_t rank);

} // namespace rankscope
