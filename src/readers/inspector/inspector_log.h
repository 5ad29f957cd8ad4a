// Reads the logs of the Inspector plugins of NCCL and RCCL (format v4.x). A log grows while the job
// runs. It is a sequence of JSON objects, usually one per line.
//
//   {"header": {"id": "0x7f..", "comm_name": "default_pg", "rank": 2, "n_ranks": 4, ..},
//    "metadata": {"inspector_output_format_version": "v4.0", "dump_timestamp_us": N, ..},
//    "coll_perf": {"coll": "AllReduce", "coll_sn": 1, "coll_msg_size_bytes": N,
//                  "coll_exec_time_us": N, "coll_timing_source": "kernel_gpu",
//                  "coll_busbw_gbs": X, ..}}
//
// Instead of coll_perf, an object may contain "p2p_perf" or "proxy_op", which are skipped, or
// "dump_stats", the number of records that the plugin dropped. An object without header or metadata
// has those of the previous object.
#pragma once

#include "core/inspector_record.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

/// The content of some bytes of a log.
struct InspectorPiece {
  std::vector<InspectorRecord> records; ///< one per collective, in file order
  std::uint64_t dropped = 0;            ///< collectives that the plugin reports as dropped
  std::uint64_t bad = 0;                ///< number of texts that are not objects of this format
  std::size_t used = 0;                 ///< number of bytes that were read; the rest may be an
                                        ///< incomplete object
  /// Unix time in us of the newest object that shows that the process still works: a collective, a
  /// point-to-point or proxy object, or a count of dropped records. 0: there is no such object.
  std::int64_t works_us = 0;
};

/// The maximum size of an object; larger objects are rejected.
inline constexpr std::size_t kLongestInspectorObject = std::size_t{1} << 20;

/// Reads the objects that end within `text`. `last` is the header of the object before `text`; it
/// is set to the header of the last object in `text`.
[[nodiscard]] InspectorPiece read_inspector(std::string_view text, InspectorHeader& last);

/// Returns whether the first bytes of a file (some kilobytes) are from such a log.
[[nodiscard]] bool is_inspector_log(std::string_view head);

} // namespace rankscope
