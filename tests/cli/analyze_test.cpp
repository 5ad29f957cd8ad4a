// Tests rankscope analyze: the documented output tree with its sheets and columns, repeated runs,
// two sweeps.
#include "readers/reports/report_tables.h"
#include "run_binary.h"
#include "settle.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::run_binary;
using test::RunResult;
using test::TempFolder;

std::string make_sweep(const TempFolder& folder, const std::string& name, std::uint64_t seed) {
  synth::Options o;
  o.threads = {256, 512};
  o.channels = {28, 70};
  o.ranks = 2;
  o.layers = 2;
  o.steps = 2;
  o.seed = seed;
  EXPECT_TRUE(synth::generate(o, folder.path(name), 2, nullptr));
  return folder.path(name);
}

/// Returns the content of each CSV file below `folder`, by its name relative to `folder`.
std::map<std::string, std::string> csv_files(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".csv")
      out[fs::relative(entry.path(), folder).string()] = bytes_of(entry.path().string());
  return out;
}

std::vector<std::string> headers(const Table& t) {
  std::vector<std::string> out;
  for (const Column& c : t.columns())
    out.push_back(c.name);
  return out;
}

void expect_columns(const Table& t, const std::vector<std::string>& wanted) {
  for (const std::string& name : wanted)
    EXPECT_TRUE(t.column(name)) << t.name() << " lacks " << name;
}

Table csv(const std::string& path) {
  EXPECT_TRUE(fs::exists(path)) << path;
  return table_from_csv(fs::path(path).stem().string(), bytes_of(path)).value();
}

Report book(const std::string& path) {
  auto report = read_report_tables(path);
  EXPECT_TRUE(report) << path;
  return report ? std::move(*report) : Report{};
}

std::vector<std::string> with_aggregates(const std::string& name) {
  return {name + "_mean", name + "_median", name + "_min", name + "_max"};
}

