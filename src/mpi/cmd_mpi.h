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
  bool joined = false;      ///< it has begun to hand its share over
  bool handed_over = false; ///< and is done with that
};

[[nodiscard]] std::span<const Command* const> mpi_commands();
/// The flags of such a command, and those of a job. Its action is to be called with a JobContext.
[[nodiscard]] Action setup_job(const Command& command, FlagSet& flags);

} // namespace rankscope
