// The shard (part of a job's work) that this process handles. It is read from --shard, or from the
// environment variables that a launcher (Slurm, Open MPI, MPICH, torchrun, Kubernetes) sets for its
// tasks.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// Shard `index` of `count`, 0 <= index < count.
struct Shard {
  std::size_t index = 0, count = 1;
  std::string source; ///< where the shard is from: "--shard", "SLURM_PROCID", ...
  bool operator==(const Shard&) const = default;
};

/// Returns the value of an environment variable; empty = not set.
using EnvironmentLookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Returns a function that reads the environment of this process.
[[nodiscard]] EnvironmentLookup process_environment();

/// Returns the shard given by `flag` ("I/N", I from 0; empty = not given) or by the environment;
/// empty if neither gives one. A variable that is set to "" counts as not set. The sources, in
/// order of precedence:
///
///   --shard
///   OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE    mpirun of Open MPI
///   PMI_RANK, PMI_SIZE (or PMIX_RANK, PMI_SIZE)   mpirun of MPICH
///   RANK, WORLD_SIZE if TORCHELASTIC_RUN_ID       torchrun
///   SLURM_PROCID, SLURM_NTASKS                    srun
///   RANK, WORLD_SIZE                              other launchers that follow PyTorch
///   JOB_COMPLETION_INDEX, JOB_COMPLETIONS         indexed Kubernetes job, which sets the first
///
/// mpirun and torchrun come before srun because they run within a task of srun: all their tasks
/// inherit the same SLURM_PROCID. In a job array (SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _STEP) each
/// element has one shard, which its tasks divide: element 2 of 4, task 1 of 3 is shard 7 of 12. In
/// a batch script outside srun, there must be only one task; if the script requested several, an
/// error is returned. Errors: kUsage, which names the variable that is missing or not a number, or
/// the shard whose index is not less than its count.
Result<std::optional<Shard>> shard_from(std::string_view flag, const EnvironmentLookup& lookup);

} // namespace rankscope