TEST(Analyze, EveryDocumentedFileSheetAndColumnIsThere) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder, "s", 1);
  ASSERT_EQ(run_binary({"analyze", sweep, "--quiet"}).code, 0);
  const std::string out = sweep + "/tracelens_analysis/";
  for (const char* name :
       {"256thread/individual_reports/perf_28ch_rank0.xlsx",
        "512thread/individual_reports/perf_70ch_rank1.xlsx",
        "256thread/collective_reports/collective_28ch.xlsx",
        "comparisons/compare_28ch_rank1_across_threads.xlsx",
        "plots/variance_by_threads_boxplot.png", "plots/variance_by_channels_boxplot.png",
        "plots/variance_by_ranks_boxplot.png", "plots/variance_violin_combined.png",
        "plots/variance_thread_channel_interaction.png", "nccl_master_all_configs.csv",
        "sweep_report.html", "summary.md", "manifest.json"})
    EXPECT_TRUE(fs::exists(out + name)) << name;
  EXPECT_TRUE(fs::exists(sweep + "/merged_traces/512thread_28ch_merged.json"));

  const Report individual = book(out + "256thread/individual_reports/perf_28ch_rank0.xlsx");
  for (const char* sheet : {"gpu_timeline", "ops_summary_by_category", "ops_summary",
                            "ops_unique_args", "unified_perf_summary", "GEMM", "kernel_summary",
                            "short_kernel_histogram", "short_kernels_summary", "coll_analysis"})
    EXPECT_NE(individual.find(sheet), nullptr) << sheet;
  EXPECT_EQ(headers(*individual.find("gpu_timeline")),
            (std::vector<std::string>{"type", "time ms", "percent"}));
  expect_columns(*individual.find("GEMM"),
                 {"name", "param: M", "param: N", "param: K",
                  "kernel_details__summarize_kernel_stats", "Kernel Time (µs)_min",
                  "Kernel Time (µs)_max", "Kernel Time (µs)_sum"});

  const Report collective = book(out + "256thread/collective_reports/collective_28ch.xlsx");
  expect_columns(*collective.find("nccl_long"),
                 {"collective_id", "index_in_group", "rank", "Process Group Name",
                  "Process Group Ranks", "Collective name", "Group size", "dtype", "In msg nelems",
                  "In msg size (MB)", "Out msg nelems", "Out msg size (MB)", "In split size",
                  "Out split size", "stream", "ts", "dur"});
  const Table& implicit = *collective.find("nccl_summary_implicit_sync");
  for (const char* metric : {"comm_latency", "skew in start time", "skew in end time",
                             "algo bw (GB/s)", "bus bw (GB/s)"})
    expect_columns(implicit, with_aggregates(metric));
  expect_columns(implicit, {"count", "Total comm latency (ms)", "Full msg size (MB)"});
  EXPECT_NE(collective.find("nccl_summary_long"), nullptr);

  const Report across = book(out + "comparisons/compare_28ch_rank1_across_threads.xlsx");
  expect_columns(*across.find("gpu_timeline"),
                 {"type", "time ms__512thread_diff", "time ms__512thread_pct", "256thread::time ms",
                  "512thread::time ms"});
  EXPECT_NE(across.find("ops_summary"), nullptr);

  const Table variance = csv(out + "top5_gemm_kernels_time_variance.csv");
  const std::vector<std::string> documented = {
      "threads",     "channel", "rank", "kernel_name", "kernel_time_min_us", "kernel_time_max_us",
      "time_diff_us"};
  const auto have = headers(variance);
  ASSERT_GT(have.size(), documented.size());
  EXPECT_TRUE(std::equal(documented.begin(), documented.end(), have.begin()));
  std::vector<std::string> sheet_columns;
  for (std::size_t c = documented.size(); c < have.size() && have[c].rfind("col_", 0) == 0; ++c)
    sheet_columns.push_back(have[c]);
  EXPECT_TRUE(std::is_sorted(sheet_columns.begin(), sheet_columns.end()));
  EXPECT_EQ(sheet_columns.size(), individual.find("GEMM")->cols());
  expect_columns(variance, {"col_name",
                            "col_param: M",
                            "col_Kernel Time (µs)_max",
                            "col_GFLOPS_first",
                            "col_trunc_kernel_details",
                            "col_Input Dims_first",
                            "count",
                            "median_us",
                            "p95_us",
                            "std_us",
                            "cv",
                            "share_of_gemm_time_pct",
                            "min_step",
                            "max_step",
                            "max_is_first_iteration",
                            "kernel_count",
                            "kernel_min_us",
                            "kernel_median_us",
                            "kernel_p95_us",
                            "kernel_max_us",
                            "kernel_std_us",
                            "kernel_cv"});
  ASSERT_EQ(variance.rows(), 5U * 8);
  for (std::size_t r = 0; r < variance.rows(); ++r) {
    // the sheet has the row of the operator, with the times of all its calls
    EXPECT_EQ(variance.at(r, "col_name").text, variance.at(r, "op").text);
    EXPECT_NEAR(variance.at(r, "col_Kernel Time (µs)_max").number(),
                variance.at(r, "kernel_time_max_us").number(), 1e-6);
    EXPECT_NEAR(variance.at(r, "time_diff_us").number(),
                variance.at(r, "kernel_time_max_us").number() -
                    variance.at(r, "kernel_time_min_us").number(),
                1e-9);
  }
  expect_columns(csv(out + "top5_gemm_kernels_time_variance_with_timestamps.csv"),
                 {"min_duration_timestamp_ms", "max_duration_timestamp_ms",
                  "time_between_min_max_ms", "min_duration_found_us", "max_duration_found_us"});
  expect_columns(csv(out + "top5_gemm_kernels_time_variance_with_collective_overlap.csv"),
                 {"overlapping_collective_count", "overlapping_collective_names",
                  "max_overlap_percentage", "max_overlap_collective", "total_overlap_duration_ms",
                  "overlap_evaluated", "total_overlap_percentage"});

  for (const char* aggregation : {"mean", "geomean"}) {
    const Report all = book(out + "gpu_timeline_all_configs_" + aggregation + ".xlsx");
    expect_columns(*all.find("All_Data"),
                   {"full_config", "threads_num", "thread_config", "channels_num", "channel_config",
                    "num_ranks", "type", "time ms", "percent"});
    EXPECT_EQ(all.find("All_Data")->rows(), 4U * 8);
    for (const char* pivot : {"Pivot_Time_ms", "Pivot_Percent"})
      EXPECT_EQ(headers(*all.find(pivot)),
                (std::vector<std::string>{"type", "256thread_28ch", "256thread_70ch",
                                          "512thread_28ch", "512thread_70ch"}));
    expect_columns(*all.find("Summary_By_Config"),
                   {"full_config", "threads_num", "channels_num", "num_ranks",
                    "computation_time_ms", "exposed_comm_time_ms", "busy_time_ms", "idle_time_ms",
                    "total_time_ms"});
  }
  // the mean in All_Data equals that of the reports of the ranks
  const Report all = book(out + "gpu_timeline_all_configs_mean.xlsx");
  double sum = 0;
  for (const char* rank : {"0", "1"})
    sum += book(out + "256thread/individual_reports/perf_28ch_rank" + rank + ".xlsx")
               .find("gpu_timeline")
               ->at(5, "time ms")
               .number();
  const Table& data = *all.find("All_Data");
  for (std::size_t r = 0; r < data.rows(); ++r)
    if (data.at(r, "full_config").text == "256thread_28ch" &&
        data.at(r, "type").text == "total_time") {
      EXPECT_NEAR(data.at(r, "time ms").number(), sum / 2, 1e-9);
    }

  const Table master = csv(out + "nccl_master_all_configs.csv");
  expect_columns(master, {"operation_id", "operation_name", "Full msg size (MB)", "In msg nelems",
                          "threads_num", "thread_config", "channels_num", "channel_config",
                          "full_config", "Collective name", "dtype", "Group size", "count",
                          "Total comm latency (ms)", "Process Group Name", "source_file"});
  for (const char* metric : {"comm_latency", "skew in start time", "skew in end time",
                             "algo bw (GB/s)", "bus bw (GB/s)"})
    expect_columns(master, with_aggregates(metric));
  EXPECT_EQ(master.at(0, "operation_id").text, "OP_01");
  EXPECT_EQ(book(out + "nccl_master_all_configs.xlsx").tables.front().name(), "NCCL_Data");
}

