#include "app/gemm_reports.h"

#include "analyses/gemm/gemm_steps.h"
#include "base/counters.h"
#include "base/pointers.h"
#include "engine/run_ranks.h"
#include "os/whole_file.h"
#include "pages/variance_plots.h"
#include "readers/reports/report_tables.h"
#include "writers/writer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

Result<Table> read_csv(Session& ctx, const std::string& path) {
  const Result<std::string> text = read_input_file(path);
  if (!text || text->empty())
    return Error{ErrorCode::kUnreadable, path, "cannot read this CSV file", ""};
  std::uint64_t torn = 0;
  Result<Table> table = table_from_csv(fs::path(path).stem().string(), *text, &torn);
  if (!table)
    return Error{ErrorCode::kUnreadable, path, table.error().what, ""};
  report_torn_rows(ctx.diagnostics, path, torn);
  return table;
}

/// Returns the requested path, or NAME.csv next to the input.
std::string output_path(const std::string& asked, const std::string& input,
                        const std::string& name) {
  return asked.empty() ? (fs::path(input).parent_path() / (name + ".csv")).string() : asked;
}

Result<WrittenTable> written(Table table, std::string path) {
  RS_CHECK(write_with_folder(path, csv_text(table)));
  return WrittenTable{std::move(table), std::move(path), {}};
}

/// The thread count, channel count and rank in a table row; -1 if the row has no value.
using Place = std::tuple<double, double, double>;

Place place_of(const Table& table, std::size_t row) {
  const auto number = [&](const char* column) {
    const double v = table.at(row, column).number();
    return std::isnan(v) ? -1.0 : v;
  };
  return {number("threads"), number("channel"), number("rank")};
}

Place place_of(const RunKey& key) {
  return {static_cast<double>(key.configuration.threads().value_or(-1)),
          static_cast<double>(key.configuration.channels_or_cus().value_or(-1)),
          static_cast<double>(key.rank)};
}

/// Returns the configuration with these thread and channel values.
Configuration threads_and_channels(double threads, double channels) {
  Configuration out;
  out.set(kThreads, fmt::format("{}", threads));
  out.set(kChannels, fmt::format("{}", channels));
  out.label = configuration_label(out, "unknown");
  return out;
}

std::optional<std::int64_t> whole_number(const Value& v) {
  const double number = v.number();
  constexpr double kMost = 1e15; // below this value, every integer is an exact double
  return std::fabs(number) < kMost ? std::optional(static_cast<std::int64_t>(number))
                                   : std::nullopt; // an empty value is not a number either
}

/// Returns "5" for "top5_gemm_kernels_time_variance"; empty for other names.
std::string top_of(const std::string& name) {
  const std::size_t end = name.find('_');
  return name.rfind("top", 0) == 0 && end != std::string::npos && end > 3 ? name.substr(3, end - 3)
                                                                          : "";
}

/// Returns the number of failed rows, for a warning.
std::size_t failed_rows(const Table& table) {
  std::size_t failed = 0;
  for (std::size_t r = 0; r < table.rows(); ++r)
    if (table.at(r, "min_verified").text == "fail" || table.at(r, "max_verified").text == "fail")
      ++failed;
  return failed;
}

/// Returns the GEMMs of every rank of the plans, in order. A lost rank is named and left out.
Result<std::vector<RankGemms>> load_gemms(Session& ctx, const std::vector<RunPlan>& plans) {
  RS_TRY(auto parts, extract_ranks<RankGemms>(
                         ctx, pointers_to(plans), RankRun{},
                         [&](const RankItem& item, const LoadedTrace& trace) -> Result<RankGemms> {
                           RankGemms gemms = extract_gemms(trace, {});
                           gemms.key = {item.plan.configuration, item.file.rank};
                           return gemms;
                         }));
  std::vector<RankGemms> out;
  for (std::vector<RankGemms>& plan : parts)
    std::move(plan.begin(), plan.end(), std::back_inserter(out));
  return out;
}

} // namespace

Result<WrittenTable> gemm_variance_of_reports(Session& ctx, const ReportedVariance& request) {
  std::vector<GemmFacts> parts;
  std::size_t read = 0;
  for (const SavedReport& saved : OutputLayout(request.folder).saved_sweep_reports()) {
    if (!request.filter.takes(saved.key))
      continue;
    ++read;
    const Result<Report> report = read_report_tables(saved.path);
    std::optional<GemmFacts> part;
    if (report) {
      ctx.diagnostics.merge(report->diagnostics);
      part = variance_of_report(*report, saved.key, request.top_k);
    }
    if (part)
      parts.push_back(std::move(*part));
    else
      ctx.diagnostics.add(report ? counters::report_without_gemm()
                                 : counters::report_unusable(report.error().message()),
                          saved.path);
  }
  if (read == 0)
    return Error{ErrorCode::kUnreadable, request.folder,
                 "no <T>thread/individual_reports/perf_<C>ch_rank<r>.xlsx here",
                 "give the folder tracelens_analysis of a sweep"};
  const GemmFacts facts = join_gemm_facts(pointers_to(parts), GemmRanking::kRange);
  if (facts.rows.empty())
    return Error{ErrorCode::kUnreadable, request.folder, "no report contains a GEMM", ""};
  const std::string name = request.csv_name.empty()
                               ? gemm_table_name(request.top_k, GemmTable::kVariance) + ".csv"
                               : request.csv_name;
  return written(reported_gemm_schema(facts.sheet_columns, request.top_k).table(facts.rows),
                 fs::path(name).is_absolute() ? name : request.folder + "/" + name);
}

