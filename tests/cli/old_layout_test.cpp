// Tests analyze --layout 2025-11. The older scripts read this tree by file names and column letters
// in the steps after the reports: GEMMs that vary most, plots, timestamps, overlap.
#include "readers/reports/report_tables.h"
#include "run_binary.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <regex>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// The columns A to AK of the GEMM sheet.
const std::vector<std::string> kGemm = {"name",
                                        "param: M",
                                        "param: N",
                                        "param: K",
                                        "param: bias",
                                        "param: stride_A",
                                        "param: stride_B",
                                        "param: dtype_A_B",
                                        "param: B",
                                        "param: transpose",
                                        "GFLOPS_first",
                                        "Data Moved (MB)_first",
                                        "FLOPS/Byte_first",
                                        "TB/s_mean",
                                        "TB/s_median",
                                        "TB/s_std",
                                        "TB/s_min",
                                        "TB/s_max",
                                        "TFLOPS/s_mean",
                                        "TFLOPS/s_median",
                                        "TFLOPS/s_std",
                                        "TFLOPS/s_min",
                                        "TFLOPS/s_max",
                                        "kernel_details__summarize_kernel_stats",
                                        "trunc_kernel_details",
                                        "Input Dims_first",
                                        "Input type_first",
                                        "Input Strides_first",
                                        "Concrete Inputs_first",
                                        "Kernel Time (\u00b5s)_mean",
                                        "Kernel Time (\u00b5s)_median",
                                        "Kernel Time (\u00b5s)_std",
                                        "Kernel Time (\u00b5s)_min",
                                        "Kernel Time (\u00b5s)_max",
                                        "Kernel Time (\u00b5s)_sum",
                                        "name_count",
                                        "UID_first"};
constexpr std::size_t kX = 23;
constexpr std::size_t kAg = 32;
constexpr std::size_t kAh = 33;

struct Variation {
  std::string kernel;
  double min = 0, max = 0;
};

/// Returns the result of the documented step 4 for one file: by position, the first kernel in X,
/// and AG and AH as numbers; largest range first, equal ranges in the order of the sheet.
std::vector<Variation> most_varying(const Table& gemm, std::size_t most) {
  static const std::regex first_name(R"re('name':\s*'([^']+)')re");
  std::vector<Variation> out;
  for (std::size_t r = 0; r < gemm.rows(); ++r) {
    const std::string details(gemm.at(r, kX).text);
    std::smatch name;
    if (!std::regex_search(details, name, first_name) || gemm.at(r, kAg).kind == CellKind::kText ||
        gemm.at(r, kAg).is_null())
      continue;
    out.push_back({name[1], gemm.at(r, kAg).number(), gemm.at(r, kAh).number()});
  }
  std::stable_sort(out.begin(), out.end(), [](const Variation& a, const Variation& b) {
    return a.max - a.min > b.max - b.min;
  });
  out.resize(std::min(out.size(), most));
  return out;
}

TEST(OldLayout, TheStepsAfterTheReportsFindTheirFilesAndColumns) {
  const test::TempFolder folder;
  synth::Options o;
  o.threads = {256, 512};
  o.channels = {28, 70};
  o.ranks = 2;
  o.layers = 2;
  o.steps = 2;
  ASSERT_TRUE(synth::generate(o, folder.path("sweep"), 1, nullptr));
  const std::string out = folder.path("out");
  ASSERT_EQ(test::run_binary({"analyze", folder.path("sweep"), "-o", out, "--layout", "2025-11",
                              "--no-plots", "--no-merge", "-q"})
                .code,
            0);
  const Table top =
      table_from_csv("top", test::bytes_of(out + "/top5_gemm_kernels_time_variance.csv")).value();
  ASSERT_EQ(top.rows(), 5U * 2 * 2 * 2);
  for (const std::int64_t threads : o.threads)
    for (const std::int64_t channels : o.channels) {
      const std::string config = fmt::format("{}/{}thread/", out, threads);
      for (int rank = 0; rank < 2; ++rank) {
        const std::string book =
            fmt::format("{}individual_reports/perf_{}ch_rank{}.xlsx", config, channels, rank);
        const Result<Report> report = read_report_tables(book);
        ASSERT_TRUE(report) << book;
        const Table* gemm = report->find("GEMM");
        ASSERT_NE(gemm, nullptr) << book;
        ASSERT_EQ(gemm->cols(), kGemm.size()) << book;
        for (std::size_t c = 0; c < kGemm.size(); ++c)
          EXPECT_EQ(gemm->columns()[c].name, kGemm[c]) << book;
        // the step 4 of rankscope has the same result as that of the scripts
        const std::vector<Variation> want = most_varying(*gemm, 5);
        ASSERT_EQ(want.size(), 5U);
        std::size_t found = 0;
        for (std::size_t r = 0; r < top.rows(); ++r)
          if (top.at(r, "threads").number() == static_cast<double>(threads) &&
              top.at(r, "channel").number() == static_cast<double>(channels) &&
              top.at(r, "rank").number() == rank) {
            ASSERT_LT(found, want.size());
            EXPECT_EQ(top.at(r, "kernel_name").text, want[found].kernel) << book;
            EXPECT_DOUBLE_EQ(top.at(r, "kernel_time_min_us").number(), want[found].min) << book;
            EXPECT_DOUBLE_EQ(top.at(r, "kernel_time_max_us").number(), want[found].max) << book;
            ++found;
          }
        EXPECT_EQ(found, 5U) << book;
        EXPECT_TRUE(fs::exists(fmt::format("{}/comparisons/compare_{}ch_rank{}_across_threads.xlsx",
                                           out, channels, rank)));
      }
      const std::string book =
          fmt::format("{}collective_reports/collective_{}ch.xlsx", config, channels);
      const Result<Report> report = read_report_tables(book);
      ASSERT_TRUE(report) << book;
      const Table* rows = report->find("nccl_long");
      ASSERT_NE(rows, nullptr) << book;
      const std::pair<std::size_t, const char*> letters[] = {
          {2, "rank"}, {5, "Collective name"}, {15, "ts"}, {16, "dur"}}; // C, F, P, Q
      for (const auto& [at, name] : letters)
        EXPECT_EQ(rows->columns()[at].name, name) << book;
    }
  for (const char* name : {"top5_gemm_kernels_time_variance_with_timestamps.csv",
                           "top5_gemm_kernels_time_variance_with_collective_overlap.csv",
                           "gpu_timeline_all_configs_mean.xlsx", "nccl_master_all_configs.xlsx",
                           "nccl_master_all_configs.csv"})
    EXPECT_TRUE(fs::exists(out + "/" + name)) << name;
}

} // namespace
} // namespace rankscope