TEST(Analyze, WithoutIndividualReportsAllElseIsTheSame) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder, "s", 4);
  const auto tree = [&](const char* to, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"analyze",    sweep, "--no-plots",
                                      "--no-merge", "-o",  folder.path(to)};
    words.insert(words.end(), more.begin(), more.end());
    const RunResult r = run_binary(words);
    EXPECT_EQ(r.code, 0) << r.err;
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path(to)))
      if (entry.is_regular_file() &&
          fs::relative(entry.path(), folder.path(to)).string().find("rankscope") ==
              std::string::npos &&
          entry.path().filename() != "manifest.json")
        out[fs::relative(entry.path(), folder.path(to)).string()] = bytes_of(entry.path().string());
    return out;
  };
  std::map<std::string, std::string> all = tree("all", {});
  const std::map<std::string, std::string> few = tree("few", {"--no-individual-reports"});
  EXPECT_EQ(std::erase_if(all,
                          [](const auto& file) {
                            return file.first.find("individual_reports") != std::string::npos;
                          }),
            8U);
  EXPECT_TRUE(few == all) << few.size() << " files of " << all.size();
}

TEST(Analyze, OneConfigurationIsSentToItsCauses) {
  const TempFolder folder;
  const std::string run = make_sweep(folder, "a sweep", 4) + "/256thread/nccl_28channels";
  const RunResult r = run_binary({"analyze", run, "--no-plots", "--no-merge"});
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string path = "/256thread/nccl_28channels/torch_profiler";
  EXPECT_NE(r.out.find("rankscope why " + folder.path("a' 'sweep") + path), std::string::npos)
      << r.out;
  EXPECT_EQ(run_binary({"why", folder.path("a sweep") + path}).code, 0);
}

