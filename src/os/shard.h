// Which share of a job's work is this process's: what a launcher (Slurm, Open MPI, MPICH, torchrun,
// Kubernetes) tells its tasks by environment variables, or what --shard says.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// Share `index` of `count`, 0 <= index < count.
struct Shard {
  std::size_t index = 0, count = 1;
  std::string source; ///< who says so: "--shard", "SLURM_PROCID", ...
  bool operator==(const Shard&) const = default;
};

/// The value of a variable; none = not set.
using EnvironmentLookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Ours.
[[nodiscard]] EnvironmentLookup process_environment();

/// The share that `flag` ("I/N", I from 0; empty = not given) or the environment names; none when
/// neither does. A set but empty variable counts as not set. In this order:
///
///   --shard
///   OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE    mpirun of Open MPI
///   PMI_RANK, PMI_SIZE (or PMIX_RANK, PMI_SIZE)   mpirun of MPICH
///   RANK, WORLD_SIZE if TORCHELASTIC_RUN_ID       torchrun
///   SLURM_PROCID, SLURM_NTASKS                    srun
///   RANK, WORLD_SIZE                              whoever follows PyTorch
///   JOB_COMPLETION_INDEX, JOB_COMPLETIONS         indexed job of Kubernetes, which sets the first
///
/// mpirun and torchrun go before srun because they run within it: their tasks share the
/// SLURM_PROCID of what srun started. In a job array (SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _STEP)
/// each element has a share of its own, and its tasks share that: element 2 of 4, task 1 of 3 is
/// shard 7 of 12. A batch script outside srun is one task at most: where it asked for several, that
/// is an error. Errors: kUsage, which names the variable that is missing or no number, or the share
/// that is not within its count.
Result<std::optional<Shard>> shard_from(std::string_view flag, const EnvironmentLookup& lookup);

} // namespace rankscope
