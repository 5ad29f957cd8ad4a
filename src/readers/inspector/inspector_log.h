// Logs of the Inspector plugins of NCCL and RCCL (format v4.x), which grow while a job runs: JSON
// objects one after the other, usually one per line.
//
//   {"header": {"id": "0x7f..", "comm_name": "default_pg", "rank": 2, "n_ranks": 4, ..},
//    "metadata": {"inspector_output_format_version": "v4.0", "dump_timestamp_us": N, ..},
//    "coll_perf": {"coll": "AllReduce", "coll_sn": 1, "coll_msg_size_bytes": N,
//                  "coll_exec_time_us": N, "coll_timing_source": "kernel_gpu",
//                  "coll_busbw_gbs": X, ..}}
//
// or with "p2p_perf" or "proxy_op" in place of coll_perf (skipped), or with "dump_stats" (how many
// records the plugin dropped before it wrote). An object without header or metadata uses that of
// the previous object.
#pragma once

#include "core/inspector_record.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

/// The content of a part of a log.
struct InspectorPiece {
  std::vector<InspectorRecord> records; ///< one per collective, in file order
  std::uint64_t dropped = 0;            ///< collectives that the plugin reports as dropped
  std::uint64_t bad = 0;                ///< pieces of text that are not objects of this format
  std::size_t used = 0;                 ///< number of bytes read; an incomplete object may follow
  /// Unix time in us of the newest object that shows that the process works. Point-to-point and
  /// proxy objects and counts of dropped records also show this. 0: no such object.
  std::int64_t works_us = 0;
};

/// The size limit of an object; longer objects are rejected.
inline constexpr std::size_t kLongestInspectorObject = std::size_t{1} << 20;

/// Reads the objects that end within `text`. `last` is the header of the previous object, and
/// becomes the header of the last object read.
[[nodiscard]] InspectorPiece read_inspector(std::string_view text, InspectorHeader& last);

/// Returns whether the first bytes of a file (some kilobytes) are the start of such a log.
[[nodiscard]] bool is_inspector_log(std::string_view head);

} // namespace rankscope
