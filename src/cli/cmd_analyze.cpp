// rankscope analyze SWEEP: every configuration and rank below a folder, each trace parsed once, an
// individual report per rank and the summary over all.
#include "analyses/collective_report.h"
#include "analyses/compare_reports.h"
#include "analyses/gemm_data.h"
#include "analyses/sweep_summary.h"
#include "base/output_file.h"
#include "cli/command.h"
#include "cli/variance_plots.h"
#include "readers/loader.h"
#include "writers/console.h"
#include "writers/merged_trace.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <unistd.h>

namespace rankscope {
namespace {

struct Flags {
  std::string sweep;
  std::string output;
  DiscoverOptions discover;
  std::size_t top_k = 5;
  std::uint64_t memory_mib = 0;
  bool dry_run = false;
  bool no_merge = false;
  bool no_plots = false;
  bool svg = false;
  std::string rank_by = "range";
  ReportOptions report;
};

struct Item {
  const RunPlan* plan = nullptr;
  RankFile file;
  std::string output;
};

/// <T>thread/individual_reports/perf_<C>ch_rank<r>.xlsx for a sweep of threads and channels,
/// <label>/individual_reports/perf_rank<r>.xlsx otherwise.
std::string report_path(const std::string& out, const RunPlan& plan, std::int64_t rank) {
  if (plan.threads && plan.channels)
    return fmt::format("{}/{}thread/individual_reports/perf_{}ch_rank{}.xlsx", out, *plan.threads,
                       *plan.channels, rank);
  return fmt::format("{}/{}/individual_reports/perf_rank{}.xlsx", out, plan.label, rank);
}

/// collective_reports/collective_<C>ch.xlsx beside the individual ones.
std::string collective_path(const std::string& out, const RunPlan& plan) {
  if (plan.threads && plan.channels)
    return fmt::format("{}/{}thread/collective_reports/collective_{}ch.xlsx", out, *plan.threads,
                       *plan.channels);
  return fmt::format("{}/{}/collective_reports/collective_all_ranks.xlsx", out, plan.label);
}

/// What is made of a configuration while its ranks pass by, in the order of the ranks.
struct ConfigWork {
  std::vector<RankCollectives> collectives;
  std::optional<MergedTraceWriter> merged;
  std::size_t left = 0;
};

/// Lets workers take turns in the order of the items, so that a merged trace is written rank after
/// rank while its neighbours are still being parsed.
class Turnstile {
public:
  void wait_for(std::size_t turn) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return next_ == turn; });
  }
  void pass() {
    {
      const std::lock_guard lock(mutex_);
      ++next_;
    }
    moved_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable moved_;
  std::size_t next_ = 0;
};

/// Passes the turn on however a scope ends.
struct PassAtEnd {
  Turnstile& turnstile;
  ~PassAtEnd() { turnstile.pass(); }
};

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

/// A bar with rate and time left on a terminal, a line per tenth otherwise.
class Progress {
public:
  Progress(const Context& ctx, std::size_t total, std::uint64_t bytes)
      : ctx_(ctx), total_(total), bytes_total_(bytes), terminal_(::isatty(2) == 1),
        start_(std::chrono::steady_clock::now()) {}

  void step(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    ++done_;
    bytes_ += bytes;
    if (ctx_.quiet || total_ < 2)
      return;
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double rate = seconds > 0 ? static_cast<double>(bytes_) / 1e6 / seconds : 0;
    const double left =
        rate > 0 ? static_cast<double>(bytes_total_ - std::min(bytes_total_, bytes_)) / 1e6 / rate
                 : 0;
    if (terminal_) {
      const std::size_t full = done_ * 30 / total_;
      std::fputs(fmt::format("\r[{}{}] {}/{} traces, {:.0f} MB/s, {:.0f} s left ",
                             std::string(full, '#'), std::string(30 - full, '.'), done_, total_,
                             rate, left)
                     .c_str(),
                 stderr);
      if (done_ == total_)
        std::fputs("\n", stderr);
    } else if (done_ * 10 / total_ != (done_ - 1) * 10 / total_) {
      ctx_.note(fmt::format("{} of {} traces, {:.0f} MB/s", done_, total_, rate));
    }
  }

private:
  const Context& ctx_;
  std::mutex mutex_;
  std::size_t total_;
  std::size_t done_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t bytes_total_;
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
};

