// rankscope partial DIR -o PARTS: stores the data that commands over ranks need from this shard's
// traces.
#include "app/command_plans.h"
#include "app/partial.h"
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

bool asked_for(const PartialFlags& f, const char* command) {
  const auto is = [&](const std::string& name) { return name == command || name == "all"; };
  return std::any_of(f.wanted.begin(), f.wanted.end(), is);
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
                        p.file.path, folder, p.part, p.is_there ? " (there)" : ""));
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
  request.wanted = {asked_for(f, "analyze"), asked_for(f, "compare"), asked_for(f, "page")};
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
    app.add_option(
           "--for", f->wanted,
           "also store the data that these commands need (default: collectives, always stored; "
           "all four take 25 times as long)")
        .delimiter(',')
        .one_of({"collectives", "analyze", "compare", "page", "all"});
    add_gemm_figures(app, r.gpu_arch, r.top_k, r.rank_by, r.legacy_gemm_layout);
  });
  in_group(app, "Running", [&] {
    app.add(options::memory, r.memory_bytes);
    app.add(options::force, r.force, "write parts again that an earlier run has written");
    app.add(options::dry_run, f->dry_run);
  });
  add_discover_flags(app, r.discover, true);
  return [f](Context& ctx) { return partial(ctx, *f); };
}

} // namespace

const Command partial_command{
    "partial", "store the data that commands over ranks need in small files",
    "  rankscope partial run/torch_profiler -o parts\n"
    "  srun rankscope partial run/torch_profiler -o parts --for analyze,page\n"
    "  rankscope partial /local/traces --local --shard 3/16 -o /shared/parts",
    setup_partial};

} // namespace rankscope
