// rankscope analyze SWEEP: every configuration and rank below a folder, each trace parsed once, an
// individual report per rank and the summary over all.
#include "analyses/sweep_summary.h"
#include "base/output_file.h"
#include "cli/command.h"
#include "readers/loader.h"
#include "writers/console.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <chrono>
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
  for (const Item& item : items)
    RS_CHECK(make_folder(item.output.substr(0, item.output.rfind('/'))));
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
    } else if (Result<void> written = find_writer("xlsx")->write(*report, item.output); !written) {
      const std::lock_guard lock(mutex);
      if (!output_error)
        output_error = written.error();
    }
    progress.step(item.file.bytes);
  };
  RS_CHECK(load_each(files, load, consume));
  if (output_error)
    return *output_error;

  Report summary;
  summary.title = f.sweep;
  summary.tables = summary_tables(records, f.top_k);
  summary.diagnostics = ctx.diagnostics;
  const std::vector<std::string> findings = summary_findings(records);
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
    ctx.out(fmt::format("\n{} individual reports, summary.xlsx and summary.md are in {}\n",
                        items.size(), out));
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