Result<WrittenTable> gemm_timestamps_of_csv(Session& ctx, const TimestampsOfCsv& request) {
  RS_TRY(const Table variance, read_csv(ctx, request.csv));
  RS_TRY(std::vector<RunPlan> plans,
         chosen_runs(ctx, request.sweep, request.discover, request.filter));
  std::map<Place, std::vector<std::size_t>> rows;
  for (std::size_t r = 0; r < variance.rows(); ++r)
    rows[place_of(variance, r)].push_back(r);
  for (RunPlan& plan : plans) // read each trace once, and only traces that a row needs
    std::erase_if(plan.ranks, [&](const RankFile& file) {
      return rows.count(place_of({plan.configuration, file.rank})) == 0;
    });
  std::erase_if(plans, [](const RunPlan& plan) { return plan.ranks.empty(); });
  std::vector<FoundInstances> found(variance.rows());
  if (!plans.empty()) {
    RS_TRY(const std::vector<RankGemms> gemms, load_gemms(ctx, plans));
    for (const RankGemms& rank : gemms)
      for (const std::size_t r : rows[place_of(rank.key)])
        found[r] = find_instances(variance, r, rank);
  }
  Table table = with_timestamps(variance, found, request.tolerance);
  const auto missing = static_cast<std::size_t>(
      std::count_if(found.begin(), found.end(), [](const FoundInstances& x) { return !x.found; }));
  if (missing > 0)
    ctx.diagnostics.add(counters::timestamps_missing(), request.csv, missing);
  if (const std::size_t failed = failed_rows(table); failed > 0)
    ctx.warn(fmt::format("{} rows: the duration found in the trace differs from the expected "
                         "duration by more than {} %",
                         failed, request.tolerance * 100));
  std::string path = output_path(request.output, request.csv, table.name());
  return written(std::move(table), std::move(path));
}

Result<WrittenTable> gemm_overlap_of_csv(Session& ctx, const OverlapOfCsv& request) {
  RS_TRY(const Table timestamps, read_csv(ctx, request.csv));
  if (!timestamps.column("max_duration_timestamp_ms"))
    return Error{ErrorCode::kUnreadable, request.csv, "no column max_duration_timestamp_ms",
                 "run rankscope gemm timestamps first"};
  const OutputLayout layout(request.reports);
  std::map<std::string, std::optional<Report>> books; // by path; each report is read once
  std::vector<const Table*> collectives;
  for (std::size_t r = 0; r < timestamps.rows(); ++r) {
    const std::string path = layout.collective_report(threads_and_channels(
        timestamps.at(r, "threads").number(), timestamps.at(r, "channel").number()));
    auto known = books.find(path);
    if (known == books.end()) {
      Result<Report> report = read_report_tables(path);
      if (!report)
        ctx.diagnostics.add(counters::collectives_missing(report.error().message()), path);
      else
        ctx.diagnostics.merge(report->diagnostics);
      known = books.emplace(path, report ? std::optional<Report>(std::move(*report)) : std::nullopt)
                  .first;
    }
    collectives.push_back(known->second ? known->second->find("nccl_long") : nullptr);
  }
  Table table = with_overlap(timestamps, collectives);
  std::string path = output_path(request.output, request.csv, table.name());
  return written(std::move(table), std::move(path));
}

Result<WrittenPlots> plot_gemm_csv(Session& ctx, const PlotsOfCsv& request) {
  std::string path = request.csv;
  for (const std::string& folder :
       {request.sweep, fmt::format("{}/{}", request.sweep, kAnalysisFolder)})
    if (path.empty() && !request.sweep.empty())
      path = OutputLayout(folder).saved_gemm_csv(GemmTable::kVariance);
  if (path.empty())
    return Error{ErrorCode::kUsage, "", "plot needs --csv-path or an analysed sweep", ""};
  RS_TRY(const Table variance, read_csv(ctx, path));
  if (!variance.column("time_diff_us") || variance.rows() == 0)
    return Error{ErrorCode::kUnreadable, path, "no rows with a column time_diff_us", ""};
  VarianceData data;
  data.top = top_of(variance.name());
  for (std::size_t r = 0; r < variance.rows(); ++r)
    data.points.push_back(
        {whole_number(variance.at(r, "threads")), whole_number(variance.at(r, "channel")),
         whole_number(variance.at(r, "rank")), variance.at(r, "time_diff_us").number()});
  WrittenPlots out{request.folder.empty() ? (fs::path(path).parent_path() / "plots").string()
                                          : request.folder,
                   variance.rows()};
  RS_CHECK(write_variance_plots(data, out.folder, request.svg));
  return out;
}

} // namespace rankscope
