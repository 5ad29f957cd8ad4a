#include "cli/reduce_flags.h"

#include "app/written_files.h"
#include "cli/analyze_screen.h"
#include "cli/collectives_screen.h"
#include "cli/comparison_screen.h"
#include "cli/discover_flags.h"
#include "writers/writer.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::array kCommands{
    std::pair("collectives", ReduceAs::kCollectives), std::pair("analyze", ReduceAs::kAnalyze),
    std::pair("compare", ReduceAs::kCompare), std::pair("page", ReduceAs::kPage),
    std::pair("baseline", ReduceAs::kBaseline)};
constexpr Choice<ReduceAs> kAs{"--as", "command whose outputs to write", kCommands};

Error reduce_usage(std::string what, std::string hint) {
  return {ErrorCode::kUsage, "reduce", std::move(what), std::move(hint)};
}

bool makes_verdict(const CompareFlags& f) {
  return !f.fail_on.empty() || !f.fail_on_file.empty() || f.annotate || !f.request.junit.empty() ||
         !f.request.verdict.empty() || !f.request.markdown.empty();
}

bool chooses(const CompareFlags& f) {
  return f.all || f.gpu_timeline || f.collective || f.final_report || f.plots ||
         f.individual_only || f.collective_only || f.request.geomean;
}

/// Rejects a flag that the command does not have: ignoring it would surprise the user.
Result<void> check_flags(const ReduceFlags& f, ReduceAs as) {
  const ReduceRequest& r = f.request;
  const bool collectives = as == ReduceAs::kCollectives, compare = as == ReduceAs::kCompare;
  if (!compare && (makes_verdict(f.compare) || chooses(f.compare)))
    return reduce_usage("--fail-on and the choice of workbooks require --as compare",
                        "rankscope reduce --as compare --baseline PARTS_A --test PARTS_B -o OUT");
  if (!collectives && !r.csv_dir.empty())
    return reduce_usage("--csv-dir requires --as collectives", "");
  if (as != ReduceAs::kAnalyze && !r.html.empty())
    return reduce_usage("--html requires --as analyze", "");
  if (as != ReduceAs::kAnalyze &&
      (!f.sweep2.empty() || !r.sweep_labels[0].empty() || !r.sweep_labels[1].empty()))
    return reduce_usage("--sweep2 and sweep labels require --as analyze", "");
  if (r.output.empty() && (!collectives || r.csv_dir.empty()))
    return reduce_usage(collectives ? "needs --output or --csv-dir" : "needs --output",
                        "rankscope reduce --help");
  return {};
}

Result<void> take_runs(const ReduceFlags& f, ReduceRequest& request) {
  const CompareFlags& of = f.compare;
  const bool sides = !of.baseline.empty() || !of.tests.empty();
  if (request.as != ReduceAs::kCompare && !(request.as == ReduceAs::kPage && sides)) {
    if (f.parts.empty() || sides)
      return reduce_usage("needs folders of parts",
                          "rankscope reduce PARTS -o OUT; --baseline and --test "
                          "require --as compare or --as page");
    request.runs.push_back(f.parts);
    if (!f.sweep2.empty())
      request.runs.push_back(f.sweep2);
    request.labels = of.labels; // baseline: its own
    return {};
  }
  if (of.baseline.empty() || of.tests.empty() || !f.parts.empty())
    return reduce_usage(
        "a comparison needs --baseline and --test alone",
        fmt::format("rankscope reduce --as {} --baseline PARTS_A --test PARTS_B -o OUT",
                    request.as == ReduceAs::kPage ? "page" : "compare"));
  request.runs.push_back({of.baseline});
  for (const std::string& test : of.tests)
    request.runs.push_back({test});
  CompareFlags flags = of;
  if (f.figures.align)
    flags.request.align = *f.figures.align;
  RS_TRY(request.comparison, compare_request(flags));
  request.labels = of.labels;
  return {};
}

/// The other outputs of analyze exist and were printed.
Result<void> check_pictures(const ReduceResult& result) {
  for (const ReducedSweep& of : result.sweeps)
    if (of.sweep.picture_error)
      return *of.sweep.picture_error;
  return {};
}

} // namespace

void add_sweep_labels(FlagSet& app, std::array<std::string, 2>& labels) {
  app.add(options::label1, labels[0]);
  app.add(options::label2, labels[1]);
}

void add_reduce_flags(FlagSet& app, ReduceFlags& f) {
  ReduceRequest& r = f.request;
  app.add_option("PARTS", f.parts, "folders of one run, written by rankscope partial");
  app.add(kAs, r.as);
  app.add(options::require_all_ranks, r.require_all_ranks,
          "fail if a shard has no parts or a rank has no trace");
  in_group(app, "Output", [&] {
    app.add(options::output, r.output,
            "collectives: file.xlsx, .json or .md; analyze, compare: folder; page: HTML "
            "file; baseline: NAME.rsb");
    app.add(options::csv_dir, r.csv_dir);
    app.add(options::html, r.html);
    add_compare_choice(app, f.compare);
  });
  in_group(app, "Second sweep", [&] {
    app.add(options::sweep2, f.sweep2);
    add_sweep_labels(app, r.sweep_labels);
  });
  in_group(app, "Comparison", [&] {
    app.add(options::baseline, f.compare.baseline);
    app.add(options::test, f.compare.tests);
    add_label_flags(app, f.compare.labels);
    add_verdict_flags(app, f.compare);
  });
  in_group(app, "Figures", [&] {
    add_collective_figures(app, f.figures);
    app.add(options::world_size, r.world_size);
  });
}

Result<ReduceRequest> reduce_request(const ReduceFlags& f) {
  ReduceRequest request = f.request;
  request.plots = !f.compare.no_plots;
  request.svg = f.compare.request.svg;
  RS_CHECK(take_runs(f, request));
  RS_CHECK(check_flags(f, request.as));
  request.align = f.figures.align;
  request.collectives = f.figures.chosen();
  return request;
}

Result<void> show_reduced(Context& ctx, const char* who, const ReduceRequest& request,
                          const ReduceResult& result, const std::string& by, bool annotate) {
  if (ctx.json) {
    if (result.comparison)
      for (const Finding& note : result.comparison->findings.notes)
        ctx.warn(note.sentence());
    ctx.out(json_text(written_files(who, result.written)));
    RS_CHECK(check_pictures(result));
    return result.comparison ? show_verdict(ctx, request.comparison, *result.comparison, annotate)
                             : Result<void>();
  }
  // stdout contains only the output if that is written there
  const bool on_stdout = request.output == "-" || request.output == "/dev/stdout";
  if (result.collectives && !on_stdout)
    show_collectives(ctx, *result.collectives);
  for (const ReducedSweep& of : result.sweeps)
    show_sweep(ctx, of.request, of.sweep, result.sweeps.size() > 1);
  if (!result.sides_page.empty())
    show_sides_page(ctx, result.sides_page);
  const bool speaks = result.collectives || !result.sweeps.empty() || result.comparison;
  for (const std::string& path : result.written)
    if (!speaks || !by.empty() || on_stdout)
      ctx.note(
          fmt::format("{}: of {} rank{}{}", path, result.ranks, result.ranks == 1 ? "" : "s", by));
  RS_CHECK(check_pictures(result));
  return result.comparison ? show_comparison(ctx, request.comparison, *result.comparison, annotate)
                           : Result<void>();
}

} // namespace rankscope
