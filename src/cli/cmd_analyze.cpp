// rankscope analyze SWEEP: every configuration and rank below a folder, each trace parsed once; all
// reports, tables, plots and the page of the sweep.
#include "analyses/compare/compare_reports.h"
#include "app/analyze_run.h"
#include "base/fnv.h"
#include "base/json_text.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "os/output_file.h"
#include "pages/sweep_page.h"
#include "pages/variance_plots.h"
#include "writers/console.h"
#include "writers/markdown.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <sys/stat.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string sweep;
  std::string sweep2;
  std::string label1, label2;
  std::string output;
  std::string html;
  DiscoverOptions discover;
  std::size_t top_k = 5;
  std::uint64_t memory_mib = 0;
  bool dry_run = false;
  bool no_merge = false;
  bool no_plots = false;
  bool svg = false;
  bool force = false;
  std::string rank_by = "range";
  ReportOptions report;
};

/// A sweep with its results.
struct Sweep {
  std::string folder, label, merged_folder;
  OutputLayout layout{""};
  std::vector<RunPlan> plans;
  std::vector<ConfigResult> configs; ///< one per plan
  std::size_t redone = 0;
  std::vector<std::string> outputs; ///< files over all configurations
  Report summary;
  std::vector<std::string> findings, next;
};

std::string leaf_name(const std::string& path) {
  const fs::path p = fs::absolute(path).lexically_normal();
  return (p.has_filename() ? p : p.parent_path()).filename().string();
}

/// What the outputs of a configuration depend on, beside the traces.
std::string options_text(const Flags& f) {
  return fmt::format("top_k={} rank_by={} merge={} gpu_arch={}", f.top_k, f.rank_by, !f.no_merge,
                     f.report.gpu_arch);
}

std::string list(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines)
    out += "- " + markdown_escaped(line) + "\n";
  return out;
}

std::string summary_markdown(const Sweep& sweep) {
  std::string out = "# Summary\n\n" + list(sweep.findings);
  if (!sweep.next.empty())
    out += "\n## What to try next\n\n" + list(sweep.next);
  const Table shown = sweep.summary.tables.front().select(
      {"configuration", "ranks", "mean total_time (ms)", "mean computation_time (ms)",
       "mean exposed_comm_time (ms)", "mean idle_time (ms)", "slowest rank"});
  return out + "\n## Configurations\n\n" + markdown_table(shown) +
         "\nTimes are means over ranks.\n";
}

