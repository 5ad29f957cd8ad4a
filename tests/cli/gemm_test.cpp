// Tests rankscope gemm: successive steps with the flags of the older scripts, compared with the
// same steps from traces.
#include "analyses/gemm/gemm_steps.h"
#include "readers/reports/report_tables.h"
#include "run_binary.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "trace_builder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;
using test::TempFolder;

Table csv_gemm(const std::string& path) {
  EXPECT_TRUE(fs::exists(path)) << path;
  return table_from_csv(fs::path(path).stem().string(), test::bytes_of(path)).value();
}

using Key = std::tuple<double, double, double, std::string, std::string, std::string>;

Key key_of(const Table& t, std::size_t r) {
  return {t.at(r, "threads").number(),
          t.at(r, "channel").number(),
          t.at(r, "rank").number(),
          std::string(t.at(r, "col_name").text),
          std::string(t.at(r, "col_Input Dims_first").text),
          std::string(t.at(r, "col_Input Strides_first").text)};
}

// The same GEMM on two streams is two rows, which only the stream distinguishes.
TEST(Gemm, TheConsoleShowsTheStreamsIfTheyDiffer) {
  const TempFolder folder;
  const auto run_with = [&folder](int other_stream) {
    test::TraceBuilder trace;
    for (const int call : {0, 1, 2, 3})
      trace.op("aten::mm", 100 + 1000 * call, 20)
          .kernel("Cijk_a", 110 + 1000 * call, 200 + 1000 * call, 100 + 10 * call,
                  call < 2 ? 7 : other_stream);
    fs::create_directories(folder.path("run"));
    folder.write("run/rank0.json", trace.text());
    const std::string out = run_binary({"gemm", "variance", folder.path("run"), "--no-cache"}).out;
    const std::size_t header = out.rfind('\n', out.find("input_dims")) + 1;
    return out.substr(header, out.find('\n', header) - header);
  };
  EXPECT_NE(run_with(9).find(" stream "), std::string::npos);
  EXPECT_EQ(run_with(7).find(" stream "), std::string::npos);
}

