// rankscope-mpi: every process of a job under mpirun or srun runs this; the first one prints.
#include "app/reduce_job.h"
#include "cli/program.h"
#include "mpi/cmd_mpi.h"
#include "os/signals.h"
#include "os/tasks.h"

#include <algorithm>
#include <cstdio>
#include <new>

namespace {

using namespace rankscope;

/// What the first says, the others would say too.
void be_quiet() {
  for (std::FILE* stream : {stdout, stderr})
    if (std::freopen("/dev/null", "w", stream) == nullptr)
      std::fclose(stream);
}

int run(MpiJob& job, int argc, char** argv) {
  if (job.rank() != 0)
    be_quiet();
  JobContext ctx(job);
  Program program{"rankscope-mpi", "rankscope-mpi: rankscope's commands over ranks as an MPI job",
                  mpi_commands()};
  // processes of one machine share its processors
  program.jobs = std::max(1U, default_threads() / static_cast<unsigned>(std::min<std::size_t>(
                                                      job.on_this_machine(), kMaxThreads)));
  const int code = run_program(program, ctx, argc, argv);
  if (!ctx.joined)
    leave_job(job);
  else if (!ctx.handed_over) // an exception, told of already: the others wait in vain
    job.abort(code);
  return static_cast<int>(said_by_first(job, static_cast<std::uint64_t>(code)));
}

} // namespace

int main(int argc, char** argv) {
  install_interrupt_handler(); // the library's threads are to leave signals to it
  const auto job = MpiJob::begin(argc, argv);
  try {
    return run(*job, argc, argv);
  } catch (const std::exception& e) { // the others wait for a message that does not come
    std::fprintf(stderr, "rankscope-mpi: process %zu: %s\n", job->rank(), e.what());
    job->abort(exit_code(ErrorCode::kInternal));
  }
}
