// RankCollectives: what multi-rank analyses keep of one rank's trace, so that the trace can be
// released.
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
  std::int32_t stream = -1;
  std::int64_t step = -1; ///< ProfilerStep number of the last step begun before it; -1 = none
  std::int64_t ts_ns = 0; ///< as in the file
  std::int64_t dur_ns = 0;
  std::int64_t hidden_compute_ns = 0; ///< of it while compute kernels ran on this rank
  std::int64_t hidden_memcpy_ns = 0;  ///< of the rest, while copies ran
  bool has_ids = false;               ///< the kernel carries a correlation or External id

  [[nodiscard]] std::int64_t end_ns() const { return ts_ns + dur_ns; }
};

struct RankCollectives {
  std::int64_t rank = 0;
  std::string path;
  std::int64_t base_time_ns = 0;
  std::size_t device_count = 0;
  std::vector<Collective> rows; ///< file order
  StringPool texts;
  std::int64_t comm_ns = 0;    ///< union of all collectives
  std::int64_t exposed_ns = 0; ///< of it, neither compute nor copy ran
  std::int64_t hidden_compute_ns = 0;
  std::int64_t hidden_memcpy_ns = 0;

  [[nodiscard]] std::string_view text(StrId id) const { return texts.view(id); }
  /// 0 = unknown dtype.
  [[nodiscard]] int element_bytes(const Collective& c) const { return dtype_bytes(text(c.dtype)); }
};

/// Whether a collective of this kind lets nobody go before all have come.
[[nodiscard]] bool synchronises(CollectiveKind kind);

/// The type of a collective comes from the kernel's arguments, else from the linked
/// record_param_comms operator, else from the kernel's name.
[[nodiscard]] RankCollectives extract_collectives(const LoadedTrace& trace);

/// The name of the one group of a rank whose kernels name none, as the reference has it.
inline constexpr std::string_view kEveryCollective = "all";

/// What the reference knows of them: the arguments of the kernels alone, and names that it finds in
/// kernels. When no kernel of the rank names a group and all are on one stream, their group is
/// kEveryCollective, and those without a name count as a kind that synchronises.
void as_reference(RankCollectives& rank);

/// The kernels of these names (by StrId) that carry an External id, with their own arguments alone
/// and without what is hidden or exposed.
[[nodiscard]] RankCollectives named_collectives(const Trace& trace, std::int64_t rank,
                                                const std::vector<bool>& names);

/// Only the kernels that carry arguments of their own, without what is hidden or exposed: enough to
/// match and to align, and the trace need not be linked.
[[nodiscard]] RankCollectives described_collectives(const Trace& trace, std::int64_t rank);

} // namespace rankscope