std::string summary_markdown(const std::vector<std::string>& findings,
                             const std::vector<Table>& tables) {
  std::string out = "# Summary\n\n";
  for (const std::string& f : findings)
    out += "- " + f + "\n";
  const Table& configs = tables.front();
  out += "\n| configuration | ranks | total ms | compute ms | exposed communication ms | idle ms | "
         "slowest rank |\n|---|---|---|---|---|---|---|\n";
  for (std::size_t r = 0; r < configs.rows(); ++r)
    out +=
        fmt::format("| {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {} |\n",
                    configs.at(r, "configuration").text, configs.at(r, "ranks").i,
                    configs.at(r, "mean total_time (ms)").number(),
                    configs.at(r, "mean computation_time (ms)").number(),
                    configs.at(r, "mean exposed_comm_time (ms)").number(),
                    configs.at(r, "mean idle_time (ms)").number(), configs.at(r, "slowest rank").i);
  return out + "\nTimes are means over ranks.\n";
}

/// comparisons/compare_<C>ch_rank<r>_across_threads.xlsx for each channel setting and rank that at
/// least two thread settings have; the smallest thread setting is the baseline.
Result<void> write_comparisons(const std::vector<Item>& items, const std::vector<Report>& reports,
                               const std::string& out) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::int64_t, std::size_t>> groups;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].plan->threads && items[i].plan->channels && reports[i].tables.size() == 2)
      groups[{*items[i].plan->channels, items[i].file.rank}][*items[i].plan->threads] = i;
  for (const auto& [key, by_threads] : groups) {
    if (by_threads.size() < 2)
      continue;
    std::vector<Report> sides;
    std::vector<std::string> tags;
    for (const auto& [threads, i] : by_threads) {
      sides.push_back(reports[i]);
      tags.push_back(fmt::format("{}thread", threads));
    }
    RS_TRY(const Report report,
           compare_reports(sides, tags, {{"gpu_timeline", "ops_summary"}, false}));
    RS_CHECK(make_folder(out + "/comparisons"));
    RS_CHECK(find_writer("xlsx")->write(
        report, fmt::format("{}/comparisons/compare_{}ch_rank{}_across_threads.xlsx", out,
                            key.first, key.second)));
  }
  return {};
}

