// Tests reading of workbooks and CSV folders, and the row matching of compare-reports with
// hand-made cases.
#include "analyses/analysis.h"
#include "analyses/compare/compare_reports.h"
#include "cost.h"
#include "merge_checker.h"
#include "readers/reports/report_tables.h"
#include "temp_folder.h"
#include "trace_builder.h"
#include "writers/merged_trace.h"
#include "writers/writer.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <simdjson.h>

namespace rankscope {
namespace {

using test::bytes_of;

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

/// Returns the values of a text column.
std::set<std::string> texts(const Table& table, std::string_view column) {
  std::set<std::string> out;
  for (std::size_t r = 0; r < table.rows(); ++r)
    out.insert(std::string(table.at(r, *table.column(column)).text));
  return out;
}

TEST(ReportTables, NamesOfATraceSurviveEveryWriter) {
  test::TraceBuilder b;
  std::set<std::string> ops;
  std::set<std::string> kernels;
  double at = 0;
  for (const std::string& name : kNasty) {
    ops.insert("op " + name);
    kernels.insert(name + "<T, 1>(=\"x\")\nend");
    b.op("op " + name, at, 50).kernel(name + "<T, 1>(=\"x\")\nend", at + 1, 1e5 + at, 10);
    at += 100;
  }
  const LoadedTrace t = b.load();
  auto report = build_report(t, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(texts(*report->find("ops_summary"), "name"), ops);
  EXPECT_EQ(texts(*report->find("kernel_summary"), "Kernel name"), kernels);

  const test::TempFolder folder;
  ASSERT_TRUE(find_writer("xlsx")->write(*report, folder.path("r.xlsx")));
  ASSERT_TRUE(find_writer("csv")->write(*report, folder.path("csvs")));
  for (const char* leaf : {"r.xlsx", "csvs"}) {
    auto back = read_report_tables(folder.path(leaf));
    ASSERT_TRUE(back) << back.error().message();
    for (const Table& table : back->tables) {
      if (table.name() == "ops_summary") {
        EXPECT_EQ(texts(table, "name"), ops) << leaf;
      }
      if (table.name() == "kernel_summary") {
        EXPECT_EQ(texts(table, "Kernel name"), kernels) << leaf;
      }
    }
  }

  ASSERT_TRUE(find_writer("json")->write(*report, folder.path("r.json")));
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.load(folder.path("r.json")).get(root), simdjson::SUCCESS);
  std::set<std::string> strings; // all texts of the document
  std::vector<simdjson::dom::element> open{root};
  while (!open.empty()) {
    const simdjson::dom::element e = open.back();
    open.pop_back();
    if (e.is_array())
      for (const auto child : e.get_array())
        open.push_back(child);
    else if (e.is_object())
      for (const auto field : e.get_object())
        open.push_back(field.value);
    else if (e.is_string())
      strings.insert(std::string(e.get_string().value()));
  }
  for (const auto* names : {&ops, &kernels})
    for (const std::string& name : *names)
      EXPECT_EQ(strings.count(name), 1U) << name;

  MergeOptions merge;
  merge.cpu_ops = true;
  auto writer = MergedTraceWriter::create(folder.path("m.json"), merge);
  ASSERT_TRUE(writer);
  Diagnostics diagnostics;
  writer->add(t.trace, 0, {}, diagnostics);
  ASSERT_TRUE(writer->finish());
  std::set<std::string> merged;
  for (const test::MergedSlice& slice : test::check_merged(bytes_of(folder.path("m.json"))).slices)
    merged.insert(slice.name);
  for (const auto* names : {&ops, &kernels})
    for (const std::string& name : *names)
      EXPECT_EQ(merged.count("[R0] " + name), 1U) << name;
}

TEST(ReportTables, ATextBeyondACellsLimitIsCutAndSaid) {
  Table t("long", {{"text"}});
  const std::string text(40000, 'x');
  t.add_row({text});
  Report report;
  report.tables.push_back(std::move(t));
  const test::TempFolder folder;
  ASSERT_TRUE(find_writer("xlsx")->write(report, folder.path("r.xlsx")));
  auto back = read_report_tables(folder.path("r.xlsx"));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->tables[0].at(0, 0).text.size(), 32766U);
  EXPECT_EQ(back->tables[0].rows(), 1U);
  ASSERT_EQ(back->tables[0].notes.size(), 1U);
  EXPECT_EQ(back->tables[0].notes[0].find("1 texts are cut at 32767 characters"), 0U);
}

TEST(ReportTables, HostileInput) {
  const test::TempFolder folder;
  folder.write("not.xlsx", "PK this is no zip file");
  EXPECT_FALSE(read_report_tables(folder.path("not.xlsx")));
  EXPECT_FALSE(read_report_tables(folder.path("absent")));
  EXPECT_FALSE(read_report_tables(folder.path())); // a folder without tables
  std::uint64_t torn = 0;
  EXPECT_EQ(table_from_csv("t", "a,b\n\"open", &torn).value().rows(), 0U);
  EXPECT_EQ(torn, 1U);
  EXPECT_EQ(table_from_csv("t", "").value().cols(), 0U);
}

Report kernels(const std::vector<std::pair<const char*, double>>& rows) {
  Table t("kernel_summary", {{"Kernel name"}, {"Kernel duration (\u00b5s)_sum"}});
  for (const auto& [name, sum] : rows)
    t.add_row({name, sum});
  Report report;
  report.tables.push_back(std::move(t));
  return report;
}

/// Returns a report with this table.
Report with(const Table& table) {
  Report report;
  report.tables.push_back(table);
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
  EXPECT_DOUBLE_EQ(t.at(3, diff).number(), 3); // base 0: a difference without a percentage
  EXPECT_TRUE(t.at(3, pct).is_null());
  EXPECT_EQ(t.at(4, "present_in").text, "b");
  options.compat_tracelens = true;
  auto compat = compare_reports(reports, {"a", "b"}, options);
  ASSERT_TRUE(compat);
  EXPECT_EQ(compat->tables[0].rows(), 7U); // 2 x 2 rows of k, and the other three
  EXPECT_FALSE(compare_reports(reports, {"a", "a"}, options));
}

/// Returns a report whose `n` rows have the same key.
Report rows_of_one_key(std::size_t n) {
  Table t("kernel_summary", {{"Kernel name"}, {"Kernel duration (\u00b5s)_sum"}});
  for (std::size_t i = 0; i < n; ++i)
    t.add_row({"gemm_kernel", 1.0});
  Report report;
  report.tables.push_back(std::move(t));
  return report;
}

// Regression test: the combinations of 4,000 rows in two reports took 36 s and 5.6 GB.
TEST(CompareReports, TooManyCombinationsOfOneKeyAreRefused) {
  CompareReportsOptions options;
  options.sheets = {"kernel_summary"};
  options.compat_tracelens = true;
  std::map<std::size_t, std::vector<Report>> reports;
  const std::size_t n = 4'000;
  for (const std::size_t k : {n, 2 * n, 4 * n}) {
    reports[k].push_back(rows_of_one_key(k));
    reports[k].push_back(rows_of_one_key(k - 1));
  }
  test::expect_near_linear(n, [&](std::size_t k) {
    const auto got = compare_reports(reports.at(k), {"a", "b"}, options);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::kUnreadable);
    EXPECT_EQ(got.error().where, "a: kernel_summary");
    EXPECT_NE(got.error().message().find(std::to_string(k) + " rows have the key 'gemm_kernel'"),
              std::string::npos)
        << got.error().message();
    EXPECT_NE(got.error().hint.find("leave out --compat tracelens"), std::string::npos);
  });
  options.compat_tracelens = false; // pairs the rows one to one
  EXPECT_EQ(compare_reports(reports.at(n), {"a", "b"}, options).value().tables[0].rows(), n);
}

