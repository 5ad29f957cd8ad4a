// rankscope gemm: runs the GEMM steps of analyze separately, from traces or from earlier outputs.
#include "app/gemm.h"
#include "app/gemm_reports.h"
#include "app/written_files.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "cli/gemm_screen.h"
#include "cli/parts_flags.h"
#include "writers/writer.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct GemmFlags {
  std::string step;
  std::vector<std::string> sweep; ///< one sweep; with parts, several folders are possible
  std::string output;
  std::string base_path;   ///< variance: outputs of a sweep; timestamps: the sweep
  std::string output_file; ///< variance only
  std::string input_csv, output_csv, tracelens_path;
  std::string csv_path, output_dir;
  GemmRanking rank_by = GemmRanking::kRange;
  std::size_t top_k = 5;
  double tolerance = 0.01;
  bool svg = false;
  RankFilter filter;
  DiscoverOptions discover;
};

Result<void> show(Context& ctx, const Result<WrittenTable>& result) {
  if (!result)
    return result.error();
  const Table& table = result->table;
  if (ctx.json) {
    Report report;
    report.tables.push_back(table);
    report.tables.push_back(finding_schema().table(result->findings));
    ctx.out(json_text(report));
    return {};
  }
  ctx.table(gemm_screen(table), 10);
  for (const Finding& finding : result->findings)
    ctx.out("- " + finding.sentence() + "\n");
  ctx.out(fmt::format("{}: {} rows\n", result->path, table.rows()));
  return {};
}

Result<void> plot(Context& ctx, const GemmFlags& f) {
  RS_TRY(const WrittenPlots plots,
         plot_gemm_csv(ctx,
                       {f.csv_path, f.sweep.empty() ? "" : f.sweep.front(), f.output_dir, f.svg}));
  if (ctx.json)
    ctx.report(written_files("gemm plot", {plots.folder}));
  else
    ctx.out(fmt::format("{}: plots of {} rows\n", plots.folder, plots.rows));
  return {};
}

Result<void> run_gemm(Context& ctx, const GemmFlags& f) {
  if (f.step == "plot")
    return plot(ctx, f);
  if (f.step == "variance" && !f.base_path.empty())
    return show(ctx,
                gemm_variance_of_reports(ctx, {f.base_path, f.output_file, f.top_k, f.filter}));
  if (f.step == "timestamps" && !f.input_csv.empty()) {
    if (f.base_path.empty())
      return Error{ErrorCode::kUsage, "",
                   "--input-csv needs --base-path, the sweep with the traces", ""};
    return show(ctx, gemm_timestamps_of_csv(ctx, {f.input_csv, f.base_path, f.output_csv,
                                                  f.tolerance, f.filter, f.discover}));
  }
  if (f.step == "overlap" && !f.input_csv.empty()) {
    if (f.tracelens_path.empty())
      return Error{
          ErrorCode::kUsage, "",
          "--input-csv needs --tracelens-path, the folder with <T>thread/collective_reports", ""};
    return show(ctx, gemm_overlap_of_csv(ctx, {f.input_csv, f.tracelens_path, f.output_csv}));
  }
  if (f.sweep.empty())
    return Error{ErrorCode::kUsage, "",
                 "expected a sweep, or the options that read the output of an earlier step",
                 "see rankscope gemm --help"};
  if (f.sweep.size() > 1)
    return Error{ErrorCode::kUsage, "gemm", "expected one sweep folder", ""};
  const GemmTable table = f.step == "variance"     ? GemmTable::kVariance
                          : f.step == "timestamps" ? GemmTable::kTimestamps
                                                   : GemmTable::kOverlap;
  return show(ctx, gemm_from_traces(ctx, {f.sweep.front(), f.output, table, f.top_k, f.rank_by,
                                          f.filter, f.discover}));
}

Result<std::vector<PartialRequest>> runs_of_gemm(GemmFlags& f) {
  if (f.step == "plot" || f.sweep.empty())
    return Error{ErrorCode::kUsage, "gemm",
                 "parts work only with the steps variance, timestamps and overlap",
                 "rankscope reduce variance PARTS --as gemm -o OUT"};
  RS_CHECK(check_output("gemm", f.sweep, f.output));
  return std::vector{
      run_of_ranks("gemm", f.sweep, f.discover, {.top_k = &f.top_k, .rank_by = &f.rank_by})};
}

void add_earlier_outputs(FlagSet& app, GemmFlags& f) {
  app.add_option("--base-path", f.base_path,
                 "variance: folder tracelens_analysis with the reports; timestamps: sweep with the "
                 "traces");
  app.add_option("--output-file", f.output_file, "variance: CSV, relative to --base-path");
  app.add_option("--input-csv", f.input_csv, "timestamps, overlap: CSV of the previous step");
  app.add_option("--output-csv", f.output_csv,
                 "timestamps, overlap: CSV to write (default: next to the input)");
  app.add_option("--tracelens-path", f.tracelens_path, "overlap: folder tracelens_analysis");
  app.add_option(
         "--tolerance", f.tolerance,
         "timestamps: largest relative difference between a duration in the CSV and in the trace")
      .not_negative()
      .capture_default_str();
  app.add_option("--csv-path", f.csv_path, "plot: variance CSV");
  app.add(options::output_dir, f.output_dir, "plot: folder (default: plots, next to the CSV)");
}

Action setup_gemm(FlagSet& app) {
  auto f = std::make_shared<GemmFlags>();
  app.add_option("STEP", f->step, "variance, timestamps, overlap or plot")
      .required()
      .one_of({"variance", "timestamps", "overlap", "plot"});
  app.add_option("SWEEP", f->sweep, "sweep, run or folder of traces");
  in_group(app, "Output", [&] {
    app.add(options::output, f->output, "folder for the CSV (default: SWEEP/tracelens_analysis)");
    app.add(options::svg, f->svg, "plot: also write SVG");
  });
  in_group(app, "Rows", [&] {
    app.add(options::top_k, f->top_k).capture_default_str();
    app.add(options::rank_by, f->rank_by);
    app.add(options::threads, f->filter.threads, "use only these thread settings").delimiter(',');
    app.add(options::channels, f->filter.channels, "use only these channel settings")
        .delimiter(',');
    app.add(options::ranks, f->filter.ranks).delimiter(',');
  });
  in_group(app, "Input from an earlier step", [&] { add_earlier_outputs(app, *f); });
  add_discover_flags(app, f->discover, true);
  return {[f](Context& ctx) { return run_gemm(ctx, *f); },
          [f](const Context&) { return runs_of_gemm(*f); }};
}

} // namespace

const Command gemm_command{
    "gemm", "analyze GEMM variance: spread, timestamps, overlapping collectives, plots",
    "  rankscope gemm variance sweep --top-k 5\n"
    "  rankscope gemm overlap sweep --rank-by total-excess\n"
    "  rankscope gemm variance --base-path sweep/tracelens_analysis --threads 256,512\n"
    "  rankscope gemm timestamps --input-csv top5.csv --base-path sweep\n"
    "  rankscope gemm overlap --input-csv top5_with_timestamps.csv --tracelens-path "
    "sweep/tracelens_analysis\n"
    "  rankscope gemm plot --csv-path top5.csv --output-dir plots --svg",
    setup_gemm};

} // namespace rankscope