TEST(Gemm, StepsOnEarlierOutputsEqualTheStepsOnTraces) {
  const TempFolder folder;
  synth::Options o;
  o.threads = {256, 512};
  o.channels = {28, 70};
  o.ranks = 2;
  o.layers = 2;
  o.steps = 3;
  ASSERT_TRUE(synth::generate(o, folder.path("s"), 2, nullptr));
  const std::string sweep = folder.path("s");
  const std::string out = sweep + "/tracelens_analysis";
  ASSERT_EQ(run_binary({"analyze", sweep, "--no-plots", "--no-merge", "--quiet"}).code, 0);
  const Table full = csv_gemm(out + "/top5_gemm_kernels_time_variance_with_collective_overlap.csv");
  std::map<Key, std::size_t> rows;
  for (std::size_t r = 0; r < full.rows(); ++r)
    rows.emplace(key_of(full, r), r);

  // command lines of the older scripts
  RunResult r = run_binary({"gemm", "variance", "--base-path", out, "--threads", "256", "512",
                            "--channels", "28", "70", "--top-k", "5", "--output-file", "v.csv"});
  ASSERT_EQ(r.code, 0) << r.err;
  const Table variance = csv_gemm(out + "/v.csv");
  ASSERT_EQ(variance.rows(), 5U * 8);
  for (std::size_t i = 1; i < variance.rows(); ++i)
    EXPECT_LE(variance.at(i, "time_diff_us").number(), variance.at(i - 1, "time_diff_us").number());
  r = run_binary({"gemm", "timestamps", "--input-csv", out + "/v.csv", "--base-path", sweep});
  ASSERT_EQ(r.code, 0) << r.err;
  r = run_binary({"gemm", "overlap", "--input-csv", out + "/v_with_timestamps.csv",
                  "--tracelens-path", out, "--output-csv", out + "/o.csv"});
  ASSERT_EQ(r.code, 0) << r.err;
  const Table overlap = csv_gemm(out + "/o.csv");
  ASSERT_EQ(overlap.rows(), variance.rows());
  std::size_t met = 0;
  for (std::size_t i = 0; i < overlap.rows(); ++i) {
    EXPECT_EQ(overlap.at(i, "min_verified").text, "pass");
    EXPECT_EQ(overlap.at(i, "max_verified").text, "pass");
    EXPECT_TRUE(overlap.at(i, "overlap_evaluated").i);
    const auto found = rows.find(key_of(overlap, i));
    if (found == rows.end())
      continue; // equal ranges may be in another order
    ++met;
    for (const char* column :
         {"kernel_time_min_us", "kernel_time_max_us", "time_diff_us", "min_duration_timestamp_ns",
          "max_duration_timestamp_ns", "time_between_min_max_ms", "max_duration_found_us",
          "overlapping_collective_count", "max_overlap_percentage", "total_overlap_duration_ms",
          "total_overlap_percentage"})
      EXPECT_NEAR(overlap.at(i, column).number(), full.at(found->second, column).number(), 1e-6)
          << column;
    for (const char* column : {"kernel_name", "overlapping_collective_names"})
      EXPECT_EQ(overlap.at(i, column).text, full.at(found->second, column).text) << column;
  }
  EXPECT_GT(met, 35U);

  // durations that differ from the trace are reported
  std::string text = test::bytes_of(out + "/v.csv");
  const std::string shortest = fs::path(out) / "w.csv";
  const std::size_t line = text.find('\n') + 1;
  std::size_t comma = line;
  for (int i = 0; i < 4; ++i)
    comma = text.find(',', comma) + 1;
  text.insert(comma, "9"); // the minimum in the first row, with a digit inserted before it
  std::ofstream(shortest) << text;
  r = run_binary({"gemm", "timestamps", "--input-csv", shortest, "--base-path", sweep});
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.err.find("1 rows"), std::string::npos) << r.err;
  EXPECT_EQ(csv_gemm(out + "/w_with_timestamps.csv").at(0, "min_verified").text, "fail");

  r = run_binary(
      {"gemm", "plot", "--csv-path", out + "/v.csv", "--output-dir", folder.path("p"), "--svg"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(fs::exists(folder.path("p") + "/variance_violin_combined.svg"));
  // without a report of collectives, overlap is "not evaluated", which differs from no overlap
  fs::remove(out + "/256thread/collective_reports/collective_28ch.xlsx");
  r = run_binary({"gemm", "overlap", "--input-csv", out + "/v_with_timestamps.csv",
                  "--tracelens-path", out, "--output-csv", out + "/o.csv"});
  EXPECT_EQ(r.code, 4);
  const Table partly = csv_gemm(out + "/o.csv");
  for (std::size_t i = 0; i < partly.rows(); ++i) {
    const bool lost =
        partly.at(i, "threads").number() == 256 && partly.at(i, "channel").number() == 28;
    EXPECT_EQ(partly.at(i, "overlap_evaluated").i != 0, !lost);
    EXPECT_EQ(partly.at(i, "overlapping_collective_count").is_null(), lost);
  }
  EXPECT_EQ(run_binary({"gemm", "variance"}).code, 2);
  EXPECT_EQ(run_binary({"gemm", "variance", "--base-path", folder.path("p")}).code, 3);
  EXPECT_EQ(
      run_binary({"gemm", "overlap", "--input-csv", out + "/v.csv", "--tracelens-path", out}).code,
      3);
  EXPECT_EQ(run_binary({"gemm", "plot", "--csv-path", folder.path("none.csv")}).code, 3);
}

TEST(Gemm, TheDominantKernelOfAPythonList) {
  EXPECT_EQ(dominant_kernel("[{'name': 'short', 'stream': 0}, {'name': \"it's <long>\", 'x': 1}]"),
            "it's <long>");
  EXPECT_EQ(dominant_kernel("[{'name': 'a\\'b', 'total_duration_us': 3.0}]"), "a'b");
  // the lists are in ascending order of the mean time, with an entry for each place in the call:
  // many short launches can take more time
  EXPECT_EQ(dominant_kernel("[{'name': 'x', 'count': 9, 'total_duration_us': 270.0}, "
                            "{'name': 'x', 'count': 6, 'total_duration_us': 180.0}, "
                            "{'name': 'y', 'count': 3, 'total_duration_us': 330.0}]"),
            "x");
  EXPECT_EQ(dominant_kernel("[]"), "");
  EXPECT_EQ(dominant_kernel("[{'name': "), "");
  EXPECT_EQ(dominant_kernel("[{'name': 'open"), "open");
}

} // namespace
} // namespace rankscope
