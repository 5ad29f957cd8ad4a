// rankscope collectives DIR...: the collectives of all ranks of a run.
#include "app/collectives.h"
#include "app/command_plans.h"
#include "cli/collectives_screen.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "writers/stream_writer.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct CollectivesFlags {
  CollectivesRequest request;
  std::string align = "collectives";
  std::string compat;
  bool dry_run = false;
  std::string ignored;
  std::uint64_t memory_mib = 0;
};

/// A pattern with its folder in it needs no other: the folder, taken off the pattern.
std::vector<std::string> folder_of_pattern(std::string& pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos)
    return {};
  const std::size_t slash = pattern.rfind('/', star);
  if (slash == std::string::npos)
    return {"."};
  std::string folder = slash == 0 ? "/" : pattern.substr(0, slash);
  pattern.erase(0, slash + 1);
  return {std::move(folder)};
}

Result<void> collectives_of(Context& ctx, const CollectivesFlags& f) {
  CollectivesRequest request = f.request;
  if (request.inputs.empty())
    request.inputs = folder_of_pattern(request.discover.trace_pattern);
  if (request.inputs.empty())
    return Error{ErrorCode::kUsage, "collectives", "needs a folder of rank traces",
                 "rankscope collectives --help"};
  request.memory_bytes = f.memory_mib << 20;
  request.default_workbook = !ctx.json;
  request.options.compat_tracelens = !f.compat.empty();
  request.options.align = align_mode(f.align).value_or(AlignMode::kCollectives);
  if (request.options.compat_tracelens && f.align == "collectives")
    request.options.align = AlignMode::kNone; // the reference compares raw times
  RS_TRY(const RunPlan plan, plan_collectives(ctx, request));
  if (f.dry_run && ctx.json) {
    ctx.report(collectives_plan(plan));
    return {};
  }
  if (f.dry_run) {
    for (const RankFile& file : plan.ranks)
      ctx.out(fmt::format("rank {}: {} ({} bytes)\n", file.rank, file.path, file.bytes));
    for (const std::int64_t r : plan.missing_ranks)
      ctx.out(fmt::format("rank {}: missing\n", r));
    return {};
  }
  RS_TRY(const CollectivesResult result, collect_collectives(ctx, plan, request));
  if (ctx.json) // in pieces
    return write_json(result.report, result.streams,
                      [&ctx](std::string_view text) { ctx.out(std::string(text)); });
  show_collectives(ctx, result);
  return {};
}

/// Of the script that this command replaces, where they have other names; not in --help.
void add_old_flags(FlagSet& app, CollectivesFlags& f) {
  CollectivesRequest& request = f.request;
  app.add_option("--trace-dir", request.inputs).group("");
  app.add_option("--output-xlsx-path", request.outputs.file).group("");
  app.add_option("--output-csvs-dir", request.outputs.csv_dir).group("");
  app.add_option("--world-size", request.world_size).group("");
  app.add_option("--max-workers", f.ignored).group("");
  for (const char* name : {"--detailed-analysis", "--use-multiprocessing"})
    app.add_flag(name).group("");
}

void add_figures_collectives(FlagSet& app, CollectivesFlags& f) {
  CollectiveOptions& options = f.request.options;
  add_align_flag(app, f.align);
  app.add_option("--gpus-per-node", options.gpus_per_node, "0: devices in the first trace")
      .capture_default_str();
  app.add_option("--agg-metrics", options.agg_metrics,
                 "statistics to show: mean, median, min, max, std")
      .delimiter(',')
      .one_of({"mean", "median", "min", "max", "std"})
      .capture_default_str();
  app.add_option("--compat", f.compat, "use the units and columns of another tool")
      .one_of({"tracelens"});
  app.add_flag("--all2allv-heatmap", options.all_to_all_v_heatmap,
               "add the bytes that ranks exchange in all-to-all-v");
}

Action setup_collectives(FlagSet& app) {
  auto f = std::make_shared<CollectivesFlags>();
  CollectivesRequest& request = f->request;
  app.add_option("DIR", request.inputs, "folders of rank traces, or the files");
  in_group(app, "Output", [&] {
    app.add_option("-o,--output", request.outputs.file,
                   "file.xlsx, .json, .md, or .csv for one sheet (default: "
                   "DIR/nccl_analysis_report.xlsx)");
    app.add_option("--csv-dir", request.outputs.csv_dir, "folder for one CSV per sheet");
    app.add_flag("--dry-run", f->dry_run, "print the file of each rank, then exit");
  });
  in_group(app, "Counting", [&] { add_figures_collectives(app, *f); });
  in_group(app, "Running", [&] {
    app.add_option("--memory-mib", f->memory_mib,
                   "memory limit for traces being read (0: half of the free memory)");
  });
  add_discover_flags(app, request.discover, false);
  add_old_flags(app, *f);
  return [f](Context& ctx) { return collectives_of(ctx, *f); };
}

} // namespace

const Command collectives_command{
    "collectives", "analyze collectives of all ranks: bandwidth, skew, stragglers, exposed time",
    "  rankscope collectives run/torch_profiler\n"
    "  rankscope collectives run -o nccl.xlsx --align collectives --gpus-per-node 8\n"
    "  rankscope collectives run --dry-run",
    setup_collectives};

} // namespace rankscope
