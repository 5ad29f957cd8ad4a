// rankscope partial DIR -o PARTS: stores the data that commands over ranks need from this shard's
// traces.
#include "app/command_plans.h"
#include "app/partial.h"
#include "app/rank_commands.h"
#include "app/written_files.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "cli/figure_flags.h"
#include "os/shard.h"
#include "writers/writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct PartialFlags {
  PartialRequest request;
  std::string output, shard;
  std::vector<std::string> wanted;
  bool dry_run = false;
};

/// Returns the commands that the parts are for, in the order of the list.
std::vector<std::string> wanted_commands(const PartialFlags& f) {
  const auto has = [&](const char* name) {
    return std::ranges::find(f.wanted, name) != f.wanted.end();
  };
  std::vector<std::string> out;
  for (const RankCommand& command : rank_commands()) {
    const bool folders = command.ranks == RanksOf::kBatchFolders;
    const bool always = command.name == std::string("collectives") && !has("batch");
    if (always || has(command.name) || (has("all") && !folders))
      out.emplace_back(command.name);
  }
  return out;
}

Result<void> print_plan(Context& ctx, const PartialRequest& request, const std::string& folder,
                        const std::string& who) {
  RS_TRY(const std::vector<PlannedPart> parts, plan_partial(ctx, request, folder));
  if (ctx.json) {
    ctx.report(partial_plan(folder, parts));
    return {};
  }
  for (const PlannedPart& p : parts)
    ctx.out(fmt::format("{}rank {}: {} -> {}/{}{}\n",
                        p.configuration.empty() ? "" : p.configuration + " ", p.file.rank,
                        p.file.path, folder, p.part, p.is_there ? " (exists, is reused)" : ""));
  ctx.note(fmt::format("{}: {} rank{}", who, parts.size(), parts.size() == 1 ? "" : "s"));
  return {};
}

Result<void> partial(Context& ctx, const PartialFlags& f) {
  PartialRequest request = f.request;
  RS_TRY(const std::optional<Shard> shard, shard_from(f.shard, process_environment()));
  if (shard) {
    request.shard_index = shard->index;
    request.shard_count = shard->count;
  }
  request.options.wanted = wanted_commands(f);
  const std::string who = fmt::format("shard {} of {}{}", request.shard_index, request.shard_count,
                                      shard ? " (" + shard->source + ")" : "");
  if (f.dry_run)
    return print_plan(ctx, request, f.output, who);
  RS_TRY(const PartialResult done, write_partial(ctx, request, f.output));
  if (ctx.json)
    ctx.out(json_text(written_files("partial", {done.folder})));
  ctx.note(fmt::format("{}: {}: {} rank{} ({} reused{}); {:.2f} MB of traces, "
                       "{:.3f} MB of parts",
                       done.folder, who, done.ranks, done.ranks == 1 ? "" : "s", done.reused,
                       done.lost > 0 ? fmt::format(", {} lost", done.lost) : "",
                       static_cast<double>(done.trace_bytes) / 1e6,
                       static_cast<double>(done.part_bytes) / 1e6));
  return {};
}

Action setup_partial(FlagSet& app) {
  auto f = std::make_shared<PartialFlags>();
  PartialRequest& r = f->request;
  std::vector<std::string> names;
  for (const RankCommand& command : rank_commands())
    names.emplace_back(command.name);
  names.emplace_back("all");
  app.add_option("DIR", r.inputs, "folders of rank traces, the files, or a sweep").required();
  app.add(options::output, f->output, "folder for the parts").required();
  in_group(app, "Ranks", [&] {
    app.add_option(
        "--shard", f->shard,
        "I/N: shard I of N, from 0 (default: from the environment of srun, mpirun, torchrun "
        "or Kubernetes, else 0/1)");
    app.add(options::local, r.local,
            "DIR contains only the ranks of this shard, as on a node-local disk");
    app.add(options::world_size, r.world_size);
  });
  in_group(app, "Commands", [&] {
    app.add_option("--for", f->wanted,
                   "also store the data that these commands need; collectives are always stored, "
                   "except with batch; parts for analyze and compare take 25 times as long to "
                   "make; all: all commands except batch (default: collectives)")
        .delimiter(',')
        .one_of(names);
    PartOptions& o = r.options;
    add_gemm_metric_flags(app, o.gpu_arch, o.top_k, o.rank_by, o.legacy_gemm_layout);
  });
  in_group(app, "Batch", [&] {
    add_batch_names(app, r.options.batch_names);
    app.add(options::all_kernels, r.options.batch.all_kernels);
    app.add(options::compat_tracelens, r.options.batch.compat);
  });
  in_group(app, "Running", [&] {
    app.add(options::memory, r.memory_bytes);
    app.add(options::force, r.force, "rewrite parts that an earlier run has written");
    app.add(options::dry_run, f->dry_run);
  });
  add_discover_flags(app, r.discover, true);
  return [f](Context& ctx) { return partial(ctx, *f); };
}

} // namespace

const Command partial_command{
    "partial", "store the data of each rank in small files (parts), for reduce",
    "  rankscope partial run/torch_profiler -o parts\n"
    "  srun rankscope partial run/torch_profiler -o parts --for analyze,page\n"
    "  rankscope partial /local/traces --local --shard 3/16 -o /shared/parts",
    setup_partial};

} // namespace rankscope
