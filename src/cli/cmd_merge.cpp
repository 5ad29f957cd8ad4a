// rankscope merge: the ranks of a run as one trace for Perfetto; --all for every configuration.
#include "app/command_reports.h"
#include "app/merge.h"
#include "app/write_outputs.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "core/steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct MergeFlags {
  std::vector<std::string> inputs;
  std::string out;
  bool all = false;
  AlignMode align = AlignMode::kBase;
  std::string step;
  std::int64_t first_ranks = 0; ///< 0: all
  MergeRequest request;
  DiscoverOptions discover;
};

void print(Context& ctx, const MergedRun& run) {
  if (!ctx.json && run.output != "-")
    ctx.out(fmt::format("{}: {}, {} slices ({} on overflow tracks), {} arrows, {:.1f} MB, "
                        "{:.2f} s ({:.0f} MB/s of input)\n",
                        run.output, counted(run.ranks, "rank", "ranks"), run.slices, run.overflow,
                        run.flows, static_cast<double>(run.bytes) / 1e6, run.seconds,
                        static_cast<double>(run.input_bytes) / 1e6 / std::max(run.seconds, 1e-9)));
}

Result<void> merge(Context& ctx, const MergeFlags& f) {
  if (f.all) {
    if (f.inputs.size() != 1)
      return Error{ErrorCode::kUsage, "--all", "expected one sweep folder", ""};
    std::vector<MergedRun> runs;
    const Result<void> merged =
        merge_sweep(ctx, f.request, f.inputs[0], f.discover, f.out, [&](const MergedRun& run) {
          print(ctx, run);
          runs.push_back(run);
        });
    if (merged && ctx.json)
      ctx.report(merge_report(runs));
    return merged;
  }
  if (f.out.empty())
    return Error{ErrorCode::kUsage, "merge", "needs -o OUT.json", ""};
  RS_CHECK(check_ending(f.out, {".json", ".json.gz"}));
  RS_TRY(const RunPlan plan, discover_run(f.inputs, f.discover, ctx.diagnostics));
  RS_TRY(const MergedRun run, merge_run(ctx, f.request, plan, f.out));
  print(ctx, run);
  if (ctx.json && run.output != "-") // otherwise stdout has the trace
    ctx.report(merge_report({run}));
  return {};
}

void add_what_is_kept(FlagSet& app, MergeFlags& f) {
  app.add_flag("--cpu-ops", f.request.options.cpu_ops,
               "keep operators and forward-backward arrows");
  app.add_flag("--critical-path", f.request.critical_path,
               "add the critical path over all ranks as a track (reads the traces twice)");
  app.add_option("--samples", f.request.samples,
                 "gpu_samples.csv of rankscope sample or profile, or a table of nvidia-smi or "
                 "amd-smi: add power, memory and clocks as counter tracks (repeatable)");
  app.add(options::step, f.step, "merge only ProfilerStep N, or the steps A to B (A:B)");
  app.add_option("--from-ms", f.request.options.from_ms,
                 "start of the window, ms after the first event of the first rank");
  app.add_option("--to-ms", f.request.options.to_ms,
                 "end of the window, ms after the first event of the first rank");
  Flag ranks = app.add(options::ranks, f.request.ranks).delimiter(',');
  app.add_option("-n,--num-ranks", f.first_ranks, "merge only the first N ranks: 0 to N-1")
      .range(1, 65536)
      .excludes(ranks);
}

Action setup_merge(FlagSet& app) {
  auto f = std::make_shared<MergeFlags>();
  app.add_option("TRACES", f->inputs, "folder of rank traces, or the files; with --all a sweep")
      .required();
  in_group(app, "Output", [&] {
    app.add(options::output, f->out,
            "merged trace, .json or .json.gz, '-' for standard output; with --all a folder "
            "(default SWEEP/merged_traces)");
    app.add(options::all, f->all, "merge every configuration of a sweep");
    app.add(options::gz, f->request.options.gzip);
  });
  in_group(app, "Content", [&] { add_what_is_kept(app, *f); });
  in_group(app, "Clocks", [&] {
    app.add(options::align.only(1, 2), f->align,
            "align clocks by: base (time base of each trace), collectives (also end times of "
            "collectives)");
  });
  add_discover_flags(app, f->discover, true, "--trace-step");
  return [f](Context& ctx) -> Result<void> {
    if (!f->step.empty()) {
      RS_TRY(f->request.options.steps, parse_steps(f->step));
    }
    for (std::int64_t rank = 0; rank < f->first_ranks; ++rank)
      f->request.ranks.push_back(rank);
    f->request.align = f->align == AlignMode::kCollectives;
    return merge(ctx, *f);
  };
}

} // namespace

const Command merge_command{
    "merge", "join the traces of all ranks into one for Perfetto",
    "  rankscope merge 256thread/nccl_28channels/torch_profiler -o m.json.gz\n"
    "  rankscope merge --all sweep --step 19",
    setup_merge};

} // namespace rankscope
