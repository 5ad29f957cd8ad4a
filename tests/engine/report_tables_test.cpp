// Workbooks and CSV folders read back; the row matching of compare-reports by hand-worked cases.
#include "analyses/analysis.h"
#include "analyses/compare/compare_reports.h"
#include "merge_checker.h"
#include "readers/reports/report_tables.h"
#include "temp_folder.h"
#include "trace_builder.h"
#include "writers/merged_trace.h"
#include "writers/writer.h"

#include <cmath>
#include <gtest/gtest.h>
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

/// Values of a column of texts.
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
  std::set<std::string> strings; // every text of the document
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
  writer->add(t.trace, 0, 0, diagnostics);
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
