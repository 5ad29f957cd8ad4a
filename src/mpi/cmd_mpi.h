// The commands of rankscope-mpi: those over ranks, run by all processes of a job.
#pragma once

#include "cli/command.h"
#include "mpi/mpi_link.h"

#include <span>

namespace rankscope {

/// The context of a process of a job.
class JobContext final : public Context {
public:
  explicit JobContext(MpiJob& mpi) : job(mpi) {}

  MpiJob& job;
  bool joined = false;      ///< it has begun to send its shard
  bool handed_over = false; ///< it has sent its shard
};

[[nodiscard]] std::span<const Command* const> mpi_commands();
/// Declares the flags of such a command and of a job. The action must be called with a JobContext.
[[nodiscard]] Action setup_job(const Command& command, FlagSet& flags);

} // namespace rankscope
