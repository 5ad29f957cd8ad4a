// rankscope gemm variance|timestamps|overlap|plot: the GEMM steps of analyze by themselves, from
// traces or from the outputs of earlier steps.
#include "analyses/gemm/gemm_data.h"
#include "analyses/gemm/gemm_steps.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "core/output_layout.h"
#include "engine/loader.h"
#include "os/output_file.h"
#include "pages/variance_plots.h"
#include "readers/reports/report_tables.h"
#include "writers/console.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string step;
  std::string sweep;
  std::string output;
  std::string base_path;   ///< variance: outputs of a sweep; timestamps: the sweep
  std::string output_file; ///< variance
  std::string input_csv, output_csv, tracelens_path;
  std::string csv_path, output_dir;
  std::string rank_by = "range";
  std::size_t top_k = 5;
  double tolerance = 0.01;
  bool svg = false;
  std::vector<std::int64_t> threads, channels, ranks;
  DiscoverOptions discover;
};

bool chosen(const std::vector<std::int64_t>& wanted, const std::optional<std::int64_t>& value) {
  return wanted.empty() ||
         (value && std::find(wanted.begin(), wanted.end(), *value) != wanted.end());
}

bool chosen(const Flags& f, const RunKey& key) {
  return chosen(f.threads, key.configuration.threads()) &&
         chosen(f.channels, key.configuration.channels_or_cus()) && chosen(f.ranks, key.rank);
}

Result<Table> read_csv(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad() || text.empty())
    return Error{ErrorCode::kUnreadable, path, "cannot read this CSV file", ""};
  return table_from_csv(fs::path(path).stem().string(), text);
}

Result<void> write_csv(const Table& table, const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  if (!folder.empty())
    RS_CHECK(make_folder(folder));
  RS_TRY(auto file, OutputFile::create(path));
  file.write(csv_text(table));
  return file.commit();
}

/// The traces of a sweep that the filters choose.
struct Chosen {
  std::vector<RunPlan> plans;
  std::vector<RankFile> files;
  std::vector<const RunPlan*> plan_of;
};

Result<Chosen> choose(Context& ctx, const Flags& f, const std::string& sweep) {
  Chosen out;
  RS_TRY(out.plans, discover_sweep(sweep, f.discover, ctx.diagnostics));
  for (const RunPlan& plan : out.plans)
    for (const RankFile& file : plan.ranks)
      if (chosen(f, {plan.configuration, file.rank})) {
        out.files.push_back(file);
        out.plan_of.push_back(&plan);
      }
  if (out.files.empty())
    return Error{ErrorCode::kUsage, sweep, "no trace matches --threads, --channels and --ranks",
                 ""};
  return out;
}

/// The GEMMs of each chosen trace, in order; an unreadable one is named and left empty.
/// `with_sheet` adds the report's GEMM sheet.
Result<std::vector<RankGemms>> load_gemms(Context& ctx, const Chosen& c, bool with_sheet) {
  std::vector<RankGemms> gemms(c.files.size());
  LoadOptions load;
  load.threads = ctx.threads;
  RS_CHECK(load_each(c.files, load, [&](std::size_t i, Result<LoadedTrace> loaded) {
    const auto lose = [&](const Error& error) {
      ctx.diagnostics.add(Severity::kDataLoss, "rank_failed " + c.files[i].path,
                          to_text({c.plan_of[i]->configuration, c.files[i].rank}), error.message());
    };
    if (!loaded)
      return lose(loaded.error());
    ReportOptions options;
    options.sheets = {"GEMM"};
    gemms[i] = extract_gemms(*loaded, options);
    gemms[i].key = {c.plan_of[i]->configuration, c.files[i].rank};
    if (!with_sheet)
      return;
    const Result<Report> report = build_report(*loaded, options);
    if (!report)
      return lose(report.error());
    if (const Table* t = report->find("GEMM"))
      attach_sheet(gemms[i], *t);
  }));
  return gemms;
}

