// rankscope reduce PARTS... -o OUT: what a command makes of the traces of all ranks, from parts.
#include "app/partial.h"
#include "app/written_files.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "writers/writer.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct Flags {
  ReduceRequest request;
  std::vector<std::string> parts, tests;
  std::string baseline, as = "collectives", align, compat;
  bool no_plots = false;
};

Result<ReduceRequest> request_of(const Flags& f) {
  ReduceRequest request = f.request;
  request.plots = !f.no_plots;
  request.as = f.as == "analyze"   ? ReduceAs::kAnalyze
               : f.as == "compare" ? ReduceAs::kCompare
               : f.as == "page"    ? ReduceAs::kPage
                                   : ReduceAs::kCollectives;
  if (request.as == ReduceAs::kCompare) {
    if (f.baseline.empty() || f.tests.empty() || !f.parts.empty())
      return Error{ErrorCode::kUsage, "reduce", "a comparison needs --baseline and --test alone",
                   "rankscope reduce --as compare --baseline PARTS_A --test PARTS_B -o OUT"};
    request.runs.push_back({f.baseline});
    for (const std::string& test : f.tests)
      request.runs.push_back({test});
  } else {
    if (f.parts.empty() || !f.baseline.empty() || !f.tests.empty())
      return Error{ErrorCode::kUsage, "reduce", "needs folders of parts",
                   "rankscope reduce PARTS -o OUT; --baseline and --test are for --as compare"};
    request.runs.push_back(f.parts);
  }
  request.align = align_mode(f.align);
  request.collectives.compat_tracelens = !f.compat.empty();
  request.collectives.align =
      request.align.value_or(f.compat.empty() ? AlignMode::kCollectives : AlignMode::kNone);
  return request;
}

Result<void> reduce(Context& ctx, const Flags& f) {
  RS_TRY(const ReduceRequest request, request_of(f));
  RS_TRY(const ReduceResult result, reduce_parts(ctx, request));
  if (ctx.json) {
    ctx.out(json_text(written_files("reduce", result.written)));
    return {};
  }
  for (const std::string& path : result.written)
    ctx.out(fmt::format("{}: of {} rank{}\n", path, result.ranks, result.ranks == 1 ? "" : "s"));
  return {};
}

Action setup(FlagSet& app) {
  auto f = std::make_shared<Flags>();
  ReduceRequest& r = f->request;
  app.add_option("PARTS", f->parts, "folders that partial wrote, of one run");
  app.add_option("-o,--output", r.output,
                 "collectives: file.xlsx, .json or .md; analyze, compare: folder; page: HTML file")
      .required();
  app.add_option("--as", f->as, "the command whose outputs are made")
      .one_of({"collectives", "analyze", "compare", "page"})
      .capture_default_str();
  in_group(app, "Comparison", [&] {
    app.add_option("--baseline", f->baseline, "folder of the baseline's parts");
    app.add_option("--test", f->tests, "folders of parts to compare with it");
    app.add_option("--label", r.labels, "a name per run, the baseline's first");
  });
  in_group(app, "Figures", [&] {
    add_align_flag(app, f->align, "as the command does");
    app.add_option("--gpus-per-node", r.collectives.gpus_per_node,
                   "collectives: 0 = devices in the first trace")
        .capture_default_str();
    app.add_option("--compat", f->compat, "collectives: another tool's units and columns")
        .one_of({"tracelens"});
    app.add_flag("--all2allv-heatmap", r.collectives.all_to_all_v_heatmap,
                 "collectives: who sends how much to whom in all-to-all-v");
    app.add_option("--world-size", r.world_size, "collectives: ranks that there should be");
    app.add_flag("--no-plots", f->no_plots, "analyze, compare: neither plots nor HTML page");
  });
  return [f](Context& ctx) { return reduce(ctx, *f); };
}

} // namespace

const Command reduce_command{
    "reduce", "collectives, analyze, compare or page from the parts of all shards",
    "  rankscope reduce parts -o nccl.xlsx\n"
    "  rankscope reduce node*/parts --as page -o run.html\n"
    "  rankscope reduce parts --as analyze -o out\n"
    "  rankscope reduce --as compare --baseline parts_a --test parts_b -o out",
    setup};

} // namespace rankscope
