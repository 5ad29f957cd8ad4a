// Logs of the Inspector plugins of NCCL and RCCL (format v4.x), which grow while a job runs: JSON
// objects one behind the other, usually one a line.
//
//   {"header": {"id": "0x7f..", "comm_name": "default_pg", "rank": 2, "n_ranks": 4, ..},
//    "metadata": {"inspector_output_format_version": "v4.0", "dump_timestamp_us": N, ..},
//    "coll_perf": {"coll": "AllReduce", "coll_sn": 1, "coll_msg_size_bytes": N,
//                  "coll_exec_time_us": N, "coll_timing_source": "kernel_gpu",
//                  "coll_busbw_gbs": X, ..}}
//
// or with "p2p_perf" or "proxy_op" in place of coll_perf (passed over), or with "dump_stats" (how
// many records the plugin dropped before it wrote). An object without header or metadata has that
// of the object before it.
#pragma once

#include "core/inspector_record.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

/// What a piece of a log holds.
struct InspectorPiece {
  std::vector<InspectorRecord> records; ///< of collectives, in file order
  std::uint64_t dropped = 0;            ///< collectives that the plugin says it dropped
  std::uint64_t bad = 0;                ///< stretches that are no object of this format
  std::size_t used = 0;                 ///< bytes; what is behind them has not ended yet
  /// When the newest object was written that says that the process works, in unix us; other ones
  /// than those of collectives (point to point, the proxy's, what was dropped) say so too. 0: none.
  std::int64_t works_us = 0;
};

/// An object that is longer is none.
inline constexpr std::size_t kLongestInspectorObject = std::size_t{1} << 20;

/// Reads the objects that end within `text`. `last` is the header of the object before, and then of
/// the last one here.
[[nodiscard]] InspectorPiece read_inspector(std::string_view text, InspectorHeader& last);

/// By the first bytes of a file (some kilobytes): whether it is such a log.
[[nodiscard]] bool is_inspector_log(std::string_view head);

} // namespace rankscope
