// rankscope replay TRACE: runs the largest matrix products and convolutions of a trace again.
#include "app/replay.h"
#include "cli/command.h"
#include "cli/flag_set.h"
#include "cli/replay_flags.h"
#include "os/signals.h"
#include "writers/writer.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct ReplayCommandFlags {
  NodeReplayRequest request;
  ReplayFlags replay;
};

Result<void> run_replay(Context& ctx, ReplayCommandFlags f) {
  f.request.run = replay_options(f.replay);
  const InterruptGrace grace(std::chrono::seconds(10)); // time to write the finished measurements
  RS_TRY(const NodeReplay result, replay_trace(ctx, f.request));
  const Table overview = replay_overview(result.rows);
  if (ctx.json) {
    Report report;
    report.tables.push_back(overview);
    ctx.out(json_text(report));
  } else {
    ctx.table(overview, 40);
    ctx.out(fmt::format("{}: {} of {} operators measured, {} files written\n", result.folder,
                        result.measured, result.rows.size(), result.written.size()));
  }
  if (interrupt_token().cancelled())
    return Error{ErrorCode::kInterrupted, result.folder,
                 "interrupted; finished measurements are stored", ""};
  if (result.asked_missing)
    return Error{ErrorCode::kMissingTool, "--runner " + f.replay.runner,
                 "not installed: nothing was measured",
                 fmt::format("{} contains the command files", result.folder)};
  return {};
}

Action setup_replay(FlagSet& app) {
  auto f = std::make_shared<ReplayCommandFlags>();
  app.add_option("TRACE", f->request.trace, "trace with recorded shapes (record_shapes)")
      .required();
  app.add(options::output, f->request.output,
          "folder of command files, workbook and CSV (default: rankscope_out/TRACE_replay next to "
          "the trace)")
      .type_name("DIR");
  app.add_option("--top", f->request.top,
                 "number of operators to replay, most kernel time first; calls with the same "
                 "arguments count as one operator (0: all)")
      .capture_default_str();
  add_replay_flags(app, f->replay);
  return [f](Context& ctx) { return run_replay(ctx, *f); };
}

} // namespace

const Command replay_command{
    "replay", "run the largest matrix products and convolutions of a trace again and time them",
    "  rankscope replay rank0.json.gz\n"
    "  rankscope replay rank0.json.gz --top 20 --runner none -o tuning\n"
    "  rankscope replay rank0.json.gz --runner pytorch --python venv/bin/python",
    setup_replay};

} // namespace rankscope
