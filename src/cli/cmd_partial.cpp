// rankscope partial DIR -o PARTS: stores the data that commands over ranks need from this shard's
// traces.
#include "app/command_plans.h"
#include "app/partial.h"
#include "app/written_files.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
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
  std::string layout;
  std::uint64_t memory_mib = 0;
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
  request.memory_bytes = f.memory_mib << 20U;
  request.legacy_gemm_layout = !f.layout.empty();
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

void add_figures_partial(FlagSet& app, PartialFlags& f) {
  PartialRequest& r = f.request;
  app.add_option("--gpu-arch", r.gpu_arch,
                 "analyze, page: GPU for rooflines, built-in name or JSON file");
  app.add_option("--top-k", r.top_k, "analyze: GEMMs listed per rank").capture_default_str();
  app.add_option("--rank-by", r.rank_by, "analyze: order of GEMMs: by range, cv or total-excess")
      .one_of({"range", "cv", "total-excess"})
      .capture_default_str();
  app.add_option("--layout", f.layout, "analyze: column order of the GEMM sheets")
      .one_of({"2025-11"});
}

Action setup_partial(FlagSet& app) {
  auto f = std::make_shared<PartialFlags>();
  PartialRequest& r = f->request;
  app.add_option("DIR", r.inputs, "folders of rank traces, the files, or a sweep").required();
  app.add_option("-o,--output", f->output, "folder for the parts").required();
  in_group(app, "Ranks", [&] {
    app.add_option(
        "--shard", f->shard,
        "I/N: shard I of N, from 0 (default: from the environment of srun, mpirun, torchrun "
        "or Kubernetes, else 0/1)");
    app.add_flag("--local", r.local,
                 "DIR contains only the ranks of this shard, as on a node-local disk");
    app.add_option(
        "--world-size", r.world_size,
        "number of ranks of the run, if the traces do not contain it (detail of a page)");
  });
  in_group(app, "Commands", [&] {
    app.add_option(
           "--for", f->wanted,
           "also store the data that these commands need (default: collectives, always stored; "
           "all four take 25 times as long)")
        .delimiter(',')
        .one_of({"collectives", "analyze", "compare", "page", "all"});
    add_figures_partial(app, *f);
  });
  in_group(app, "Running", [&] {
    app.add_option("--memory-mib", f->memory_mib,
                   "memory limit for traces being read (0: half of the free memory)");
    app.add_flag("--force", r.force, "write parts again that an earlier run has written");
    app.add_flag("--dry-run", f->dry_run, "print the ranks of this shard, then exit");
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