// Many keys with few rows each need as much memory as one key with many rows.
TEST(CompareReports, CombinationsOfAllKeysCount) {
  CompareReportsOptions options;
  options.sheets = {"kernel_summary"};
  options.compat_tracelens = true;
  Table t("kernel_summary", {{"Kernel name"}, {"Kernel duration (\u00b5s)_sum"}});
  for (int key = 0; key < 200; ++key) {
    const std::string name = "kernel " + std::to_string(key);
    for (int i = 0; i < 100; ++i)
      t.add_row({name, 1.0});
  }
  EXPECT_FALSE(compare_reports({with(t), with(t)}, {"a", "b"}, options)); // 200 x 100 x 100 rows
}

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> out;
  for (const Column& column : table.columns())
    out.push_back(column.name);
  return out;
}

// The rows of a comparison are in the order of the baseline, so cumulative sums over rows exist
// only for the baseline.
TEST(CompareReports, SumsOverRowsAreTheBaselinesAlone) {
  const std::vector<Column> columns{
      {"Kernel name"}, {"Kernel duration (\u00b5s)_sum"}, {"Cumulative Percentage (%)"}};
  Table a("kernel_summary", columns);
  a.add_row({"k", 3.0, 75.0});
  a.add_row({"l", 1.0, 100.0});
  Table b("kernel_summary", columns);
  b.add_row({"l", 9.0, 90.0});
  b.add_row({"k", 1.0, 100.0});
  CompareReportsOptions options;
  options.sheets = {"kernel_summary"};
  const auto got = compare_reports({with(a), with(b)}, {"a", "b"}, options);
  ASSERT_TRUE(got);
  const Table& t = got->tables[0];
  EXPECT_EQ(t.at(0, "a::Cumulative Percentage (%)").number(), 75);
  EXPECT_FALSE(t.column("b::Cumulative Percentage (%)"));
  EXPECT_TRUE(t.column("b::Kernel duration (\u00b5s)_sum"));
}

