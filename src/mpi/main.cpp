// rankscope-mpi: every process of a job under mpirun or srun runs this program. The first process
// prints.
#include "app/reduce_job.h"
#include "cli/program.h"
#include "mpi/cmd_mpi.h"
#include "os/cleanup.h"
#include "os/scratch_folder.h"
#include "os/signals.h"
#include "os/tasks.h"

#include <algorithm>
#include <cstdio>

namespace {

using namespace rankscope;

/// Silences all processes except the first, because they would print the same text.
void be_quiet() {
  for (std::FILE* stream : {stdout, stderr})
    if (std::freopen("/dev/null", "w", stream) == nullptr)
      std::fclose(stream);
}

/// Aborts the job. It cleans up first, because the abort kills the other processes, which must not
/// leave temporary files.
void abort_job(MpiJob& job, int code) {
  cleanup::end_everything();
  job.abort(code);
}

int run(MpiJob& job, int argc, char** argv) {
  if (job.rank() != 0)
    be_quiet();
  JobContext ctx(job);
  Program program{"rankscope-mpi", "rankscope-mpi: rankscope's commands over ranks as an MPI job",
                  mpi_commands()};
  program.setup = setup_job;
  // the processes on one machine share its processors
  program.jobs = std::max(1U, default_threads() / static_cast<unsigned>(std::min<std::size_t>(
                                                      job.on_this_machine(), kMaxThreads)));
  const int code = run_program(program, ctx, argc, argv);
  if (!ctx.joined)
    leave_job(job);
  else if (!ctx.handed_over) // after an exception (already reported), the others would wait forever
    abort_job(job, code);
  return static_cast<int>(said_by_first(job, static_cast<std::uint64_t>(code)));
}

} // namespace

int main(int argc, char** argv) {
  install_interrupt_handler(); // before MPI: its threads must not handle signals
  const auto job = MpiJob::begin(argc, argv);
  const SharedScratch scratch = SharedScratch::enter(
      job->said_by_first_here(job->first_on_this_machine() ? SharedScratch::make() : ""));
  try {
    return run(*job, argc, argv);
  } catch (const std::exception& e) { // otherwise the other processes would wait forever
    std::fprintf(stderr, "rankscope-mpi: process %zu: %s\n", job->rank(), e.what());
    abort_job(*job, exit_code(ErrorCode::kInternal));
  }
}