void show(Context& ctx, const Table& table, const std::vector<std::string>& findings,
          const std::string& path) {
  if (ctx.json) {
    Report report;
    report.tables.push_back(table);
    ctx.out(json_text(report));
    return;
  }
  ctx.out(console_table(
      table.select({"configuration", "threads", "channel", "rank", "op", "input_dims", "col_name",
                    "kernel_time_min_us", "kernel_time_max_us", "time_diff_us", "count",
                    "min_verified", "max_verified", "total_overlap_percentage"}),
      10));
  for (const std::string& finding : findings)
    ctx.out("- " + finding + "\n");
  ctx.out(fmt::format("{}: {} rows\n", path, table.rows()));
}

Result<void> from_traces(Context& ctx, const Flags& f) {
  RS_TRY(const Chosen c, choose(ctx, f, f.sweep));
  RS_TRY(const std::vector<RankGemms> gemms, load_gemms(ctx, c, true));
  const GemmTables tables = gemm_tables(gemms, f.top_k, gemm_ranking(f.rank_by));
  const Table& table = f.step == "variance"     ? tables.variance
                       : f.step == "timestamps" ? tables.timestamps
                                                : tables.overlap;
  if (table.rows() == 0)
    return Error{ErrorCode::kUnreadable, f.sweep, "no GEMM operator or kernel in any trace", ""};
  const std::string folder =
      f.output.empty() ? fmt::format("{}/{}", f.sweep, kAnalysisFolder) : f.output;
  const std::string path = folder + "/" + table.name() + ".csv";
  RS_CHECK(write_csv(table, path));
  show(ctx, table, gemm_findings(tables, 3), path);
  return {};
}

Result<void> variance_from_reports(Context& ctx, const Flags& f) {
  std::vector<Table> parts;
  std::size_t read = 0;
  for (const SavedReport& saved : OutputLayout(f.base_path).saved_sweep_reports()) {
    if (!chosen(f, saved.key))
      continue;
    ++read;
    const Result<Report> report = read_report_tables(saved.path);
    std::optional<Table> part;
    if (report)
      part = variance_of_report(*report, saved.key, f.top_k);
    if (part)
      parts.push_back(std::move(*part));
    else
      ctx.diagnostics.add(Severity::kDataLoss, "report_unusable " + saved.path, saved.path,
                          report ? "no GEMM sheet with the documented columns"
                                 : report.error().message());
  }
  if (read == 0)
    return Error{ErrorCode::kUnreadable, f.base_path,
                 "no <T>thread/individual_reports/perf_<C>ch_rank<r>.xlsx here",
                 "give the folder tracelens_analysis of a sweep"};
  std::vector<const Table*> pointers;
  for (const Table& t : parts)
    pointers.push_back(&t);
  Table table = join_gemm_tables(pointers, f.top_k, GemmRanking::kRange).variance;
  std::vector<std::string> columns; // ours are blank here, but for the configuration
  for (const Column& c : table.columns())
    if (c.name.rfind("col_", 0) == 0 || columns.size() < 7)
      columns.push_back(c.name);
  table = table.select(columns);
  if (table.rows() == 0)
    return Error{ErrorCode::kUnreadable, f.base_path, "no report has a row of a GEMM", ""};
  const std::string name = f.output_file.empty() ? table.name() + ".csv" : f.output_file;
  const std::string path = fs::path(name).is_absolute() ? name : f.base_path + "/" + name;
  RS_CHECK(write_csv(table, path));
  show(ctx, table, {}, path);
  return {};
}

/// The configuration that two cells of an earlier table name.
Configuration threads_and_channels(double threads, double channels) {
  Configuration out;
  out.set(kThreads, fmt::format("{}", threads));
  out.set(kChannels, fmt::format("{}", channels));
  out.label = configuration_label(out, "unknown");
  return out;
}

std::string csv_beside(const std::string& input, const std::string& name) {
  return (fs::path(input).parent_path() / (name + ".csv")).string();
}

