// What the Inspector plugins of NCCL and RCCL tell of one collective on one rank.
#pragma once

#include <cstdint>
#include <string>

namespace rankscope {

/// Whom a record is of, and when it was written.
struct InspectorHeader {
  std::string comm;                    ///< the communicator's hash: the same on all its ranks
  std::string name;                    ///< given by the program; "" = none
  std::int64_t rank = -1, n_ranks = 0; ///< in the communicator
  std::int64_t written_us = 0;         ///< unix time of the line, later than the collective
};

struct InspectorRecord {
  InspectorHeader header;
  std::string what;          ///< "AllReduce"
  std::uint64_t number = 0;  ///< in the communicator, the same on all its ranks
  std::uint64_t bytes = 0;   ///< of the call's buffer on a rank
  std::uint32_t exec_us = 0; ///< on this rank, with the wait for those that come later
  double bus_gbps = 0;       ///< 0 = none is defined (all-to-all)
  bool kernel_timed = true;  ///< false: by the host's calls alone
};

/// A communicator larger than this is none.
inline constexpr std::int64_t kMostInspectorRanks = 1 << 20;

} // namespace rankscope