// A later version of the reports has columns about the first call that an earlier version does not
// have. A column that both have is written only once, from the first report that has it.
TEST(CompareReports, FactsOfTheFirstCallAreSaidOnce) {
  const std::string sum = "Kernel Time (\u00b5s)_sum";
  Table a("GEMM", {{"name"}, {"param: M"}, {sum}, {"GFLOPS_first"}});
  a.add_row({"both", std::int64_t{1}, 2.0, 10.0});
  a.add_row({"old", std::int64_t{1}, 1.0, 20.0});
  Table b("GEMM", {{"name"}, {"param: M"}, {sum}, {"GFLOPS_first"}, {"thread_name_first"}});
  b.add_row({"both", std::int64_t{1}, 3.0, 10.0, "main"});
  b.add_row({"new", std::int64_t{1}, 1.0, 30.0, "main"});
  CompareReportsOptions options;
  options.sheets = {"roofline"};
  const auto got = compare_reports({with(a), with(b)}, {"a", "b"}, options);
  ASSERT_TRUE(got);
  ASSERT_EQ(got->tables.size(), 3U);
  const std::string d = sum + "__b_diff";
  const std::string p = sum + "__b_pct";
  EXPECT_EQ(names_of(got->tables[0]),
            (std::vector<std::string>{"name", "param: M", d, p, "a::" + sum, "a::GFLOPS_first",
                                      "b::" + sum, "b::thread_name_first"}));
  EXPECT_EQ(got->tables[0].at(0, d).number(), 1);
  EXPECT_EQ(got->tables[1].at(0, "a::GFLOPS_first").number(), 20);
  // these rows are only in the later report, so its values are written
  EXPECT_EQ(got->tables[2].name(), "GEMM_only_variant_b");
  EXPECT_EQ(got->tables[2].at(0, "b::GFLOPS_first").number(), 30);
}

// Operators have a row per module: rows of the same name are matched by module, not by position.
TEST(CompareReports, OperatorsOfAModuleMeetTheirs) {
  const std::vector<Column> columns{
      {"name"}, {"parent_module"}, {"total_direct_kernel_time_ms"}, {"Count"}};
  Table a("ops_summary", columns);
  a.add_row({"mm", "attention", 5.0, std::int64_t{1}});
  a.add_row({"mm", "mlp", 4.0, std::int64_t{1}});
  Table b("ops_summary", columns);
  b.add_row({"mm", "mlp", 6.0, std::int64_t{1}});
  b.add_row({"mm", "attention", 5.0, std::int64_t{1}});
  CompareReportsOptions options;
  options.sheets = {"ops_summary"};
  const auto got = compare_reports({with(a), with(b)}, {"a", "b"}, options);
  ASSERT_TRUE(got);
  const Table& t = got->tables[0];
  EXPECT_EQ(t.at(0, "parent_module").text, "attention");
  EXPECT_EQ(t.at(0, "total_direct_kernel_time_ms__b_diff").number(), 0);
  EXPECT_EQ(t.at(1, "total_direct_kernel_time_ms__b_diff").number(), 2);
}

} // namespace
} // namespace rankscope