/// comparisons/compare_<C>ch_rank<r>_across_threads.xlsx for each channel setting and rank that at
/// least two thread settings have; the smallest thread setting is the baseline.
Result<void> write_comparisons(Sweep& sweep) {
  struct Side {
    const ConfigResult* config;
    const Report* report;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::int64_t, Side>> groups;
  for (const ConfigResult& config : sweep.configs)
    if (has_sweep_names(config.configuration))
      for (const auto& [rank, report] : config.compared)
        if (report.tables.size() == 2)
          groups[{*config.configuration.channels(), rank}][*config.configuration.threads()] = {
              &config, &report};
  for (const auto& [key, by_threads] : groups) {
    if (by_threads.size() < 2)
      continue;
    std::vector<Report> sides;
    std::vector<std::string> tags;
    bool changed = false;
    for (const auto& [threads, side] : by_threads) {
      sides.push_back(*side.report);
      tags.push_back(fmt::format("{}thread", threads));
      changed = changed || !side.config->reused;
    }
    const std::string path = sweep.layout.comparison(key.first, key.second);
    sweep.outputs.push_back(path);
    std::error_code ec;
    if (!changed && fs::exists(path, ec))
      continue;
    RS_TRY(const Report report,
           compare_reports(sides, tags, {{"gpu_timeline", "ops_summary"}, false}));
    RS_CHECK(make_folder(sweep.layout.comparisons()));
    RS_CHECK(find_writer("xlsx")->write(report, path));
  }
  return {};
}

/// The tables over all configurations, the summary and the plots.
Result<void> write_sweep_outputs(Context& ctx, const Flags& f, Sweep& sweep) {
  const OutputLayout& out = sweep.layout;
  std::vector<RankRecord> records;
  std::vector<const Table*> gemm_parts;
  std::vector<ConfigCollectives> collectives;
  for (const ConfigResult& config : sweep.configs) {
    records.insert(records.end(), config.records.begin(), config.records.end());
    gemm_parts.push_back(&config.gemms);
    if (config.collectives)
      collectives.push_back({config.configuration,
                             fs::path(config.collective_file).filename().string(),
                             *config.collectives});
  }
  if (std::all_of(records.begin(), records.end(),
                  [](const RankRecord& r) { return !r.error.empty(); }))
    return Error{ErrorCode::kUnreadable, sweep.folder, "no trace could be analysed", ""};
  sweep.summary.title = sweep.folder;
  sweep.summary.tables = summary_tables(records, f.top_k);
  sweep.summary.diagnostics = ctx.diagnostics;
  sweep.findings = summary_findings(records);
  const auto write = [&](const char* writer, const Report& report,
                         const std::string& path) -> Result<void> {
    RS_CHECK(find_writer(writer)->write(report, path));
    sweep.outputs.push_back(path);
    return {};
  };
  const GemmTables gemm = join_gemm_tables(gemm_parts, f.top_k, gemm_ranking(f.rank_by));
  Report csvs;
  csvs.tables = {gemm.variance, gemm.timestamps, gemm.overlap};
  RS_CHECK(find_writer("csv")->write(csvs, out.folder()));
  for (const GemmTable t : {GemmTable::kVariance, GemmTable::kTimestamps, GemmTable::kOverlap})
    sweep.outputs.push_back(out.gemm_csv(f.top_k, t));
  for (std::string& finding : gemm_findings(gemm, 5))
    sweep.findings.push_back(std::move(finding));
  sweep.next = next_steps(records, gemm.overlap);
  RS_CHECK(write_comparisons(sweep));
  for (const char* aggregation : {"mean", "geomean"}) {
    Report all;
    all.tables = timeline_all_configs(records, aggregation);
    RS_CHECK(write("xlsx", all, out.timeline_all_configs(aggregation)));
  }
  if (!collectives.empty()) {
    Report master;
    master.tables.push_back(nccl_master(collectives));
    Report book = master;
    book.tables.front().set_name("NCCL_Data");
    RS_CHECK(write("xlsx", book, out.nccl_master_workbook()));
    RS_CHECK(find_writer("csv")->write(master, out.folder()));
    sweep.outputs.push_back(out.nccl_master_csv());
  }
  RS_CHECK(write("xlsx", sweep.summary, out.summary_workbook()));
  RS_CHECK(find_writer("csv")->write(sweep.summary, out.summary_csv()));
  RS_TRY(auto markdown, OutputFile::create(out.summary_markdown()));
  markdown.write(summary_markdown(sweep));
  RS_CHECK(markdown.commit());
  sweep.outputs.push_back(out.summary_markdown());
  return {};
}

/// Plots and page of one sweep; not again when nothing changed since they were made. The plots are
/// drawn by other processes while the tables are written.
class Pictures {
public:
  Pictures(const Flags& f, Sweep& sweep) : f_(f), sweep_(sweep) {
    std::string all = fmt::format("{} svg={} label={}\n", options_text(f), f.svg, sweep.label);
    for (const RunPlan& plan : sweep.plans)
      all += fingerprint_of(plan, "");
    mark_ = sweep.layout.state_folder() + "/pictures_" + fnv64_hex(all);
  }

  void start() {
    std::error_code ec;
    if (sweep_.redone == 0 && fs::exists(page(), ec) && fs::exists(sweep_.layout.plots(), ec) &&
        fs::exists(mark_, ec))
      return;
    wanted_ = true;
    // gone first: an interrupted run must not leave it beside half of the plots
    const std::string folder = sweep_.layout.state_folder();
    for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
      if (it->path().filename().string().rfind("pictures_", 0) == 0)
        fs::remove(it->path(), ec);
    std::vector<const Table*> parts;
    for (const ConfigResult& config : sweep_.configs)
      parts.push_back(&config.gemms);
    Table variance = join_gemm_tables(parts, f_.top_k, gemm_ranking(f_.rank_by)).variance;
    if (variance.rows() > 0)
      drawing_ = std::async(std::launch::async, [this, variance = std::move(variance)] {
        return write_variance_plots(variance, sweep_.layout.plots(), f_.svg);
      });
  }

  Result<void> finish(Context& ctx) {
    if (drawing_.valid())
      if (Result<void> drawn = drawing_.get(); !drawn) {
        if (drawn.error().code != ErrorCode::kMissingTool)
          return drawn;
        ctx.warn(drawn.error().message());
        ctx.partial = true;
      }
    if (wanted_) {
      RS_CHECK(write_sweep_page(ctx, {{sweep_.layout.folder(), sweep_.label}}, page()));
      if (!ctx.partial) {
        RS_CHECK(make_folder(sweep_.layout.state_folder()));
        RS_TRY(auto file, OutputFile::create(mark_));
        RS_CHECK(file.commit());
      }
    }
    sweep_.outputs.push_back(page());
    std::error_code ec;
    for (fs::directory_iterator it(sweep_.layout.plots(), ec), end; !ec && it != end;
         it.increment(ec))
      sweep_.outputs.push_back(it->path().string());
    return {};
  }

private:
  [[nodiscard]] std::string page() const { return sweep_.layout.page(); }

  const Flags& f_;
  Sweep& sweep_;
  std::string mark_;
  bool wanted_ = false;
  std::future<Result<void>> drawing_;
};

/// manifest.json: what was read, how, and what was made of it.
Result<void> write_manifest(const Flags& f, const Sweep& sweep) {
  const auto text = [](std::string_view s) { return "\"" + json_escaped(s) + "\""; };
  RS_TRY(auto file, OutputFile::create(sweep.layout.manifest()));
  file.write(fmt::format("{{\"rankscope\": {}, \"sweep\": {}, \"options\": {},\n\"inputs\": [",
                         text(RANKSCOPE_VERSION), text(sweep.folder), text(options_text(f))));
  std::vector<std::string> outputs = sweep.outputs;
  bool first = true;
  for (std::size_t p = 0; p < sweep.plans.size(); ++p) {
    const ConfigResult& config = sweep.configs[p];
    outputs.insert(outputs.end(), config.outputs.begin(), config.outputs.end());
    for (const RankFile& input : sweep.plans[p].ranks) {
      struct stat info = {};
      ::stat(input.path.c_str(), &info);
      std::string error;
      for (const RankRecord& r : config.records)
        if (r.key.rank == input.rank)
          error = r.error;
      file.write(fmt::format(
          "{}\n {{\"configuration\": {}, \"rank\": {}, \"path\": {}, \"bytes\": {}, "
          "\"modified_ns\": {}, \"reused\": {}, \"error\": {}}}",
          first ? "" : ",", text(config.configuration.label), input.rank, text(input.path),
          input.bytes, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec, config.reused,
          error.empty() ? "null" : text(error)));
      first = false;
    }
  }
  file.write("],\n\"outputs\": [");
  std::sort(outputs.begin(), outputs.end());
  first = true;
  for (const std::string& path : outputs) {
    std::error_code ec;
    const auto bytes = fs::file_size(path, ec);
    if (ec)
      continue;
    file.write(
        fmt::format("{}\n {{\"path\": {}, \"bytes\": {}}}", first ? "" : ",", text(path), bytes));
    first = false;
  }
  file.write("]}\n");
  return file.commit();
}

void print_sweep(Context& ctx, const Flags& f, const Sweep& sweep) {
  if (ctx.json) {
    ctx.out(json_text(sweep.summary));
    return;
  }
  if (!f.sweep2.empty())
    ctx.out(sweep.label + "\n");
  ctx.out(console_table(
      sweep.summary.tables.front().select(
          {"configuration", "ranks", "mean total_time (ms)", "mean computation_time (ms)",
           "mean exposed_comm_time (ms)", "mean idle_time (ms)", "slowest rank"}),
      40));
  ctx.out("\n");
  for (const std::string& finding : sweep.findings)
    ctx.out("- " + finding + "\n");
  if (!sweep.next.empty())
    ctx.out("\nWhat to try next\n");
  for (const std::string& step : sweep.next)
    ctx.out("- " + step + "\n");
  if (sweep.redone < sweep.plans.size())
    ctx.out(fmt::format("\n{} of {} configurations were unchanged since an earlier run (--force "
                        "redoes them)\n",
                        sweep.plans.size() - sweep.redone, sweep.plans.size()));
  std::size_t ranks = 0;
  std::size_t collective = 0;
  for (const ConfigResult& config : sweep.configs) {
    ranks += config.records.size();
    collective += config.collective_file.empty() ? 0 : 1;
  }
  ctx.out(fmt::format("\n{}: {} individual and {} collective reports, {}*.csv, summary.md\n",
                      sweep.layout.folder(), ranks, collective,
                      gemm_table_name(f.top_k, GemmTable::kVariance)));
  if (!f.no_merge)
    ctx.out(fmt::format("{}: merged traces for Perfetto\n", sweep.merged_folder));
  if (!f.no_plots)
    ctx.out(fmt::format("{}: open it in a browser\n", sweep.layout.page()));
}

Result<void> analyze_one(Context& ctx, const Flags& f, Sweep& sweep) {
  RS_TRY(sweep.plans, discover_sweep(sweep.folder, f.discover, ctx.diagnostics));
  if (f.dry_run) {
    for (const RunPlan& plan : sweep.plans)
      for (const RankFile& file : plan.ranks)
        ctx.out(fmt::format("{} rank {}: {} -> {}\n", plan.configuration.label, file.rank,
                            file.path,
                            sweep.layout.individual_report({plan.configuration, file.rank})));
    return {};
  }
  RS_CHECK(make_folder(sweep.layout.folder()));
  AnalyzeRun run;
  run.layout = sweep.layout;
  run.merged_folder = f.no_merge ? "" : sweep.merged_folder;
  run.report = f.report;
  run.top_k = f.top_k;
  run.ranking = gemm_ranking(f.rank_by);
  run.memory_bytes = f.memory_mib << 20;
  run.options = options_text(f);
  std::vector<const RunPlan*> todo;
  std::vector<std::size_t> place;
  sweep.configs.resize(sweep.plans.size());
  for (std::size_t p = 0; p < sweep.plans.size(); ++p) {
    const RunPlan& plan = sweep.plans[p];
    std::optional<ConfigResult> known;
    if (!f.force)
      known = load_state(sweep.layout.state(plan.configuration), fingerprint_of(plan, run.options),
                         ctx.diagnostics);
    if (known) {
      sweep.configs[p] = std::move(*known);
    } else {
      todo.push_back(&plan);
      place.push_back(p);
    }
  }
  sweep.redone = todo.size();
  RS_TRY(std::vector<ConfigResult> results, run_configurations(ctx, run, todo));
  for (std::size_t i = 0; i < results.size(); ++i)
    sweep.configs[place[i]] = std::move(results[i]);
  Pictures pictures(f, sweep);
  if (!f.no_plots)
    pictures.start();
  RS_CHECK(write_sweep_outputs(ctx, f, sweep));
  if (!f.no_plots)
    RS_CHECK(pictures.finish(ctx));
  RS_CHECK(write_manifest(f, sweep));
  print_sweep(ctx, f, sweep);
  return {};
}

Result<void> analyze(Context& ctx, const Flags& f) {
  std::vector<Sweep> sweeps;
  for (const auto& [folder, label] :
       {std::pair(f.sweep, f.label1), std::pair(f.sweep2, f.label2)}) {
    if (folder.empty())
      continue;
    Sweep sweep;
    sweep.folder = folder;
    sweep.label = label.empty() ? leaf_name(folder) : label;
    if (!sweeps.empty() && sweep.label == sweeps.front().label)
      sweep.label += " (2)";
    std::string sub = sweep.label;
    std::replace(sub.begin(), sub.end(), '/', '_');
    sweep.layout = OutputLayout(f.output.empty()   ? fmt::format("{}/{}", folder, kAnalysisFolder)
                                : f.sweep2.empty() ? f.output
                                                   : f.output + "/" + sub);
    sweep.merged_folder =
        fmt::format("{}/{}", f.output.empty() ? folder : sweep.layout.folder(), kMergedFolder);
    sweeps.push_back(std::move(sweep));
  }
  for (Sweep& sweep : sweeps)
    RS_CHECK(analyze_one(ctx, f, sweep));
  if (f.dry_run || (sweeps.size() < 2 && f.html.empty()))
    return {};
  std::vector<AnalysedSweep> sides;
  for (const Sweep& sweep : sweeps)
    sides.push_back({sweep.layout.folder(), sweep.label});
  const std::string page = !f.html.empty()    ? f.html
                           : f.output.empty() ? "sweep_comparison_report.html"
                                              : f.output + "/sweep_comparison_report.html";
  RS_CHECK(write_sweep_page(ctx, sides, page));
  if (!ctx.json)
    ctx.out(page + ": the sweeps side by side\n");
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("SWEEP", f->sweep, "sweep, run or any folder of traces")->required();
  app.add_option("--sweep2", f->sweep2, "another sweep to analyse and compare with");
  app.add_option("--label1", f->label1, "name of the sweep (default: its folder)");
  app.add_option("--label2", f->label2, "name of --sweep2");
  app.add_option("-o,--output", f->output,
                 "output folder (default: SWEEP/tracelens_analysis); with --sweep2 a folder for "
                 "each label in it");
  app.add_option("--html", f->html, "another place for the HTML page");
  app.add_option("--top-k", f->top_k, "GEMMs listed per rank")->capture_default_str();
  app.add_option("--memory-mib", f->memory_mib, "limit for traces in flight, 0 = half of the free");
  app.add_option("--rank-by", f->rank_by, "order of GEMMs: by range, cv or total-excess")
      ->check(CLI::IsMember({"range", "cv", "total-excess"}))
      ->capture_default_str();
  app.add_flag("--force", f->force, "redo what an earlier run has done");
  app.add_flag("--no-plots", f->no_plots, "neither plots nor HTML page");
  app.add_flag("--svg", f->svg, "plots as SVG too");
  app.add_flag("--no-merge", f->no_merge, "write no merged traces");
  app.add_flag("--dry-run", f->dry_run, "print what would be read and written");
  app.add_option("--gpu-arch", f->report.gpu_arch, "GPU for rooflines: built-in name or JSON file");
  add_discover_flags(app, f->discover, true);
  f->report.include_unlinked_kernels = true; // as the sweep scripts asked for
  f->report.short_kernel_threshold_us = 50;
  return [f](Context& ctx) { return analyze(ctx, *f); };
}

} // namespace

const Command analyze_command{
    "analyze", "a whole sweep: every report, table and plot, and what to try next",
    "  rankscope analyze experiments/sweep_20251124_222204\n"
    "  rankscope analyze traces/ -o out --top-k 10\n"
    "  rankscope analyze before --sweep2 after --label1 old --label2 new\n"
    "  rankscope analyze sweep --dry-run",
    setup};

} // namespace rankscope
