// rankscope collectives DIR...: the collectives of all ranks of a run.
#include "analyses/collectives/collective_report.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "engine/loader.h"
#include "writers/console.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <mutex>

namespace rankscope {
namespace {

struct Flags {
  std::vector<std::string> inputs;
  std::string output;
  std::string csv_dir;
  std::string align = "collectives";
  std::string compat;
  bool dry_run = false;
  std::size_t world_size = 0; ///< ranks that there should be; 0 = not said
  std::string ignored;
  std::uint64_t memory_mib = 0;
  DiscoverOptions discover;
  CollectiveOptions report;
};

constexpr std::size_t kExcelRows = 1'048'575;

Result<void> run(Context& ctx, const Flags& f) {
  RS_TRY(const RunPlan plan, discover_run(f.inputs, f.discover, ctx.diagnostics));
  if (f.world_size > plan.ranks.size() + plan.missing_ranks.size())
    ctx.diagnostics.add(Severity::kDataLoss, "world_size", plan.folder,
                        fmt::format("{} of {} ranks found", plan.ranks.size(), f.world_size));
  if (f.dry_run) {
    for (const RankFile& file : plan.ranks)
      ctx.out(fmt::format("rank {}: {} ({} bytes)\n", file.rank, file.path, file.bytes));
    for (const std::int64_t r : plan.missing_ranks)
      ctx.out(fmt::format("rank {}: missing\n", r));
    return {};
  }
  std::vector<RankCollectives> ranks(plan.ranks.size());
  std::vector<char> good(plan.ranks.size(), 0);
  LoadOptions load;
  load.threads = ctx.threads;
  load.memory_limit_bytes = f.memory_mib << 20;
  RS_CHECK(load_each(plan.ranks, load, [&](std::size_t i, Result<LoadedTrace> loaded) {
    if (!loaded) {
      ctx.diagnostics.add(Severity::kDataLoss, fmt::format("rank_failed {}", plan.ranks[i].rank),
                          fmt::format("rank {}", plan.ranks[i].rank), loaded.error().message());
      return;
    }
    if (const auto own = loaded->trace.header.rank; own && *own != plan.ranks[i].rank)
      ctx.diagnostics.add(Severity::kWarning, fmt::format("rank_disagrees {}", plan.ranks[i].rank),
                          plan.ranks[i].path,
                          fmt::format("distributedInfo says rank {}, the name {}; the name counts",
                                      *own, plan.ranks[i].rank));
    ctx.diagnostics.merge(loaded->trace.diagnostics);
    ranks[i] = extract_collectives(*loaded);
    good[i] = 1;
  }));
  std::vector<RankCollectives> kept;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (good[i] != 0)
      kept.push_back(std::move(ranks[i]));
  if (kept.empty())
    return Error{ErrorCode::kUnreadable, plan.folder, "no rank could be read", ""};
  RS_TRY(Report report, build_collective_report(kept, f.report));
  report.title = plan.configuration.label;
  report.diagnostics = ctx.diagnostics;
  if (ctx.json)
    ctx.out(json_text(report));
  std::vector<std::string> written;
  if (!f.csv_dir.empty()) {
    RS_CHECK(find_writer("csv")->write(report, f.csv_dir));
    written.push_back(f.csv_dir);
  }
  const std::string out = !f.output.empty() ? f.output
                          : f.csv_dir.empty() && !ctx.json
                              ? plan.folder + "/nccl_analysis_report.xlsx"
                              : "";
  if (!out.empty()) {
    if (Table* all = const_cast<Table*>(report.find("nccl_long"));
        all != nullptr && all->rows() > kExcelRows) {
      Report csv;
      csv.tables.push_back(*all);
      RS_CHECK(find_writer("csv")->write(csv, out + "_csv"));
      all->notes.push_back("all rows in one file: " + out + "_csv/nccl_long.csv");
      written.push_back(out + "_csv");
    }
    RS_CHECK(find_writer("xlsx")->write(report, out));
    written.push_back(out);
  }
  if (!ctx.json) {
    for (const char* name : {"nccl_summary_implicit_sync", "straggler_summary", "exposed_by_rank"})
      if (const Table* t = report.find(name)) {
        Table shown = *t;
        if (std::string_view(name) == "nccl_summary_implicit_sync")
          shown = t->select({"Collective name", "dtype", "In msg nelems", "Process Group Name",
                             "comm_latency_mean", "skew in start time_mean", "bus bw (GB/s)_mean",
                             "count", "Total comm latency (ms)"});
        ctx.out(fmt::format("{}\n{}\n", name, console_table(shown, 16)));
      }
    if (const Table* findings = report.find("findings"))
      for (std::size_t r = 0; r < findings->rows(); ++r)
        ctx.out(fmt::format("- {} (sheet {})\n", findings->at(r, 0).text, findings->at(r, 1).text));
    for (const std::string& w : written)
      ctx.out(fmt::format("{}: {} sheets, {} ranks\n", w, report.tables.size(), kept.size()));
  }
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("DIR", f->inputs, "folders of rank traces, or the files");
  app.add_option("-o,--output", f->output, "workbook (default: DIR/nccl_analysis_report.xlsx)");
  app.add_option("--csv-dir", f->csv_dir, "folder for one CSV per sheet");
  app.add_option("--align", f->align, "clocks: none, base (time bases), collectives (their ends)")
      ->check(CLI::IsMember({"none", "base", "collectives"}))
      ->capture_default_str();
  app.add_option("--gpus-per-node", f->report.gpus_per_node, "0: devices in the first trace")
      ->capture_default_str();
  app.add_option("--agg-metrics", f->report.agg_metrics, "of mean, median, min, max, std")
      ->delimiter(',')
      ->check(CLI::IsMember({"mean", "median", "min", "max", "std"}))
      ->capture_default_str();
  app.add_option("--compat", f->compat, "reproduce another tool's units and columns")
      ->check(CLI::IsMember({"tracelens"}));
  app.add_flag("--all2allv-heatmap", f->report.all_to_all_v_heatmap,
               "who sends how much to whom in all-to-all-v");
  app.add_option("--memory-mib", f->memory_mib, "limit for traces in flight, 0 = half of the free");
  app.add_flag("--dry-run", f->dry_run, "print which file is which rank");
  add_discover_flags(app, f->discover, false);
  // of the script that this command replaces, where they have other names
  app.add_option("--trace-dir", f->inputs)->group("");
  app.add_option("--output-xlsx-path", f->output)->group("");
  app.add_option("--output-csvs-dir", f->csv_dir)->group("");
  app.add_option("--world-size", f->world_size)->group("");
  app.add_option("--max-workers", f->ignored)->group("");
  for (const char* name : {"--detailed-analysis", "--use-multiprocessing"})
    app.add_flag(name)->group("");
  return [f](Context& ctx) -> Result<void> {
    // a pattern with its folder in it needs no other
    if (std::string& pattern = f->discover.trace_pattern;
        f->inputs.empty() && pattern.find('*') != std::string::npos) {
      const std::size_t slash = pattern.rfind('/', pattern.find('*'));
      f->inputs = {slash == std::string::npos ? "." : slash == 0 ? "/" : pattern.substr(0, slash)};
      if (slash != std::string::npos)
        pattern.erase(0, slash + 1);
    }
    if (f->inputs.empty())
      return Error{ErrorCode::kUsage, "collectives", "needs a folder of rank traces",
                   "rankscope collectives --help"};
    f->report.align = f->align == "none"   ? AlignMode::kNone
                      : f->align == "base" ? AlignMode::kBase
                                           : AlignMode::kCollectives;
    f->report.compat_tracelens = !f->compat.empty();
    if (f->report.compat_tracelens && f->align == "collectives")
      f->report.align = AlignMode::kNone; // the reference compares raw times
    return run(ctx, *f);
  };
}

} // namespace

const Command collectives_command{
    "collectives", "collectives of all ranks: bandwidth, skew, stragglers, exposed time",
    "  rankscope collectives run/torch_profiler\n"
    "  rankscope collectives run -o nccl.xlsx --align collectives --gpus-per-node 8\n"
    "  rankscope collectives run --dry-run",
    setup};

} // namespace rankscope
