// rankscope gemm variance|timestamps|overlap SWEEP: the GEMM steps of analyze by themselves.
#include "analyses/gemm_data.h"
#include "cli/command.h"
#include "readers/loader.h"
#include "writers/console.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct Flags {
  std::string step;
  std::string sweep;
  std::string output;
  std::string rank_by = "range";
  std::size_t top_k = 5;
  std::vector<std::int64_t> threads, channels, ranks;
  DiscoverOptions discover;
};

bool chosen(const std::vector<std::int64_t>& wanted, const std::optional<std::int64_t>& value) {
  return wanted.empty() ||
         (value && std::find(wanted.begin(), wanted.end(), *value) != wanted.end());
}

Result<void> run(Context& ctx, const Flags& f) {
  RS_TRY(const std::vector<RunPlan> plans, discover_sweep(f.sweep, f.discover, ctx.diagnostics));
  std::vector<RankFile> files;
  std::vector<const RunPlan*> plan_of;
  for (const RunPlan& plan : plans)
    for (const RankFile& file : plan.ranks)
      if (chosen(f.threads, plan.threads) &&
          chosen(f.channels, plan.channels ? plan.channels : plan.cus) &&
          chosen(f.ranks, file.rank)) {
        files.push_back(file);
        plan_of.push_back(&plan);
      }
  if (files.empty())
    return Error{ErrorCode::kUsage, f.sweep, "no trace matches --threads, --channels and --ranks",
                 ""};
  std::vector<RankGemms> gemms(files.size());
  LoadOptions load;
  load.threads = ctx.threads;
  RS_CHECK(load_each(files, load, [&](std::size_t i, Result<LoadedTrace> loaded) {
    if (!loaded) {
      ctx.diagnostics.add(Severity::kDataLoss, "rank_failed " + files[i].path,
                          fmt::format("{} rank {}", plan_of[i]->label, files[i].rank),
                          loaded.error().message());
      return;
    }
    gemms[i] = extract_gemms(*loaded, ReportOptions{});
    gemms[i].config = plan_of[i]->label;
    gemms[i].threads = plan_of[i]->threads;
    gemms[i].channels = plan_of[i]->channels;
    gemms[i].cus = plan_of[i]->cus;
  }));
  const GemmRanking ranking = f.rank_by == "cv"             ? GemmRanking::kCv
                              : f.rank_by == "total-excess" ? GemmRanking::kTotalExcess
                                                            : GemmRanking::kRange;
  const GemmTables tables = gemm_tables(gemms, f.top_k, ranking);
  Report report;
  report.tables.push_back(f.step == "variance"     ? tables.variance
                          : f.step == "timestamps" ? tables.timestamps
                                                   : tables.overlap);
  const Table& table = report.tables.front();
  if (table.rows() == 0)
    return Error{ErrorCode::kUnreadable, f.sweep, "no GEMM operator or kernel in any trace", ""};
  const std::string folder = f.output.empty() ? f.sweep + "/tracelens_analysis" : f.output;
  RS_CHECK(find_writer("csv")->write(report, folder));
  if (ctx.json) {
    ctx.out(json_text(report));
    return {};
  }
  ctx.out(
      console_table(table.select({"configuration", "rank", "op", "input_dims", "kernel_time_min_us",
                                  "kernel_time_max_us", "time_diff_us", "count"}),
                    10));
  for (const std::string& finding : gemm_findings(tables, 3))
    ctx.out("- " + finding + "\n");
  ctx.out(fmt::format("{}/{}.csv: {} rows\n", folder, table.name(), table.rows()));
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("STEP", f->step, "variance, timestamps or overlap")
      ->required()
      ->check(CLI::IsMember({"variance", "timestamps", "overlap"}));
  app.add_option("SWEEP", f->sweep, "sweep, run or folder of traces")->required();
  app.add_option("-o,--output", f->output, "folder of the CSV (default: SWEEP/tracelens_analysis)");
  app.add_option("--top-k", f->top_k, "GEMMs per rank")->capture_default_str();
  app.add_option("--rank-by", f->rank_by, "range, cv or total-excess")
      ->check(CLI::IsMember({"range", "cv", "total-excess"}))
      ->capture_default_str();
  app.add_option("--threads", f->threads, "only these")->delimiter(',');
  app.add_option("--channels", f->channels, "only these")->delimiter(',');
  app.add_option("--ranks", f->ranks, "only these")->delimiter(',');
  app.add_option("--trace-name", f->discover.trace_name, "file name that wins within a rank");
  app.add_option("--rank-regex", f->discover.rank_regex, "group 1 of a match is the rank");
  return [f](Context& ctx) { return run(ctx, *f); };
}

} // namespace

const Command gemm_command{
    "gemm", "GEMM variance: spread, when it happened, which collectives ran beside it",
    "  rankscope gemm variance sweep --top-k 5\n"
    "  rankscope gemm timestamps sweep --threads 256,512 --channels 28,42\n"
    "  rankscope gemm overlap sweep --rank-by total-excess",
    setup};

} // namespace rankscope
