// The commands of rankscope-mpi: the commands that read several ranks, run by all processes of a
// job.
#pragma once

#include "cli/command.h"
#include "mpi/mpi_link.h"

#include <span>

namespace rankscope {

/// The context of one process of a job.
class JobContext final : public Context {
public:
  explicit JobContext(MpiJob& mpi) : job(mpi) {}

  MpiJob& job;
  bool joined = false;      ///< the process has begun to send its shard
  bool handed_over = false; ///< the process has sent its shard
};

[[nodiscard]] std::span<const Command* const> mpi_commands();
/// Declares the flags of a command and of a job. The returned action must be called with a
/// JobContext.
[[nodiscard]] Action setup_job(const Command& command, FlagSet& flags);

} // namespace rankscope
