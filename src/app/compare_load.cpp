#include "app/compare_load.h"

#include "analyses/analysis.h"
#include "analyses/collectives/collective_report.h"
#include "engine/loader.h"
#include "os/output_file.h"
#include "readers/reports/report_tables.h"
#include "writers/writer.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// The number behind the last "rank" of a name, or none.
std::optional<std::int64_t> rank_in(const std::string& name) {
  std::size_t at = name.rfind("rank");
  if (at == std::string::npos)
    return std::nullopt;
  at += 4;
  if (at < name.size() && name[at] == '_')
    ++at;
  std::size_t end = at;
  while (end < name.size() && end - at < 9 && name[end] >= '0' && name[end] <= '9')
    ++end;
  return end == at ? std::nullopt : std::optional(std::stoll(name.substr(at, end - at)));
}

/// Workbooks and CSV folders in `folder`, by name.
std::vector<std::string> reports_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().extension() == ".xlsx" || it->is_directory(ec))
      out.push_back(it->path().string());
  std::sort(out.begin(), out.end());
  return out;
}

/// FOLDER/NAME or FOLDER/tracelens_analysis/NAME, whichever is there; else empty.
fs::path report_folder(const std::string& folder, const char* name) {
  std::error_code ec;
  for (const fs::path& base : {fs::path(folder), fs::path(folder) / "tracelens_analysis"})
    if (fs::is_directory(base / name, ec))
      return base / name;
  return {};
}

void lose(Session& ctx, const std::string& path, std::int64_t rank, const std::string& why) {
  ctx.diagnostics.add(Severity::kDataLoss, "rank_lost_" + path, path,
                      fmt::format("rank {} is left out: {}", rank, why));
}

Result<ComparedRun> from_reports(Session& ctx, const CompareInput& input) {
  ComparedRun run;
  run.label = input.label;
  const fs::path individual = report_folder(input.folder, "individual_reports");
  const fs::path collective = report_folder(input.folder, "collective_reports");
  if (individual.empty() && collective.empty())
    return Error{ErrorCode::kUnreadable, input.folder, "neither traces nor reports in this folder",
                 "expected torch_profiler/rank<r>/*.json, or individual_reports/perf_rank<r>.xlsx"};
  std::map<std::int64_t, std::string> chosen;
  for (const std::string& path :
       individual.empty() ? std::vector<std::string>{} : reports_in(individual)) {
    const auto rank = rank_in(fs::path(path).filename().string());
    if (!rank)
      continue;
    const auto [at, added] = chosen.emplace(*rank, path);
    if (!added)
      return Error{ErrorCode::kUnreadable, individual.string(),
                   fmt::format("two reports of rank {}: {} and {}", *rank,
                               fs::path(at->second).filename().string(),
                               fs::path(path).filename().string()),
                   "give a folder with the reports of one configuration"};
  }
  for (const auto& [rank, path] : chosen) {
    const Result<Report> report = read_report_tables(path);
    std::optional<RankTimeline> timeline;
    if (report)
      timeline = rank_timeline(*report);
    if (timeline)
      run.ranks.emplace(rank, std::move(*timeline));
    else
      lose(ctx, path, rank, report ? "no sheet gpu_timeline" : report.error().message());
  }
  const std::vector<std::string> workbooks =
      collective.empty() ? std::vector<std::string>{} : reports_in(collective);
  if (workbooks.size() > 1)
    return Error{ErrorCode::kUnreadable, collective.string(), "more than one collective report",
                 "give a folder with the reports of one configuration"};
  if (!workbooks.empty()) {
    RS_TRY(const Report report, read_report_tables(workbooks.front()));
    take_collectives(report, run);
  }
  if (run.ranks.empty() && run.nccl_summary_implicit_sync.rows() == 0)
    return Error{ErrorCode::kUnreadable, input.folder, "no report here could be used", ""};
  return run;
}

Result<ComparedRun> from_traces(Session& ctx, const CompareInput& input, const RunPlan& plan) {
  ComparedRun run;
  run.label = input.label;
  const std::string individual = input.out + "/individual_reports";
  const std::string collective = input.out + "/collective_reports";
  if (input.individual)
    RS_CHECK(make_folder(individual));
  if (input.collective)
    RS_CHECK(make_folder(collective));
  LoadOptions load;
  load.threads = ctx.threads;
  ReportOptions options;
  options.include_unlinked_kernels = true; // as the single-configuration scripts asked for
  options.short_kernel_threshold_us = 50;
  options.per_step = true;
  if (!input.individual)
    options.sheets = {"gpu_timeline", "gpu_timeline_per_step"};
  std::mutex mutex;
  std::optional<Error> failed;
  std::vector<RankCollectives> collectives(plan.ranks.size());
  std::vector<char> good(plan.ranks.size(), 0);
  RS_CHECK(load_each(plan.ranks, load, [&](std::size_t i, Result<LoadedTrace> loaded) {
    const std::int64_t rank = plan.ranks[i].rank;
    if (!loaded)
      return lose(ctx, plan.ranks[i].path, rank, loaded.error().message());
    Result<Report> report = build_report(*loaded, options);
    if (!report)
      return lose(ctx, plan.ranks[i].path, rank, report.error().message());
    if (input.collective) {
      collectives[i] = extract_collectives(*loaded);
      good[i] = 1;
    }
    Result<void> written;
    if (input.individual)
      written =
          find_writer("xlsx")->write(*report, fmt::format("{}/perf_rank{}.xlsx", individual, rank));
    std::optional<RankTimeline> timeline = rank_timeline(*report);
    const std::lock_guard lock(mutex);
    ctx.diagnostics.merge(report->diagnostics);
    if (!written && !failed)
      failed = written.error();
    if (timeline)
      run.ranks.emplace(rank, std::move(*timeline));
  }));
  if (failed)
    return *failed;
  if (run.ranks.empty())
    return Error{ErrorCode::kUnreadable, input.folder, "no rank has a GPU timeline", ""};
  std::vector<RankCollectives> kept;
  for (std::size_t i = 0; i < collectives.size(); ++i)
    if (good[i] != 0 && !collectives[i].rows.empty())
      kept.push_back(std::move(collectives[i]));
  if (!kept.empty()) {
    RS_TRY(const Report report, build_collective_report(kept, CollectiveOptions{}));
    RS_CHECK(find_writer("xlsx")->write(report, collective + "/collective_all_ranks.xlsx"));
    take_collectives(report, run);
  }
  return run;
}

} // namespace

Result<ComparedRun> load_compared_run(Session& ctx, const CompareInput& input) {
  if (!input.reports_only) {
    Diagnostics found; // the reports' folder is no run of traces: its remarks would mislead
    const Result<RunPlan> plan = discover_run({input.folder}, input.discover, found);
    if (plan && !plan->ranks.empty()) {
      ctx.diagnostics.merge(found);
      return from_traces(ctx, input, *plan);
    }
    if (!plan && report_folder(input.folder, "individual_reports").empty() &&
        report_folder(input.folder, "collective_reports").empty())
      return plan.error();
  }
  return from_reports(ctx, input);
}

} // namespace rankscope
