// A record of one collective on one rank, from the Inspector plugins of NCCL and RCCL.
#pragma once

#include <cstdint>
#include <string>

namespace rankscope {

/// The communicator and rank of a record, and when it was written.
struct InspectorHeader {
  std::string comm;                    ///< the communicator's hash, equal on all its ranks
  std::string name;                    ///< name given by the program; "" = unnamed
  std::int64_t rank = -1, n_ranks = 0; ///< rank and number of ranks in the communicator
  std::int64_t written_us = 0;         ///< unix time of the line, later than the collective
};

struct InspectorRecord {
  InspectorHeader header;
  std::string what;          ///< "AllReduce"
  std::uint64_t number = 0;  ///< sequence number in the communicator, equal on all its ranks
  std::uint64_t bytes = 0;   ///< size of the call's buffer on a rank
  std::uint32_t exec_us = 0; ///< time on this rank, including the wait for ranks that start later
  double bus_gbps = 0;       ///< 0 = not defined (all-to-all)
  bool kernel_timed = true;  ///< false: timed by host calls only
};

/// The most ranks of a communicator; larger communicators are rejected.
inline constexpr std::int64_t kMostInspectorRanks = 1 << 20;

} // namespace rankscope