Result<void> timestamps_from_csv(Context& ctx, const Flags& f) {
  if (f.base_path.empty())
    return Error{ErrorCode::kUsage, "", "--input-csv needs --base-path, the sweep with the traces",
                 ""};
  RS_TRY(const Table variance, read_csv(f.input_csv));
  RS_TRY(Chosen c, choose(ctx, f, f.base_path));
  using Key = std::tuple<double, double, double>;
  std::map<Key, std::vector<std::size_t>> rows;
  const auto number = [&](std::size_t r, const char* column) {
    const double v = variance.at(r, column).number();
    return std::isnan(v) ? -1.0 : v;
  };
  for (std::size_t r = 0; r < variance.rows(); ++r)
    rows[{number(r, "threads"), number(r, "channel"), number(r, "rank")}].push_back(r);
  const auto key_of = [&](std::size_t i) {
    const Configuration& configuration = c.plan_of[i]->configuration;
    return Key{static_cast<double>(configuration.threads().value_or(-1)),
               static_cast<double>(configuration.channels_or_cus().value_or(-1)),
               static_cast<double>(c.files[i].rank)};
  };
  Chosen needed; // each trace once, and only those that a row asks for
  for (std::size_t i = 0; i < c.files.size(); ++i)
    if (rows.count(key_of(i)) > 0) {
      needed.files.push_back(c.files[i]);
      needed.plan_of.push_back(c.plan_of[i]);
    }
  std::vector<FoundInstances> found(variance.rows());
  if (!needed.files.empty()) {
    RS_TRY(const std::vector<RankGemms> gemms, load_gemms(ctx, needed, false));
    c.files = needed.files;
    c.plan_of = needed.plan_of;
    for (std::size_t i = 0; i < gemms.size(); ++i)
      for (const std::size_t r : rows[key_of(i)])
        found[r] = find_instances(variance, r, gemms[i]);
  }
  const Table table = with_timestamps(variance, found, f.tolerance);
  const auto missing = static_cast<std::size_t>(
      std::count_if(found.begin(), found.end(), [](const FoundInstances& x) { return !x.found; }));
  if (missing > 0)
    ctx.diagnostics.add(Severity::kDataLoss, "timestamps_missing", f.input_csv,
                        "rows without a trace or an instance have blank timestamps", missing);
  std::size_t failed = 0;
  for (std::size_t r = 0; r < table.rows(); ++r)
    failed +=
        table.at(r, "min_verified").text == "fail" || table.at(r, "max_verified").text == "fail"
            ? 1
            : 0;
  if (failed > 0)
    ctx.warn(fmt::format("{} rows: the durations found differ from the expected ones by more than "
                         "{} %",
                         failed, f.tolerance * 100));
  const std::string path =
      f.output_csv.empty() ? csv_beside(f.input_csv, table.name()) : f.output_csv;
  RS_CHECK(write_csv(table, path));
  show(ctx, table, {}, path);
  return {};
}

Result<void> overlap_from_csv(Context& ctx, const Flags& f) {
  if (f.tracelens_path.empty())
    return Error{ErrorCode::kUsage, "",
                 "--input-csv needs --tracelens-path, the folder with <T>thread/collective_reports",
                 ""};
  RS_TRY(const Table timestamps, read_csv(f.input_csv));
  if (!timestamps.column("max_duration_timestamp_ms"))
    return Error{ErrorCode::kUnreadable, f.input_csv, "no column max_duration_timestamp_ms",
                 "run rankscope gemm timestamps first"};
  const OutputLayout layout(f.tracelens_path);
  std::map<std::string, std::optional<Report>> books; // by path, each read once
  std::vector<const Table*> collectives;
  for (std::size_t r = 0; r < timestamps.rows(); ++r) {
    const double threads = timestamps.at(r, "threads").number();
    const double channel = timestamps.at(r, "channel").number();
    const std::string path = layout.collective_report(threads_and_channels(threads, channel));
    auto known = books.find(path);
    if (known == books.end()) {
      Result<Report> report = read_report_tables(path);
      if (!report)
        ctx.diagnostics.add(Severity::kDataLoss, "collectives_missing " + path, path,
                            report.error().message());
      known = books.emplace(path, report ? std::optional<Report>(std::move(*report)) : std::nullopt)
                  .first;
    }
    collectives.push_back(known->second ? known->second->find("nccl_long") : nullptr);
  }
  const Table table = with_overlap(timestamps, collectives);
  const std::string path =
      f.output_csv.empty() ? csv_beside(f.input_csv, table.name()) : f.output_csv;
  RS_CHECK(write_csv(table, path));
  show(ctx, table, {}, path);
  return {};
}