TEST(Analyze, ARerunRedoesOnlyWhatChanged) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder, "s", 1);
  const std::string other = make_sweep(folder, "t", 2);
  const std::string out = folder.path("out");
  test::settle();
  const std::vector<std::string> command = {"analyze", sweep, "-o", out};
  ASSERT_EQ(run_binary(command).code, 0);
  const auto before = csv_files(out);
  const auto report_of = [&](const char* thread) {
    return out + "/" + thread + "/individual_reports/perf_28ch_rank0.xlsx";
  };
  const auto time_256 = fs::last_write_time(report_of("256thread"));
  const auto time_512 = fs::last_write_time(report_of("512thread"));
  const auto plots = fs::last_write_time(out + "/plots/variance_violin_combined.png");

  RunResult again = run_binary(command);
  ASSERT_EQ(again.code, 0);
  EXPECT_NE(again.out.find("4 of 4 configurations were unchanged"), std::string::npos) << again.out;
  EXPECT_EQ(csv_files(out), before);
  EXPECT_EQ(fs::last_write_time(report_of("256thread")), time_256);
  EXPECT_EQ(fs::last_write_time(out + "/plots/variance_violin_combined.png"), plots);

  // replaces the trace of one rank
  const std::string rank = "/256thread/nccl_28channels/torch_profiler/rank0/";
  const std::string name = fs::directory_iterator(sweep + rank)->path().filename().string();
  fs::copy_file(other + rank + name, sweep + rank + name, fs::copy_options::overwrite_existing);
  test::settle();
  again = run_binary(command);
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("3 of 4 configurations were unchanged"), std::string::npos) << again.out;
  EXPECT_NE(fs::last_write_time(report_of("256thread")), time_256);
  EXPECT_EQ(fs::last_write_time(report_of("512thread")), time_512);
  EXPECT_NE(csv_files(out), before);
  const std::string fresh = folder.path("fresh");
  ASSERT_EQ(run_binary({"analyze", sweep, "-o", fresh, "--force"}).code, 0);
  EXPECT_EQ(csv_files(out), csv_files(fresh));
  for (const char* file : {"summary.xlsx", "gpu_timeline_all_configs_mean.xlsx",
                           "comparisons/compare_28ch_rank0_across_threads.xlsx"}) {
    const Report a = book(out + "/" + file);
    const Report b = book(fresh + "/" + file);
    ASSERT_EQ(a.tables.size(), b.tables.size());
    for (std::size_t t = 0; t < a.tables.size(); ++t) {
      ASSERT_EQ(a.tables[t].rows(), b.tables[t].rows()) << file;
      for (std::size_t r = 0; r < a.tables[t].rows(); ++r)
        for (std::size_t c = 0; c < a.tables[t].cols(); ++c) {
          EXPECT_EQ(a.tables[t].at(r, c).text, b.tables[t].at(r, c).text);
          if (!a.tables[t].at(r, c).is_null() && a.tables[t].at(r, c).kind != CellKind::kText) {
            EXPECT_EQ(a.tables[t].at(r, c).number(), b.tables[t].at(r, c).number());
          }
        }
    }
  }

  // a missing output is written again; with other options, everything is written again
  fs::remove(report_of("512thread"));
  again = run_binary(command);
  EXPECT_NE(again.out.find("3 of 4 configurations"), std::string::npos);
  EXPECT_TRUE(fs::exists(report_of("512thread")));
  again = run_binary({"analyze", sweep, "-o", out, "--top-k", "3"});
  EXPECT_EQ(again.out.find("unchanged"), std::string::npos);
  EXPECT_TRUE(fs::exists(out + "/top3_gemm_kernels_time_variance.csv"));
}

