// Workbooks and CSV folders read back; the row matching of compare-reports by hand-worked cases.
#include "analyses/compare_reports.h"
#include "readers/report_tables.h"
#include "temp_folder.h"
#include "writers/writer.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

const std::vector<std::string> kNasty = {
    "=1+2",     "+x",  "@sum(A1)", "a,b",        "say \"hi\"", "<b>&amp;</b>", "two\nlines",
    " padded ", "x_x", "\u00b5s",  "True story", "1.5.2",      "'quoted",      "tab\there"};

Report nasty_report(unsigned seed) {
  std::mt19937 random(seed);
  Table t("first", {{"text"}, {"whole"}, {"real"}, {"flag"}});
  for (int r = 0; r < 60; ++r)
    t.add_row({random() % 7 == 0 ? Value() : Value(kNasty[random() % kNasty.size()]),
               static_cast<std::int64_t>(random()) - 2147483648,
               random() % 5 == 0 ? std::nan("") : std::ldexp(random(), -40) + 0.1,
               Value(random() % 2 == 0)});
  Report report;
  report.tables.push_back(std::move(t));
  return report;
}

void expect_same(const Table& got, const Table& want) {
  ASSERT_EQ(got.rows(), want.rows());
  ASSERT_EQ(got.cols(), want.cols());
  for (std::size_t r = 0; r < want.rows(); ++r)
    for (std::size_t c = 0; c < want.cols(); ++c) {
      const Value a = got.at(r, c);
      const Value b = want.at(r, c);
      ASSERT_EQ(a.is_null(), b.is_null()) << r << "," << c;
      if (b.is_null())
        continue;
      ASSERT_EQ(a.kind, b.kind) << r << "," << c;
      if (b.kind == CellKind::kText)
        ASSERT_EQ(a.text, b.text);
      else
        ASSERT_NEAR(a.number(), b.number(), 1e-14 * std::fabs(b.number()));
    }
}

TEST(ReportTables, RoundTripThroughWorkbookAndCsv) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const test::TempFolder folder;
    const Report report = nasty_report(seed);
    ASSERT_TRUE(find_writer("xlsx")->write(report, folder.path("r.xlsx")));
    ASSERT_TRUE(find_writer("csv")->write(report, folder.path("csvs")));
    for (const char* leaf : {"r.xlsx", "csvs"}) {
      auto back = read_report_tables(folder.path(leaf));
      ASSERT_TRUE(back) << back.error().message();
      ASSERT_EQ(back->tables.size(), 1U);
      expect_same(back->tables[0], report.tables[0]);
    }
  }
}

TEST(ReportTables, HostileInput) {
  const test::TempFolder folder;
  folder.write("not.xlsx", "PK this is no zip file");
  EXPECT_FALSE(read_report_tables(folder.path("not.xlsx")));
  EXPECT_FALSE(read_report_tables(folder.path("absent")));
  EXPECT_FALSE(read_report_tables(folder.path())); // a folder without tables
  EXPECT_EQ(table_from_csv("t", "a,b\n\"open").rows(), 1U);
  EXPECT_EQ(table_from_csv("t", "").cols(), 0U);
}

Report kernels(const std::vector<std::pair<const char*, double>>& rows) {
  Table t("kernel_summary", {{"Kernel name"}, {"Kernel duration (\u00b5s)_sum"}});
  for (const auto& [name, sum] : rows)
    t.add_row({name, sum});
  Report report;
  report.tables.push_back(std::move(t));
  return report;
}

TEST(CompareReports, RowsMultiplyOnlyInCompatMode) {
  std::vector<Report> reports;
  reports.push_back(kernels({{"k", 8}, {"k", 2}, {"zero", 0}, {"gone", 1}}));
  reports.push_back(kernels({{"k", 10}, {"k", 1}, {"zero", 3}, {"new", 4}}));
  CompareReportsOptions options;
  options.sheets = {"kernel_summary"};
  auto plain = compare_reports(reports, {"a", "b"}, options);
  ASSERT_TRUE(plain);
  const Table& t = plain->tables[0];
  ASSERT_EQ(t.rows(), 5U); // k, k, gone, zero, new
  const std::string diff = "Kernel duration (\u00b5s)_sum__b_diff";
  const std::string pct = "Kernel duration (\u00b5s)_sum__b_pct";
  EXPECT_DOUBLE_EQ(t.at(0, diff).number(), 2);
  EXPECT_DOUBLE_EQ(t.at(0, pct).number(), 25);
  EXPECT_DOUBLE_EQ(t.at(1, diff).number(), -1);
  EXPECT_EQ(t.at(2, "present_in").text, "a");
  EXPECT_TRUE(t.at(2, diff).is_null());
  EXPECT_DOUBLE_EQ(t.at(3, diff).number(), 3); // base 0: a difference, no percentage
  EXPECT_TRUE(t.at(3, pct).is_null());
  EXPECT_EQ(t.at(4, "present_in").text, "b");
  options.compat_tracelens = true;
  auto compat = compare_reports(reports, {"a", "b"}, options);
  ASSERT_TRUE(compat);
  EXPECT_EQ(compat->tables[0].rows(), 7U); // 2 x 2 rows of k, and the three others
  EXPECT_FALSE(compare_reports(reports, {"a", "a"}, options));
}

} // namespace
} // namespace rankscope