Result<void> plot(Context& ctx, const Flags& f) {
  std::string path = f.csv_path;
  if (path.empty() && !f.sweep.empty()) {
    path = OutputLayout(f.sweep).saved_gemm_csv(GemmTable::kVariance);
    if (path.empty())
      path = OutputLayout(fmt::format("{}/{}", f.sweep, kAnalysisFolder))
                 .saved_gemm_csv(GemmTable::kVariance);
  }
  if (path.empty())
    return Error{ErrorCode::kUsage, "", "plot needs --csv-path or an analysed sweep", ""};
  RS_TRY(const Table variance, read_csv(path));
  if (!variance.column("time_diff_us") || variance.rows() == 0)
    return Error{ErrorCode::kUnreadable, path, "no rows with a column time_diff_us", ""};
  const std::string folder =
      f.output_dir.empty() ? (fs::path(path).parent_path() / "plots").string() : f.output_dir;
  RS_CHECK(write_variance_plots(variance, folder, f.svg));
  ctx.out(fmt::format("{}: plots of {} rows\n", folder, variance.rows()));
  return {};
}

Result<void> run(Context& ctx, const Flags& f) {
  if (f.step == "plot")
    return plot(ctx, f);
  if (f.step == "variance" && !f.base_path.empty())
    return variance_from_reports(ctx, f);
  if (f.step == "timestamps" && !f.input_csv.empty())
    return timestamps_from_csv(ctx, f);
  if (f.step == "overlap" && !f.input_csv.empty())
    return overlap_from_csv(ctx, f);
  if (f.sweep.empty())
    return Error{ErrorCode::kUsage, "", "expected a sweep, or the flags of an earlier output",
                 "rankscope gemm --help shows both"};
  return from_traces(ctx, f);
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("STEP", f->step, "variance, timestamps, overlap or plot")
      ->required()
      ->check(CLI::IsMember({"variance", "timestamps", "overlap", "plot"}));
  app.add_option("SWEEP", f->sweep, "sweep, run or folder of traces");
  app.add_option("-o,--output", f->output, "folder of the CSV (default: SWEEP/tracelens_analysis)");
  app.add_option("--top-k", f->top_k, "GEMMs per rank")->capture_default_str();
  app.add_option("--rank-by", f->rank_by, "range, cv or total-excess")
      ->check(CLI::IsMember({"range", "cv", "total-excess"}))
      ->capture_default_str();
  app.add_option("--threads", f->threads, "only these")->delimiter(',');
  app.add_option("--channels", f->channels, "only these")->delimiter(',');
  app.add_option("--ranks", f->ranks, "only these")->delimiter(',');
  app.add_option("--base-path", f->base_path,
                 "variance: the folder tracelens_analysis, its reports are read; timestamps: the "
                 "sweep with the traces");
  app.add_option("--output-file", f->output_file, "variance: CSV, relative to --base-path");
  app.add_option("--input-csv", f->input_csv, "timestamps, overlap: the CSV of the step before");
  app.add_option("--output-csv", f->output_csv, "timestamps, overlap: CSV (default: beside input)");
  app.add_option("--tracelens-path", f->tracelens_path, "overlap: the folder tracelens_analysis");
  app.add_option("--tolerance", f->tolerance, "timestamps: share by which durations may differ")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--csv-path", f->csv_path, "plot: the variance CSV");
  app.add_option("--output-dir", f->output_dir, "plot: folder (default: plots beside the CSV)");
  app.add_flag("--svg", f->svg, "plot: SVG too");
  add_discover_flags(app, f->discover, true);
  return [f](Context& ctx) { return run(ctx, *f); };
}

} // namespace

const Command gemm_command{
    "gemm", "GEMM variance: spread, when it happened, which collectives ran beside it, plots",
    "  rankscope gemm variance sweep --top-k 5\n"
    "  rankscope gemm overlap sweep --rank-by total-excess\n"
    "  rankscope gemm variance --base-path sweep/tracelens_analysis --threads 256,512\n"
    "  rankscope gemm timestamps --input-csv top5.csv --base-path sweep\n"
    "  rankscope gemm overlap --input-csv top5_with_timestamps.csv --tracelens-path "
    "sweep/tracelens_analysis\n"
    "  rankscope gemm plot --csv-path top5.csv --output-dir plots --svg",
    setup};

} // namespace rankscope
