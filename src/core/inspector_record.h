// A record of one collective on one rank, written by the Inspector plugin of NCCL or RCCL.
#pragma once

#include <cstdint>
#include <string>

namespace rankscope {

/// The communicator and rank of a record, and the time when it was written.
struct InspectorHeader {
  std::string comm;                    ///< hash of the communicator, equal on all its ranks
  std::string name;                    ///< name that the program gave to the communicator; "" =
                                       ///< unnamed
  std::int64_t rank = -1, n_ranks = 0; ///< rank and number of ranks in the communicator
  std::int64_t written_us = 0;         ///< Unix time at which the line was written, later than the
                                       ///< collective
};

struct InspectorRecord {
  InspectorHeader header;
  std::string what;          ///< "AllReduce"
  std::uint64_t number = 0;  ///< sequence number in the communicator, equal on all its ranks
  std::uint64_t bytes = 0;   ///< size of the call's buffer on a rank
  std::uint32_t exec_us = 0; ///< duration on this rank, including the wait for ranks that start
                             ///< later
  double bus_gbps = 0;       ///< 0 = not defined (all-to-all)
  bool kernel_timed = true;  ///< true: GPU times of the kernel; false: times of host calls only
};

/// The maximum number of ranks in a communicator; records with more are rejected.
inline constexpr std::int64_t kMostInspectorRanks = 1 << 20;

} // namespace rankscope
