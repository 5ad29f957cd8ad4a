// Compares compare-reports in compat mode with the comparison tables of the reference tool.
#include "analyses/compare/compare_reports.h"
#include "golden/golden_data.h"
#include "readers/reports/report_tables.h"
#include "writers/writer.h"

#include <cmath>
#include <gtest/gtest.h>
#include <iostream>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

void check(const fs::path& set, const std::string& leaf, const fs::path& reference,
           std::size_t& cells) {
  std::vector<Report> reports;
  for (const char* tag : {"256thread", "512thread"}) {
    auto report = read_report_tables((set / tag / leaf).string());
    ASSERT_TRUE(report) << report.error().message();
    reports.push_back(std::move(*report));
  }
  for (const fs::directory_entry& file : fs::directory_iterator(reference)) {
    const std::string sheet = file.path().stem().string();
    CompareReportsOptions options;
    options.sheets = {sheet};
    options.compat_tracelens = true;
    auto got = compare_reports(reports, {"256thread", "512thread"}, options);
    ASSERT_TRUE(got) << got.error().message();
    const Table* const table = got->find(sheet);
    ASSERT_NE(table, nullptr);
    const golden::Csv want = golden::read_csv(file.path());
    ASSERT_EQ(table->cols(), want.header.size());
    ASSERT_EQ(table->rows(), want.rows.size());
    for (std::size_t c = 0; c < table->cols(); ++c) {
      EXPECT_EQ(table->columns()[c].name, want.header[c]);
      for (std::size_t r = 0; r < table->rows(); ++r, ++cells) {
        const Value v = table->at(r, c);
        const std::string& text = want.rows[r][c];
        if (v.is_null()) {
          EXPECT_EQ(text, "");
        } else if (v.kind == CellKind::kText) {
          EXPECT_EQ(v.text, text);
        } else {
          const double number = std::strtod(text.c_str(), nullptr);
          EXPECT_NE(text, "") << sheet << " " << r << " " << want.header[c];
          EXPECT_NEAR(v.number(), number, 1e-12 * std::fabs(number));
        }
      }
    }
  }
}

TEST(CompareReportsGolden, BothSets) {
  const fs::path root = golden::root();
  if (root.empty() || !fs::exists(root / "compare"))
    GTEST_SKIP() << golden::kAbsent;
  std::size_t cells = 0;
  const fs::path a = root / "compare" / "compare_test";
  const fs::path b = root / "compare" / "compare_test_ops";
  check(a, "perf_56ch_rank7_perf_report_csvs",
        a / "reference" / "compare_56ch_rank7_across_threads_csvs", cells);
  check(b, "perf_28ch_rank0_perf_report_csvs",
        b / "reference" / "compare_28ch_rank0_across_threads_csvs", cells);
  std::cout << "2 sets, 4 tables, " << cells << " cells compared\n";
  EXPECT_GT(cells, 1000U);
}

} // namespace
} // namespace rankscope