TEST(Analyze, ASpoiledStateIsNamedAndNotUsed) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder, "s", 1);
  const std::string out = folder.path("out");
  const std::vector<std::string> command = {"analyze", sweep,        "-o",
                                            out,       "--no-plots", "--no-merge"};
  ASSERT_EQ(run_binary(command).code, 0);
  const auto before = csv_files(out);
  std::vector<std::string> states;
  for (const auto& entry : fs::directory_iterator(out + "/.rankscope"))
    if (entry.path().extension() == ".part" && entry.path().filename() != "sweep.part")
      states.push_back(entry.path().string());
  std::sort(states.begin(), states.end());
  ASSERT_EQ(states.size(), 4U);
  const std::string good = bytes_of(states[0]);
  const auto put = [](const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  };
  put(states[0], good.substr(0, good.size() / 2));
  put(states[1], "{\"tables\": {\"about\": 3}}");
  std::string damaged = bytes_of(states[2]);
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  put(states[2], damaged);
  put(states[3], "");
  const RunResult again = run_binary(command);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("this record of an earlier run is not used"), std::string::npos)
      << again.err;
  EXPECT_EQ(csv_files(out), before);
  EXPECT_EQ(again.out.find("unchanged"), std::string::npos) << again.out;
}

TEST(Analyze, ABrokenRankIsTriedAgainAndNamedAgain) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder, "s", 1);
  const std::string rank = sweep + "/256thread/nccl_28channels/torch_profiler/rank0/";
  const std::string path = fs::directory_iterator(rank)->path().string();
  const std::string good = bytes_of(path);
  std::ofstream(path, std::ios::binary) << "no trace";
  test::settle();
  const std::vector<std::string> command = {"analyze", sweep, "--no-plots"};
  EXPECT_EQ(run_binary(command).code, 4);
  const RunResult again = run_binary(command);
  EXPECT_EQ(again.code, 4);
  EXPECT_NE(again.out.find("3 of 4 configurations"), std::string::npos) << again.out;
  EXPECT_NE(again.err.find("256thread_28ch rank 0"), std::string::npos) << again.err;
  std::ofstream(path, std::ios::binary) << good;
  EXPECT_EQ(run_binary(command).code, 0);
}

TEST(Analyze, TwoSweepsAndTheirPage) {
  const TempFolder folder;
  const std::string a = make_sweep(folder, "a", 1);
  const std::string b = make_sweep(folder, "b", 2);
  const std::string out = folder.path("out");
  const RunResult r = run_binary({"analyze", a, "--sweep2", b, "--label1", "old", "--label2", "new",
                                  "-o", out, "--no-merge", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(fs::exists(out + "/old/summary.md"));
  EXPECT_TRUE(fs::exists(out + "/new/summary.md"));
  const std::string page = bytes_of(out + "/sweep_comparison_report.html");
  EXPECT_NE(page.find("Mean total_time of new: "), std::string::npos);
  EXPECT_NE(r.out.find("sweep_comparison_report.html"), std::string::npos);
  EXPECT_NE(r.out.find("What to do next"), std::string::npos);
}

TEST(Analyze, TheManifestNamesInputsAndOutputs) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder, "s", 1);
  const std::string out = folder.path("out");
  ASSERT_EQ(run_binary({"analyze", sweep, "-o", out, "--quiet"}).code, 0);
  simdjson::dom::parser parser;
  simdjson::dom::element manifest;
  ASSERT_EQ(parser.load(out + "/manifest.json").get(manifest), simdjson::SUCCESS);
  std::size_t inputs = 0;
  for (const auto input : manifest["inputs"].get_array()) {
    ++inputs;
    const std::string path(input["path"].get_string().value());
    EXPECT_EQ(static_cast<std::int64_t>(fs::file_size(path)), input["bytes"].get_int64().value());
  }
  EXPECT_EQ(inputs, 8U);
  std::size_t outputs = 0;
  for (const auto output : manifest["outputs"].get_array()) {
    ++outputs;
    EXPECT_TRUE(fs::exists(std::string(output["path"].get_string().value())));
  }
  EXPECT_GT(outputs, 8U + 4 + 4 + 5 + 3);
}

} // namespace
} // namespace rankscope
