// rankscope split TRACE -o DIR: cuts the trace of a server into traces of some of its steps.
#include "app/split.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/flag_set.h"
#include "cli/step_flags.h"
#include "writers/writer.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

Result<void> run_split(Context& ctx, const SplitRequest& request) {
  if (!request.any())
    return Error{ErrorCode::kUsage, "split", "needs steps to cut out",
                 "--iterations A:B, --store-single-iteration, --find-steady-state, "
                 "--divide-phases or --pair-with"};
  RS_TRY(const SplitResult done, split_trace(ctx, request));
  const Table pieces = piece_schema().table(done.pieces);
  if (ctx.json) {
    Report report;
    report.tables.push_back(pieces);
    if (!request.pair.empty())
      report.tables.push_back(paired_steps_schema().table(done.pairs));
    ctx.out(json_text(report));
    return {};
  }
  if (!done.pairs.empty())
    ctx.table(paired_steps_schema().table(done.pairs));
  if (!done.pieces.empty())
    ctx.table(pieces);
  ctx.out(fmt::format("{}: {} of {}\n", request.output,
                      counted(done.pieces.size(), "piece", "pieces"),
                      counted(done.steps, "step", "steps")));
  if (done.pieces.empty())
    ctx.warn(fmt::format("{}: its {} steps do not match the request; nothing was written",
                         request.trace, done.steps));
  return {};
}

Action setup_split(FlagSet& app) {
  auto f = std::make_shared<SplitRequest>();
  PieceChoice& c = f->choice;
  app.add_option("TRACE", f->trace, "Kineto trace of a server (.json, .gz, .zst)").required();
  app.add(options::output, f->output, "folder for the pieces and their tables")
      .type_name("DIR")
      .required();
  in_group(app, "Pieces", [&] {
    app.add(options::iterations.also("-i,"), c.iterations,
            "step N (from 0), or steps A to B-1; they become one piece unless another option "
            "divides them");
    app.add_flag("--store-single-iteration,--single-steps", c.single, "write one piece per step");
    app.add(options::steady_state.also(",--steady-windows"), c.steady,
            "write the steady-state windows: mixed, decode only, and with prefill");
    app.add_flag("--divide-phases,--phases", c.phases,
                 "cut the steady state at changes of phase (takes precedence over the windows)");
    app.add_option("--pair-with", f->pair,
                   "another trace: write the steps of both traces that do similar work");
  });
  in_group(app, "Steady state", [&] { add_window_flags(app, c.window); });
  app.add(options::compat_inference, c.window.compat);
  return [f](Context& ctx) { return run_split(ctx, *f); };
}

} // namespace

const Command split_command{"split", "cut the trace of a server into traces of some of its steps",
                            "  rankscope split server.json.gz -o pieces --find-steady-state\n"
                            "  rankscope split server.json.gz -o pieces --divide-phases\n"
                            "  rankscope split new.json.gz -o pieces --pair-with old.json.gz",
                            setup_split};

} // namespace rankscope
