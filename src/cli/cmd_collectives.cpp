// rankscope collectives DIR...: the collectives of all ranks of a run.
#include "app/collectives.h"
#include "app/command_plans.h"
#include "cli/collectives_screen.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "cli/figure_flags.h"
#include "cli/parts_flags.h"
#include "writers/stream_writer.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct CollectivesFlags {
  CollectivesRequest request;
  CollectiveMetricFlags metrics;
  bool dry_run = false;
  std::string ignored;
};

/// Returns the folder of a pattern that contains one, and removes it from the pattern. Such a
/// pattern needs no other folder.
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
  request.default_workbook = !ctx.json;
  request.options = f.metrics.chosen();
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
  if (ctx.json) // printed in pieces
    return write_json(result.report, result.streams,
                      [&ctx](std::string_view text) { ctx.out(std::string(text)); });
  show_collectives(ctx, result);
  return {};
}

Result<std::vector<PartialRequest>> runs_of_collectives(const Context& ctx, CollectivesFlags& f) {
  CollectivesRequest& request = f.request;
  RS_CHECK(check_outputs(request.outputs, Sheets::kSeveral)); // before anything is read
  if (request.outputs.csv_dir.empty() && !ctx.json)
    RS_CHECK(check_output("collectives", request.inputs, request.outputs.file));
  return std::vector{run_of_ranks("collectives", request.inputs, request.discover,
                                  {.memory_bytes = &request.memory_bytes})};
}

/// Adds the flags of the script that this command replaces, where their names differ. They are not
/// in --help.
void add_old_flags(FlagSet& app, CollectivesFlags& f) {
  CollectivesRequest& request = f.request;
  app.add_option("--trace-dir", request.inputs).group("");
  app.add(options::old_xlsx, request.outputs.file).group("");
  app.add(options::old_csvs, request.outputs.csv_dir).group("");
  app.add(options::world_size, request.world_size).group("");
  app.add_option("--max-workers", f.ignored).group("");
  for (const char* name : {"--detailed-analysis", "--use-multiprocessing"})
    app.add_flag(name).group("");
}

Action setup_collectives(FlagSet& app) {
  auto f = std::make_shared<CollectivesFlags>();
  CollectivesRequest& request = f->request;
  app.add_option("DIR", request.inputs, "folders of rank traces, or the files");
  in_group(app, "Output", [&] {
    app.add(options::output, request.outputs.file,
            "file.xlsx, .json, .md, or .csv for one sheet (default: "
            "DIR/nccl_analysis_report.xlsx)");
    app.add(options::csv_dir, request.outputs.csv_dir);
    app.add(options::dry_run, f->dry_run);
  });
  in_group(app, "Counting", [&] { add_collective_metric_flags(app, f->metrics); });
  in_group(app, "Running", [&] { app.add(options::memory, request.memory_bytes); });
  add_discover_flags(app, request.discover, false);
  add_old_flags(app, *f);
  return {[f](Context& ctx) { return collectives_of(ctx, *f); },
          [f](const Context& ctx) { return runs_of_collectives(ctx, *f); }};
}

} // namespace

const Command collectives_command{
    "collectives", "analyze collectives of all ranks: bandwidth, skew, stragglers, exposed time",
    "  rankscope collectives run/torch_profiler\n"
    "  rankscope collectives run -o nccl.xlsx --align collectives --gpus-per-node 8\n"
    "  rankscope collectives run --dry-run",
    setup_collectives};

} // namespace rankscope
