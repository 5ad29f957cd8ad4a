#include "mpi/cmd_mpi.h"

#include "app/rank_commands.h"
#include "app/reduce_job.h"
#include "engine/memory_limit.h"

#include <memory>
#include <utility>

namespace rankscope {
namespace {

struct JobFlags {
  Action command;
  std::string keep_parts;
  bool local = false;
};

/// Returns the request with the runs of the command; each run has the settings of the job.
Result<JobRequest> request_of(const JobContext& here, const JobFlags& f) {
  JobRequest out;
  out.keep_parts = f.keep_parts;
  RS_TRY(out.runs, f.command.runs(here));
  for (PartialRequest& run : out.runs) {
    run.local = f.local;
    if (run.memory_bytes == 0)
      run.memory_bytes = default_memory_limit() / here.job.on_this_machine();
  }
  return out;
}

Result<void> run_job(Context& ctx, const JobFlags& f) {
  JobContext& here = static_cast<JobContext&>(ctx); // main() always passes this type
  if (here.job.size() == 1)
    RS_CHECK(check_single(process_environment()));
  RS_TRY(const JobRequest request, request_of(here, f));
  here.joined = true;
  Result<JobShares> shares = gather_shares(ctx, here.job, request);
  here.handed_over = true;
  if (!shares)
    return shares.error();
  if (here.job.rank() != 0)
    return {};
  RS_CHECK(open_shares(ctx, *shares, request));
  return f.command.run(ctx);
}

} // namespace

std::span<const Command* const> mpi_commands() {
  static const std::vector<const Command*> kAll = [] {
    std::vector<const Command*> out;
    for (const Command* command : commands())
      if (find_rank_command(command->name) != nullptr)
        out.push_back(command);
    return out;
  }();
  return kAll;
}

Action setup_job(const Command& command, FlagSet& flags) {
  auto f = std::make_shared<JobFlags>();
  f->command = command.setup(flags);
  in_group(flags, "Job", [&] {
    flags.add(options::local, f->local,
              "each process's folder contains only its own ranks, as on a node-local disk");
    flags.add_option("--keep-parts", f->keep_parts,
                     "folder shared by all processes: the parts remain there, and a restarted job "
                     "makes only the missing parts");
  });
  return [f](Context& ctx) { return run_job(ctx, *f); };
}

} // namespace rankscope