Result<void> analyze(Context& ctx, const Flags& f) {
  RS_TRY(const std::vector<RunPlan> plans, discover_sweep(f.sweep, f.discover, ctx.diagnostics));
  const std::string out = f.output.empty() ? f.sweep + "/tracelens_analysis" : f.output;
  std::vector<Item> items;
  std::uint64_t bytes = 0;
  for (const RunPlan& plan : plans)
    for (const RankFile& file : plan.ranks) {
      items.push_back({&plan, file, report_path(out, plan, file.rank)});
      bytes += file.bytes;
    }
  if (f.dry_run) {
    for (const Item& item : items)
      ctx.out(fmt::format("{} rank {}: {} -> {}\n", item.plan->label, item.file.rank,
                          item.file.path, item.output));
    return {};
  }
  // a folder that cannot be written shows before the long part
  const std::string merged_folder = (f.output.empty() ? f.sweep : out) + "/merged_traces";
  for (const Item& item : items) {
    RS_CHECK(make_folder(folder_of(item.output)));
    RS_CHECK(make_folder(folder_of(collective_path(out, *item.plan))));
  }
  if (!f.no_merge)
    RS_CHECK(make_folder(merged_folder));
  RS_TRY(auto markdown, OutputFile::create(out + "/summary.md"));

  std::vector<RankFile> files;
  for (const Item& item : items)
    files.push_back(item.file);
  std::vector<RankRecord> records(items.size());
  std::mutex mutex;
  std::optional<Error> output_error;
  Progress progress(ctx, items.size(), bytes);
  LoadOptions load;
  load.threads = ctx.threads;
  load.memory_limit_bytes = f.memory_mib << 20;
  std::vector<RankGemms> gemms(items.size());
  std::vector<Report> compared(items.size()); // gpu_timeline and ops_summary of each rank
  std::map<const RunPlan*, ConfigWork> work;
  for (const Item& item : items)
    ++work[item.plan].left;
  std::vector<std::pair<std::string, Table>> collective_tables; // by configuration
  Turnstile turnstile;
  std::vector<char> ordered(items.size(), 0);
  const auto keep_error = [&](Result<void> result) {
    if (!result) {
      const std::lock_guard lock(mutex);
      if (!output_error)
        output_error = result.error();
    }
  };
  // in the order of the items: the merged trace, and the collective report behind the last rank
  const auto in_order = [&](std::size_t i, const LoadedTrace* loaded,
                            std::optional<RankCollectives> collectives) {
    const Item& item = items[i];
    if (ordered[i] != 0) // a second call for the item, after an exception
      return;
    turnstile.wait_for(i);
    ordered[i] = 1;
    const PassAtEnd pass{turnstile};
    ConfigWork& config = work[item.plan];
    if (loaded != nullptr && !f.no_merge && item.plan->ranks.size() > 1) {
      if (!config.merged) {
        auto writer = MergedTraceWriter::create(
            fmt::format("{}/{}_merged.json", merged_folder, item.plan->label), {});
        if (writer)
          config.merged.emplace(std::move(*writer));
        else
          keep_error(writer.error());
      }
      if (config.merged)
        config.merged->add(loaded->trace, item.file.rank, 0, ctx.diagnostics);
    }
    if (collectives)
      config.collectives.push_back(std::move(*collectives));
    if (--config.left == 0) {
      if (config.merged)
        if (auto finished = config.merged->finish(); !finished)
          keep_error(finished.error());
      config.merged.reset();
      std::size_t rows = 0;
      for (const RankCollectives& r : config.collectives)
        rows += r.rows.size();
      if (rows > 0) {
        auto report = build_collective_report(config.collectives, CollectiveOptions{});
        if (report) {
          keep_error(find_writer("xlsx")->write(*report, collective_path(out, *item.plan)));
          if (const Table* t = report->find("nccl_summary_implicit_sync"))
            collective_tables.emplace_back(item.plan->label, *t);
        }
      }
      config.collectives.clear();
    }
  };
  const auto consume = [&](std::size_t i, Result<LoadedTrace> loaded) {
    const Item& item = items[i];
    RankRecord& record = records[i];
    const auto describe = [&] {
      record.config = item.plan->label;
      record.threads = item.plan->threads;
      record.channels = item.plan->channels;
      record.cus = item.plan->cus;
      record.rank = item.file.rank;
    };
    const auto fail = [&](const Error& error) {
      record.error = error.message();
      ctx.diagnostics.add(
          Severity::kDataLoss, fmt::format("rank_failed {} {}", item.plan->label, item.file.rank),
          fmt::format("{} rank {}", item.plan->label, item.file.rank), error.message());
    };
    if (!loaded) {
      describe();
      fail(loaded.error());
      in_order(i, nullptr, std::nullopt);
      progress.step(item.file.bytes);
      return;
    }
    Result<Report> report = build_report(*loaded, f.report);
    if (report) {
      record = make_record(*loaded, *report);
      ctx.diagnostics.merge(report->diagnostics);
    }
    describe();
    if (!report) {
      fail(report.error());
    } else {
      keep_error(find_writer("xlsx")->write(*report, item.output));
      for (const char* sheet : {"gpu_timeline", "ops_summary"})
        if (const Table* t = report->find(sheet))
          compared[i].tables.push_back(*t);
    }
    gemms[i] = extract_gemms(*loaded, f.report);
    gemms[i].config = item.plan->label;
    gemms[i].threads = item.plan->threads;
    gemms[i].channels = item.plan->channels;
    gemms[i].cus = item.plan->cus;
    in_order(i, &*loaded, extract_collectives(*loaded));
    progress.step(item.file.bytes);
  };
  RS_CHECK(load_each(files, load, consume));
  if (output_error)
    return *output_error;

  Report summary;
  summary.title = f.sweep;
  summary.tables = summary_tables(records, f.top_k);
  summary.diagnostics = ctx.diagnostics;
  std::vector<std::string> findings = summary_findings(records);
  const GemmRanking ranking = f.rank_by == "cv"             ? GemmRanking::kCv
                              : f.rank_by == "total-excess" ? GemmRanking::kTotalExcess
                                                            : GemmRanking::kRange;
  const GemmTables gemm = gemm_tables(gemms, f.top_k, ranking);
  Report csvs;
  csvs.tables = {gemm.variance, gemm.timestamps, gemm.overlap};
  RS_CHECK(find_writer("csv")->write(csvs, out));
  for (std::string& finding : gemm_findings(gemm, 5))
    findings.push_back(std::move(finding));
  RS_CHECK(write_comparisons(items, compared, out));
  if (!f.no_plots && gemm.variance.rows() > 0) {
    if (Result<void> drawn = write_variance_plots(gemm.variance, out + "/plots", f.svg); !drawn) {
      if (drawn.error().code != ErrorCode::kMissingTool)
        return drawn;
      ctx.warn(drawn.error().message());
      ctx.partial = true;
    }
  }
  for (const char* aggregation : {"mean", "geomean"}) {
    Report all;
    all.tables.push_back(timeline_all_configs(records, aggregation));
    RS_CHECK(find_writer("xlsx")->write(
        all, fmt::format("{}/gpu_timeline_all_configs_{}.xlsx", out, aggregation)));
  }
  if (!collective_tables.empty()) {
    std::sort(collective_tables.begin(), collective_tables.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    Report master;
    master.tables.push_back(nccl_master(collective_tables));
    RS_CHECK(find_writer("xlsx")->write(master, out + "/nccl_master_all_configs.xlsx"));
    RS_CHECK(find_writer("csv")->write(master, out));
  }
  RS_CHECK(find_writer("xlsx")->write(summary, out + "/summary.xlsx"));
  RS_CHECK(find_writer("csv")->write(summary, out + "/summary_csv"));
  markdown.write(summary_markdown(findings, summary.tables));
  RS_CHECK(markdown.commit());
  if (ctx.json) {
    ctx.out(json_text(summary));
  } else {
    Table shown = summary.tables.front().select(
        {"configuration", "ranks", "mean total_time (ms)", "mean computation_time (ms)",
         "mean exposed_comm_time (ms)", "mean idle_time (ms)", "slowest rank"});
    ctx.out(console_table(shown, 40));
    ctx.out("\n");
    for (const std::string& finding : findings)
      ctx.out("- " + finding + "\n");
    ctx.out(fmt::format("\n{} individual and {} collective reports, {}.csv, summary.xlsx and "
                        "summary.md are in {}\n",
                        items.size(), collective_tables.size(), gemm.overlap.name(), out));
    if (!f.no_merge)
      ctx.out(fmt::format("merged traces for Perfetto are in {}\n", merged_folder));
  }
  bool any = false;
  for (const RankRecord& r : records)
    any = any || r.error.empty();
  if (!any)
    return Error{ErrorCode::kUnreadable, f.sweep, "no trace could be analysed", ""};
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("SWEEP", f->sweep, "sweep, run or any folder of traces")->required();
  app.add_option("-o,--output", f->output, "output folder (default: SWEEP/tracelens_analysis)");
  app.add_option("--top-k", f->top_k, "GEMM kernels listed per configuration")
      ->capture_default_str();
  app.add_option("--memory-mib", f->memory_mib, "limit for traces in flight, 0 = half of the free");
  app.add_option("--rank-by", f->rank_by, "order of GEMMs: by range, cv or total-excess")
      ->check(CLI::IsMember({"range", "cv", "total-excess"}))
      ->capture_default_str();
  app.add_flag("--no-plots", f->no_plots, "draw no plots");
  app.add_flag("--svg", f->svg, "plots as SVG too");
  app.add_flag("--no-merge", f->no_merge, "write no merged traces");
  app.add_flag("--dry-run", f->dry_run, "print what would be read and written");
  app.add_flag("--require-all-ranks", f->discover.require_all_ranks, "a missing rank is an error");
  app.add_option("--trace-name", f->discover.trace_name, "file name that wins within a rank");
  app.add_option("--step", f->discover.step, "choose ..._step<N>... when a rank has several");
  app.add_option("--trace-pattern", f->discover.trace_pattern, "paths with * for the rank");
  app.add_option("--rank-regex", f->discover.rank_regex, "group 1 of a match is the rank");
  app.add_option("--config-regex", f->discover.config_regex,
                 "folders that are configurations; groups: threads, channels");
  app.add_option("--gpu-arch", f->report.gpu_arch, "GPU for rooflines: built-in name or JSON file");
  f->report.include_unlinked_kernels = true; // as the sweep scripts asked for
  f->report.short_kernel_threshold_us = 50;
  return [f](Context& ctx) { return analyze(ctx, *f); };
}

} // namespace

const Command analyze_command{"analyze",
                              "a whole sweep: a report per rank and the summary over all",
                              "  rankscope analyze experiments/sweep_20251124_222204\n"
                              "  rankscope analyze traces/ -o out --top-k 10\n"
                              "  rankscope analyze sweep --dry-run",
                              setup};

} // namespace rankscope
