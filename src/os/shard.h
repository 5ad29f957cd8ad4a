// The shard of a job's work that this process handles. It is read from --shard, or from the
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
  std::string source; ///< source of the shard: "--shard", "SLURM_PROCID", ...
  bool operator==(const Shard&) const = default;
};

/// Returns the value of an environment variable; empty = not set.
using EnvironmentLookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Returns a lookup in the environment of this process.
[[nodiscard]] EnvironmentLookup process_environment();

/// Returns the shard that `flag` ("I/N", I from 0; empty = not given) or the environment names;
/// empty when neither does. A set but empty variable counts as not set. In this order:
///
///   --shard
///   OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE    mpirun of Open MPI
///   PMI_RANK, PMI_SIZE (or PMIX_RANK, PMI_SIZE)   mpirun of MPICH
///   RANK, WORLD_SIZE if TORCHELASTIC_RUN_ID       torchrun
///   SLURM_PROCID, SLURM_NTASKS                    srun
///   RANK, WORLD_SIZE                              other launchers that follow PyTorch
///   JOB_COMPLETION_INDEX, JOB_COMPLETIONS         indexed Kubernetes job, which sets the first
///
/// mpirun and torchrun come before srun because they run within it: their tasks all have the
/// SLURM_PROCID of the process that srun started. In a job array (SLURM_ARRAY_TASK_ID, _COUNT,
/// _MIN, _STEP) each element has one shard, which its tasks divide: element 2 of 4, task 1 of 3 is
/// shard 7 of 12. A batch script outside srun is one task at most: if it requested several, that is
/// an error. Errors: kUsage, which names the variable that is missing or not a number, or the shard
/// that is not within its count.
Result<std::optional<Shard>> shard_from(std::string_view flag, const EnvironmentLookup& lookup);

} // namespace rankscope
