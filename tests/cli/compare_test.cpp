// Tests rankscope compare with generated runs: the workbooks are read and recalculated sheet by
// sheet; verdicts and exit codes, reports as input, labels, and opening of the workbook in
// LibreOffice.
#include "readers/reports/report_tables.h"
#include "run_binary.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <simdjson.h>
#include <sstream>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;
using test::TempFolder;

std::string make_run(const TempFolder& folder, const std::string& name, std::uint64_t seed,
                     double gemm_scale, std::vector<std::int64_t> missing = {},
                     std::int64_t steps = 4) {
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 3;
  o.layers = 2;
  o.steps = steps;
  o.seed = seed;
  o.straggler = -1;
  o.gemm_scale = gemm_scale;
  o.missing_ranks = std::move(missing);
  EXPECT_TRUE(synth::generate(o, folder.path(name), 2, nullptr));
  return folder.path(name) + "/256thread/nccl_28channels";
}

Report read(const std::string& path) {
  Result<Report> report = read_report_tables(path);
  EXPECT_TRUE(report) << (report ? "" : report.error().message());
  return report ? std::move(*report) : Report{};
}

std::vector<std::string> sheets(const Report& report) {
  std::vector<std::string> out;
  for (const Table& t : report.tables)
    out.push_back(t.name());
  return out;
}

std::vector<std::string> headers_compare(const Table& t) {
  std::vector<std::string> out;
  for (const Column& c : t.columns())
    out.push_back(c.name);
  return out;
}

/// Checks that base, test, diff, percent_change and ratio of a row agree with the formulas.
void check_formulas(double base, double test, const Value& diff, const Value& change,
                    const Value& ratio, bool higher_is_better) {
  EXPECT_NEAR(diff.number(), test - base, 1e-9 * std::fabs(base) + 1e-12);
  if (base != 0) {
    EXPECT_NEAR(change.number(), (higher_is_better ? test - base : base - test) / base * 100, 1e-9);
    EXPECT_NEAR(ratio.number(), test / base, 1e-12);
  } else {
    EXPECT_TRUE(ratio.is_null());
  }
}

class Compare : public ::testing::Test {
protected:
  Compare()
      : base_(make_run(folder_, "one", 1, 1)), test_(make_run(folder_, "two", 2, 1.05)),
        out_(folder_.path("out")) {}

  TempFolder folder_;
  std::string base_, test_, out_;
};

TEST_F(Compare, WorkbooksHoldTheDocumentedSheetsColumnsAndFormulas) {
  const RunResult r = run_binary({"compare", "--baseline", base_, "--test", test_, "--labels",
                                  "A,B", "--output", out_, "--no-plots", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  const Report timeline = read(out_ + "/gpu_timeline_comparison.xlsx");
  EXPECT_EQ(sheets(timeline), (std::vector<std::string>{
                                  "Summary", "All_Ranks_Combined", "Per_Rank_Time_ms",
                                  "Per_Rank_Percent", "Comparison_By_Rank", "Summary_Comparison"}));
  for (const char* name : {"Summary", "All_Ranks_Combined", "Per_Rank_Time_ms"})
    EXPECT_EQ(headers_compare(*timeline.find(name)).back(), "source");
  const Table& by_rank = *timeline.find("Comparison_By_Rank");
  const std::vector<std::string> documented = {
      "rank",   "type",  "A_time_ms", "B_time_ms", "diff_time_ms", "percent_change",
      "status", "ratio", "A_percent", "B_percent", "diff_percent"};
  const auto have = headers_compare(by_rank);
  ASSERT_GE(have.size(), documented.size());
  EXPECT_TRUE(std::equal(documented.begin(), documented.end(), have.begin()));
  // the comparison uses the values of the raw sheet
  std::map<std::tuple<std::string, std::int64_t, std::string>, std::pair<double, double>> raw;
  const Table& all = *timeline.find("All_Ranks_Combined");
  for (std::size_t i = 0; i < all.rows(); ++i)
    raw[{std::string(all.at(i, "type").text), static_cast<std::int64_t>(all.at(i, "rank").number()),
         std::string(all.at(i, "source").text)}] = {all.at(i, "time ms").number(),
                                                    all.at(i, "percent").number()};
  ASSERT_EQ(by_rank.rows(), 3U * 8);
  std::map<std::string, std::array<double, 2>> sums;
  int worse = 0;
  for (std::size_t i = 0; i < by_rank.rows(); ++i) {
    const std::string type(by_rank.at(i, "type").text);
    const auto rank = static_cast<std::int64_t>(by_rank.at(i, "rank").number());
    const auto [base, base_percent] = raw.at({type, rank, "A"});
    const auto [test, test_percent] = raw.at({type, rank, "B"});
    sums[type][0] += base;
    sums[type][1] += test;
    EXPECT_DOUBLE_EQ(by_rank.at(i, "A_time_ms").number(), base);
    EXPECT_DOUBLE_EQ(by_rank.at(i, "B_time_ms").number(), test);
    EXPECT_NEAR(by_rank.at(i, "diff_percent").number(), test_percent - base_percent, 1e-9);
    check_formulas(base, test, by_rank.at(i, "diff_time_ms"), by_rank.at(i, "percent_change"),
                   by_rank.at(i, "ratio"), false);
    // the idle time before the first step is unknown
    EXPECT_EQ(by_rank.at(i, "A_steps").number(),
              type == "total_time" || type == "idle_time" ? 3 : 4);
    if (type == "computation_time")
      worse += by_rank.at(i, "status").text == "Worse" ? 1 : 0;
  }
  EXPECT_EQ(worse, 3); // GEMMs are 5 % slower on all ranks
  const Table& summary = *timeline.find("Summary_Comparison");
  ASSERT_EQ(summary.rows(), 8U);
  for (std::size_t i = 0; i < summary.rows(); ++i) {
    const auto& sum = sums.at(std::string(summary.at(i, "type").text));
    EXPECT_NEAR(summary.at(i, "A_time_ms").number(), sum[0] / 3, 1e-9);
    check_formulas(summary.at(i, "A_time_ms").number(), summary.at(i, "B_time_ms").number(),
                   summary.at(i, "diff_time_ms"), summary.at(i, "percent_change"),
                   summary.at(i, "ratio"), false);
  }
}

// compare appends to a job summary, because every step of a job does so; it replaces any other
// file.
TEST_F(Compare, MarkdownIsAppendedToAJobSummaryOnly) {
  const std::string summary = out_ + "_summary.md";
  const std::string other = out_ + "_other.md";
  for (const std::string& path : {summary, other})
    std::ofstream(path) << "# earlier";
  ::setenv("GITHUB_STEP_SUMMARY", summary.c_str(), 1);
  for (const std::string& path : {summary, other})
    EXPECT_EQ(run_binary({"compare", "--baseline", base_, "--test", test_, "--output", out_,
                          "--no-plots", "--quiet", "--markdown", path})
                  .code,
              0);
  ::unsetenv("GITHUB_STEP_SUMMARY");
  EXPECT_EQ(test::bytes_of(summary).rfind("# earlier\n## Performance comparison\n", 0), 0U);
  EXPECT_EQ(test::bytes_of(other).rfind("## Performance comparison\n", 0), 0U);
}

TEST_F(Compare, CollectivesAndTheFinalReport) {
  const RunResult r = run_binary({"compare", "--baseline", base_, "--test", test_, "--labels",
                                  "A,B", "--output", out_, "--no-plots", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  const Report collective = read(out_ + "/collective_comparison.xlsx");
  EXPECT_EQ(sheets(collective),
            (std::vector<std::string>{"nccl_summary_implicit_sync", "nccl_summary_long",
                                      "nccl_implicit_sync_cmp", "nccl_long_cmp"}));
  const Table& cmp = *collective.find("nccl_implicit_sync_cmp");
  ASSERT_GT(cmp.rows(), 0U);
  const Table& raw = *collective.find("nccl_summary_implicit_sync");
  ASSERT_EQ(raw.rows(), 2 * cmp.rows());
  const std::pair<const char*, bool> metrics[] = {{"comm_latency_mean (us)", false},
                                                  {"algo bw (GB/s)_mean", true},
                                                  {"bus bw (GB/s)_mean", true},
                                                  {"Total comm latency (ms)", false}};
  for (std::size_t i = 0; i < cmp.rows(); ++i) {
    for (const auto& [name, higher] : metrics) {
      const std::string m = name;
      const std::string bare = m == "comm_latency_mean (us)" ? "comm_latency_mean" : m;
      check_formulas(cmp.at(i, "A_" + m).number(), cmp.at(i, "B_" + m).number(),
                     cmp.at(i, "diff_" + m), cmp.at(i, "percent_change_" + bare),
                     cmp.at(i, "ratio_" + bare), higher);
    }
    int partners = 0; // each value is that of the summary of its run
    for (std::size_t k = 0; k < raw.rows(); ++k)
      if (raw.at(k, "Collective name").text == cmp.at(i, "Collective name").text &&
          raw.at(k, "dtype").text == cmp.at(i, "dtype").text &&
          raw.at(k, "In msg nelems").number() == cmp.at(i, "In msg nelems").number()) {
        ++partners;
        EXPECT_DOUBLE_EQ(
            cmp.at(i, std::string(raw.at(k, "source").text) + "_comm_latency_mean (us)").number(),
            raw.at(k, "comm_latency_mean").number());
      }
    EXPECT_EQ(partners, 2);
  }
  const Report final = read(out_ + "/final_analysis_report.xlsx");
  EXPECT_EQ(sheets(final), (std::vector<std::string>{
                               "Summary_Dashboard", "findings", "What_Changed", "GPU_Summary_Raw",
                               "GPU_AllRanks_Raw", "GPU_Time_Raw", "GPU_Pct_Raw", "GPU_ByRank_Cmp",
                               "GPU_Summary_Cmp", "NCCL_ImplSync_Raw", "NCCL_Long_Raw",
                               "NCCL_ImplicitSyncCmp", "NCCL_LongCmp"}));
  const Table& dashboard = final.tables.front();
  // the rows of each list, up to "all else", add up to the difference of the step time
  const Table& changed = *final.find("What_Changed");
  std::vector<double> sums(1);
  for (std::size_t i = 1; i < changed.rows(); ++i) {
    sums.back() += changed.at(i, "difference (ms)").number();
    if (changed.at(i, "what").text == "all else" && i + 1 < changed.rows())
      sums.push_back(0);
  }
  ASSERT_EQ(sums.size(), 3U);
  for (const double sum : sums)
    EXPECT_NEAR(sum, changed.at(0, "difference (ms)").number(), 1e-9);
  const Table& summary = *final.find("GPU_Summary_Cmp");
  ASSERT_EQ(dashboard.rows(), summary.rows() + 3);
  for (std::size_t i = 0; i < summary.rows(); ++i) {
    EXPECT_EQ(dashboard.at(i, "Metric").text, "GPU_" + std::string(summary.at(i, "type").text));
    EXPECT_DOUBLE_EQ(dashboard.at(i, "Complete run (%)").number(),
                     summary.at(i, "percent_change").number());
    // US-U7: the interval belongs to this value
    if (!summary.at(i, "step_change_percent").is_null()) {
      EXPECT_DOUBLE_EQ(dashboard.at(i, "Improvement (%)").number(),
                       summary.at(i, "step_change_percent").number());
    }
    EXPECT_EQ(dashboard.at(i, "Status").text, summary.at(i, "status").text);
  }
  for (const std::string& name :
       {std::string("A/individual_reports/perf_rank2.xlsx"),
        std::string("B/collective_reports/collective_all_ranks.xlsx"),
        std::string("A/gpu_timeline_summary_mean.xlsx"), std::string("gpu_timeline_combined.xlsx"),
        std::string("collective_combined.xlsx")})
    EXPECT_TRUE(fs::exists(out_ + "/" + name)) << name;
}

TEST_F(Compare, ReportsAsInputGiveTheSameWorkbooks) {
  ASSERT_EQ(run_binary({"compare", "--baseline", base_, "--test", test_, "--labels", "A,B",
                        "--output", out_, "--no-plots", "--quiet"})
                .code,
            0);
  const std::string again = folder_.path("again");
  const RunResult r =
      run_binary({"compare", "--baseline", out_ + "/A", "--test", out_ + "/B", "--output", again,
                  "--all", "--skip-tracelens", "--no-plots", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  for (const char* name : {"gpu_timeline_comparison.xlsx", "collective_comparison.xlsx",
                           "final_analysis_report.xlsx"}) {
    Report first = read(out_ + "/" + name);
    Report second = read(again + "/" + name);
    for (Report* report : {&first, &second})
      std::erase_if(report->tables, [](const Table& t) { // reports have no self times
        return t.name() == "What_Changed" || t.name() == "findings";
      });
    ASSERT_EQ(sheets(first), sheets(second)) << name;
    for (std::size_t t = 0; t < first.tables.size(); ++t) {
      const Table& x = first.tables[t];
      const Table& y = second.tables[t];
      ASSERT_EQ(x.rows(), y.rows()) << x.name();
      ASSERT_EQ(headers_compare(x), headers_compare(y)) << x.name();
      for (std::size_t i = 0; i < x.rows(); ++i)
        for (std::size_t c = 0; c < x.cols(); ++c) {
          const Value a = x.at(i, c);
          const Value b = y.at(i, c);
          EXPECT_EQ(a.text, b.text) << x.name() << " " << i << " " << c;
          if (a.kind != CellKind::kText && !a.is_null()) {
            EXPECT_NEAR(a.number(), b.number(), 1e-9 * (1 + std::fabs(a.number())))
                << x.name() << " " << i << " " << c;
          }
        }
    }
  }
}

TEST_F(Compare, VerdictsAndExitCodes) {
  const std::string markdown = folder_.path("pr.md");
  const RunResult bad = run_binary({"compare", "--baseline", base_, "--test", test_, "--labels",
                                    "A|x,B", "--output", out_, "--markdown", markdown, "--fail-on",
                                    "total_time>2%", "--no-plots", "--quiet"});
  EXPECT_EQ(bad.code, 5) << bad.err;
  EXPECT_NE(bad.err.find("total_time>2%"), std::string::npos);
  const std::string text = test::bytes_of(markdown);
  EXPECT_NE(text.find("| GPU_total_time | ms |"), std::string::npos) << text;
  EXPECT_NE(text.find("A\\|x"), std::string::npos);
  EXPECT_NE(text.find("Regression"), std::string::npos);
  // with the runs exchanged, it is an improvement
  EXPECT_EQ(run_binary({"compare", "--baseline", test_, "--test", base_, "--labels", "A,B",
                        "--output", out_, "--fail-on", "total_time>2%", "--fail-on",
                        "NCCL_bus_bandwidth>50%", "--no-plots", "--quiet"})
                .code,
            0);
  EXPECT_EQ(run_binary({"compare", "--baseline", base_, "--test", test_, "--output", out_,
                        "--fail-on", "nonsense>2%", "--no-plots", "--quiet"})
                .code,
            2);
  EXPECT_EQ(run_binary({"compare", "--baseline", base_, "--test", test_, "--output", out_,
                        "--fail-on", "total_time", "--no-plots", "--quiet"})
                .code,
            2);
  EXPECT_EQ(run_binary({"compare", "--baseline", folder_.path("absent"), "--test", test_,
                        "--output", out_, "--no-plots", "--quiet"})
                .code,
            3);
}

// Annotations are not part of the JSON document, and a threshold must be a number.
TEST_F(Compare, JsonStaysOneDocumentAndThresholdsAreNumbers) {
  const RunResult r =
      run_binary({"compare", "--baseline", base_, "--test", test_, "--labels", "A,B", "--output",
                  out_, "--no-plots", "--json", "--annotate", "--fail-on", "total_time>2%"});
  EXPECT_EQ(r.code, 5);
  simdjson::dom::parser parser;
  EXPECT_EQ(parser.parse(r.out).error(), simdjson::SUCCESS) << r.out.substr(0, 300);
  EXPECT_NE(r.err.find("::error title="), std::string::npos) << r.err;
  for (const char* flag : {"--threshold", "--assume-noise"}) {
    const RunResult bad = run_binary({"compare", "--baseline", base_, "--test", test_, "--output",
                                      out_, "--no-plots", flag, "nan"});
    EXPECT_EQ(bad.code, 2) << flag;
    EXPECT_NE(bad.err.find("is not a number "), std::string::npos) << bad.err;
  }
}

// Reports next to the traces of a run would be inputs of the next command.
TEST_F(Compare, OutputsGoIntoNoInput) {
  fs::rename(base_, folder_.path("a"));
  fs::rename(test_, folder_.path("b"));
  const RunResult r = run_binary({"compare", "--baseline", folder_.path("a"), "--test",
                                  folder_.path("b"), "-o", folder_.path(""), "--no-plots"});
  EXPECT_EQ(r.code, 2) << r.err;
  EXPECT_NE(r.err.find("would be written to the folder that is compared"), std::string::npos)
      << r.err;
  EXPECT_FALSE(fs::exists(folder_.path("a/individual_reports")));
}

// ST no. 5, ST-C15: other ranks wait for a slow rank; the collective itself is not slow.
TEST_F(Compare, ASlowRankIsAWaitAndNoSlowCollective) {
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 3;
  o.layers = 2;
  o.steps = 6;
  o.straggler = -1;
  o.equal_devices = true;
  EXPECT_TRUE(synth::generate(o, folder_.path("even"), 2, nullptr));
  o.seed = 2;
  o.straggler = 1;
  o.straggler_us = 4000;
  EXPECT_TRUE(synth::generate(o, folder_.path("uneven"), 2, nullptr));
  const RunResult r =
      run_binary({"compare", "--baseline", folder_.path("even"), "--test", folder_.path("uneven"),
                  "--output", out_, "--no-plots", "--json", "-q"});
  EXPECT_EQ(r.code, 0) << r.err;
  const Report final = read(out_ + "/final_analysis_report.xlsx");
  const Table* changes = final.find("What_Changed");
  ASSERT_NE(changes, nullptr);
  bool waits = false;
  for (std::size_t i = 0; i < changes->rows(); ++i) {
    const std::string_view what = changes->at(i, "what").text;
    waits =
        waits || (what == "wait at collectives" && changes->at(i, "difference (ms)").number() > 1);
    if (what == "collective") {
      EXPECT_LT(changes->at(i, "difference (ms)").number(), 0.5) << changes->at(i, "name").text;
    }
  }
  EXPECT_TRUE(waits);
}

TEST_F(Compare, SeveralTestsEqualNamesAndMissingRanks) {
  const std::string third = make_run(folder_, "three", 3, 1, {1});
  const RunResult r = run_binary({"compare", "--baseline", base_, "--test", test_, "--test", third,
                                  "--output", out_, "--no-plots", "--quiet"});
  EXPECT_EQ(r.code, 4) << r.err; // rank 1 is missing in one run
  const Report final = read(out_ + "/final_analysis_report.xlsx");
  const Table& dashboard = final.tables.front();
  EXPECT_TRUE(dashboard.column("one"));
  EXPECT_TRUE(dashboard.column("two Improvement (%)"));
  EXPECT_TRUE(dashboard.column("three Status"));
  const Table* ranks = nullptr;
  for (const Table& t : final.tables)
    if (t.name().rfind("GPU_ByRank_Cmp", 0) == 0)
      ranks = &t; // the last sheet: the comparison with the third run
  ASSERT_NE(ranks, nullptr);
  int only = 0;
  for (std::size_t i = 0; i < ranks->rows(); ++i)
    only += ranks->at(i, "status").text == "only in one" ? 1 : 0;
  EXPECT_EQ(only, 8);
}

// A run without one of its ranks was "worse": the latency of collectives without the late rank
// contains their wait.
TEST_F(Compare, ALostRankIsNoDifference) {
  const std::string all = make_run(folder_, "all", 7, 1, {}, 6);
  const auto without = [this](const std::string& name, std::vector<std::int64_t> missing) {
    return make_run(folder_, name, 7, 1, std::move(missing), 6);
  };
  const std::string lost = without("lost", {2});
  const std::string rank0 = without("rank0", {1, 2});
  const std::string rank1 = without("rank1", {0, 2});
  for (const auto& [base, test] : {std::pair{all, lost}, {lost, all}, {rank0, rank1}}) {
    const RunResult r = run_binary({"compare", "--baseline", base, "--test", test, "--output", out_,
                                    "--no-plots", "--fail-on", "comm_latency>5%"});
    EXPECT_EQ(r.code, 4) << r.err;
    EXPECT_NE(r.err.find("the runs have different ranks"), std::string::npos) << r.err;
    const Report final = read(out_ + "/final_analysis_report.xlsx");
    for (const Table& t : final.tables)
      for (const char* status : {"Status", "status"})
        for (std::size_t i = 0; t.column(status) && i < t.rows(); ++i)
          EXPECT_TRUE(t.at(i, status).text != "Better" && t.at(i, status).text != "Worse")
              << t.name() << " row " << i;
    EXPECT_EQ(final.find("What_Changed"), nullptr);
  }
}

// A recorder may write single events without a duration.
TEST_F(Compare, ARankThatLostASingleEventIsCompared) {
  const std::string all = make_run(folder_, "all", 7, 1, {}, 6);
  const std::string odd = make_run(folder_, "odd", 7, 1, {}, 6);
  const std::string trace = fs::directory_iterator(odd + "/torch_profiler/rank1")->path().string();
  std::string text = test::bytes_of(trace);
  text.insert(text.find('[', text.find("\"traceEvents\"")) + 1,
              R"({"ph":"X","cat":"kernel","name":"k","ts":"x","dur":1,"pid":0,"tid":1},)");
  std::ofstream(trace, std::ios::binary) << text;
  const RunResult r =
      run_binary({"compare", "--baseline", all, "--test", odd, "--output", out_, "--no-plots"});
  EXPECT_EQ(r.code, 4) << "the loss is reported";
  EXPECT_EQ(r.out.find(" lost events"), std::string::npos) << r.out;
}

// The table has the first ten changed rows.
TEST_F(Compare, TheRowsOfTheMarkdownTableAddUp) {
  const std::string base = make_run(folder_, "all", 3, 1, {}, 8);
  const std::string test = make_run(folder_, "slow", 3, 1.3, {}, 8);
  const std::string file = folder_.path("changes.md");
  EXPECT_EQ(run_binary({"compare", "--baseline", base, "--test", test, "--output", out_,
                        "--no-plots", "--markdown", file})
                .code,
            0);
  const std::string text = test::bytes_of(file);
  const auto number_after = [&text](const std::string& words) {
    const std::size_t at = text.find(words);
    EXPECT_NE(at, std::string::npos) << words << "\n" << text;
    return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + words.size(), nullptr);
  };
  double sum = number_after(" from number 11 on, ");
  EXPECT_GT(sum, 0);
  std::istringstream lines(text.substr(text.find("### Changes")));
  bool first_list = true;
  for (std::string line; first_list && std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '|');)
      cells.push_back(cell);
    if (cells.size() < 8)
      continue; // a finding
    sum += std::strtod(cells[6].c_str(), nullptr);
    first_list = cells[2].find("all else") == std::string::npos;
  }
  EXPECT_FALSE(first_list);
  EXPECT_NEAR(sum, number_after(" of the difference of "), 0.01) << text;
}

// A truncated trace has less time in everything. Nothing is better because of that.
TEST_F(Compare, ARankThatLostEventsIsNotCompared) {
  const std::string all = make_run(folder_, "all", 7, 1, {}, 6);
  const std::string cut = make_run(folder_, "cut", 7, 1, {}, 6);
  const auto cut_rank = [](const std::string& run, const std::string& rank) {
    const fs::path trace = fs::directory_iterator(run + "/torch_profiler/" + rank)->path();
    fs::resize_file(trace, fs::file_size(trace) * 8 / 10);
  };
  cut_rank(cut, "rank1");
  const std::string saved = folder_.path("cut.rsb"), verdict = folder_.path("verdict.json"),
                    junit = folder_.path("junit.xml"), markdown = folder_.path("changes.md");
  EXPECT_EQ(run_binary({"baseline", "save", cut, "-o", saved}).code, 4);
  for (const auto& [base, test] : {std::pair{all, cut}, {cut, all}, {saved, all}}) {
    const RunResult r = run_binary({"compare", "--baseline", base, "--test", test, "--output", out_,
                                    "--no-plots", "--fail-on", "computation>2%", "--verdict",
                                    verdict, "--junit", junit, "--markdown", markdown});
    EXPECT_EQ(r.code, 4) << r.err;
    EXPECT_NE(r.out.find("Rank 1 of "), std::string::npos) << r.out;
    EXPECT_EQ(r.out.find(" better than "), std::string::npos) << r.out;
    EXPECT_EQ(r.out.find(" worse than "), std::string::npos) << r.out;
    for (const std::string& file : {verdict, junit, markdown})
      EXPECT_NE(test::bytes_of(file).find(" lost events"), std::string::npos) << file;
    EXPECT_NE(test::bytes_of(junit).find("<skipped"), std::string::npos);
    const Report final = read(out_ + "/final_analysis_report.xlsx");
    EXPECT_EQ(final.find("What_Changed"), nullptr);
  }
  cut_rank(all, "rank0");
  const RunResult both = run_binary({"compare", "--baseline", cut, "--test", all, "--output", out_,
                                     "--no-plots", "--labels", "A,B"});
  EXPECT_NE(both.out.find("Rank 1 of A and rank 0 of B lost events"), std::string::npos)
      << both.out;
}

// Host code of 4 ms in each step is idle time before launches, and nothing else changes.
TEST_F(Compare, IdleTimeIsDividedByItsCause) {
  const auto run = [this](const char* name, std::vector<std::string> more) {
    more.insert(more.begin(), {"synth", folder_.path(name), "--threads", "256", "--channels", "28",
                               "--ranks", "2", "--layers", "2", "--steps", "8", "--straggler",
                               "none", "--step-noise", "iid:0.002", "-q"});
    EXPECT_EQ(run_binary(more).code, 0);
    return folder_.path(name) + "/256thread/nccl_28channels";
  };
  const std::string base = run("plain", {}), test = run("host", {"--inject", "python:ms=4"});
  const RunResult r =
      run_binary({"compare", "--baseline", base, "--test", test, "--output", out_, "--no-plots"});
  EXPECT_NE(r.out.find("Idle time before launches takes "), std::string::npos) << r.out;
  const Report report = read(out_ + "/final_analysis_report.xlsx");
  const Table* const changed = report.find("What_Changed");
  ASSERT_NE(changed, nullptr);
  double host_ms = 0, others_ms = 0;
  for (std::size_t row = 0; row < changed->rows(); ++row)
    if (changed->at(row, 0).text == "idle time" && changed->at(row, "name").text != "idle")
      (changed->at(row, "name").text == "host" ? host_ms : others_ms) +=
          changed->at(row, "difference (ms)").number();
  EXPECT_NEAR(host_ms, 4, 0.4);
  EXPECT_NEAR(others_ms, 0, 0.1);
}

// The waits and latencies of collectives are unknown if both runs lack a rank.
TEST_F(Compare, TheLatencyOfIncompleteCollectivesIsNotCompared) {
  const std::string lost = make_run(folder_, "lost", 7, 1, {2}, 6);
  const RunResult r =
      run_binary({"compare", "--baseline", lost, "--test", lost, "--output", out_, "--no-plots"});
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_EQ(r.out.find("NCCL_comm_latency"), std::string::npos) << r.out;
  const Report final = read(out_ + "/final_analysis_report.xlsx");
  const Table* const changed = final.find("What_Changed");
  ASSERT_NE(changed, nullptr);
  for (std::size_t i = 0; i < changed->rows(); ++i)
    EXPECT_NE(changed->at(i, "what").text, "wait at collectives");
}

TEST_F(Compare, ProgramsReadTheVerdict) {
  const std::string conditions = folder_.write(
      "conditions", "# of this repository\n\n  total_time>2%  # per step\r\nexposed_comm>500%\n");
  const RunResult bad = run_binary({"compare", "--baseline", base_, "--test", test_, "--labels",
                                    "A,<B>\"", "--output", out_, "--fail-on-file", conditions,
                                    "--annotate", "--junit", folder_.path("junit.xml"), "--verdict",
                                    folder_.path("verdict.json"), "--no-plots", "--quiet"});
  ASSERT_EQ(bad.code, 5) << bad.err;
  EXPECT_NE(bad.out.find("::error title=rankscope%3A total_time>2%25::<B>\": "), std::string::npos)
      << bad.out;
  EXPECT_EQ(bad.out.find("exposed_comm>500"), std::string::npos); // this condition is not met

  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.load(folder_.path("verdict.json")).get(root), simdjson::SUCCESS);
  EXPECT_EQ(std::string_view(root["schema"]), "rankscope.verdict/1");
  EXPECT_EQ(std::string_view(root["result"]), "regression");
  EXPECT_EQ(std::string_view(root["conditions"].at(0)["result"]), "regression");
  EXPECT_EQ(std::string_view(root["conditions"].at(1)["result"]), "passed");
  EXPECT_EQ(std::string_view(root["conditions"].at(1)["label"]), "<B>\"");
  bool total = false;
  for (const simdjson::dom::element metric : root["metrics"])
    if (std::string_view(metric["metric"]) == "GPU_total_time") {
      total = true;
      const simdjson::dom::element test = metric["tests"].at(0);
      const double base = metric["baseline"];
      // as in the dashboard: the change of the means of the samples
      EXPECT_EQ(double(test["improvement_percent"]), double(test["samples_change_percent"]));
      EXPECT_NEAR(double(test["complete_run_percent"]), (base - double(test["value"])) / base * 100,
                  1e-9);
      EXPECT_EQ(std::string_view(test["status"]), "Worse");
    }
  EXPECT_TRUE(total);

  const std::string xml = test::bytes_of(folder_.path("junit.xml"));
  EXPECT_NE(xml.find("tests=\"2\" failures=\"1\" skipped=\"0\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("classname=\"rankscope.&lt;B&gt;&quot;\" name=\"total_time&gt;2%\"><failure"),
            std::string::npos)
      << xml;
}

TEST_F(Compare, AFileOfConditionsIsReadBeforeAnythingElse) {
  const std::string bad = folder_.write("conditions", "total_time>2%\ntotal_time 3%\n");
  const RunResult r = run_binary({"compare", "--baseline", folder_.path("absent"), "--test", test_,
                                  "--output", out_, "--fail-on-file", bad});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find(bad + ":2: "), std::string::npos) << r.err;
  EXPECT_EQ(run_binary({"compare", "--baseline", base_, "--test", test_, "--output", out_,
                        "--fail-on-file", folder_.path("absent")})
                .code,
            3);
}

// Regression test: an unknown metric was reported only after everything had been parsed and
// written.
TEST_F(Compare, AMetricThatThereIsNotIsNamedBeforeAnythingIsRead) {
  const RunResult r = run_binary({"compare", "--baseline", folder_.path("absent"), "--test", test_,
                                  "--output", out_, "--fail-on", "totl_time>2%"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("did you mean total_time?"), std::string::npos) << r.err;
  EXPECT_FALSE(fs::exists(out_));
}

// Regression test: with the label "..", reports were written to the parent folder of the output.
TEST_F(Compare, LabelsStayBelowTheOutput) {
  const std::string out = folder_.path("deep/out");
  const RunResult r = run_binary({"compare", "--baseline", base_, "--test", test_, "--labels",
                                  "..,.", "--output", out, "--no-plots", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_.path("deep")))
    names.push_back(entry.path().filename().string());
  EXPECT_EQ(names, std::vector<std::string>{"out"});
  EXPECT_TRUE(fs::exists(out + "/run__/individual_reports/perf_rank0.xlsx"));
  EXPECT_TRUE(fs::exists(out + "/run_/individual_reports/perf_rank0.xlsx"));
  EXPECT_FALSE(fs::exists(out + "/individual_reports"));
}

TEST_F(Compare, OneStepIsJudgedOnlyWithANoiseThatIsAssumed) {
  const std::string first = make_run(folder_, "first", 1, 1, {}, 1);
  const std::string second = make_run(folder_, "second", 2, 1.3, {}, 1);
  const std::vector<std::string> args = {
      "compare",    "--baseline",         first, "--test",     second,      "--labels",
      "A,B",        "--output",           out_,  "--no-plots", "--fail-on", "total_time>2%",
      "--markdown", folder_.path("pr.md")};
  const RunResult plain = run_binary(args);
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_NE(plain.err.find("B: total_time>2%: nothing could be judged from 1 and 1 samples"),
            std::string::npos)
      << plain.err;
  EXPECT_NE(plain.out.find("Not judged"), std::string::npos);
  EXPECT_NE(plain.out.find("One step on a side has no interval and is not judged"),
            std::string::npos);
  // ST no. 2: single collectives of one step were used as samples
  EXPECT_NE(plain.out.find("NCCL_comm_latency"), std::string::npos);
  EXPECT_NE(plain.out.find("1 / 1, one step: no interval"), std::string::npos) << plain.out;
  std::istringstream lines(plain.out);
  for (std::string line; std::getline(lines, line);)
    if (line.find("NCCL_") != std::string::npos && line.find(" / ") != std::string::npos) {
      EXPECT_NE(line.find("Not judged"), std::string::npos) << line;
    }
  const std::string text = test::bytes_of(folder_.path("pr.md"));
  EXPECT_NE(text.find("Not judged: "), std::string::npos);
  EXPECT_EQ(text.find("No condition"), std::string::npos);
  std::vector<std::string> assumed = args;
  assumed.insert(assumed.end(), {"--assume-noise", "2"});
  const RunResult judged = run_binary(assumed);
  EXPECT_EQ(judged.code, 5) << judged.err;
  EXPECT_NE(judged.out.find("a noise of 2 % of a sample is ASSUMED"), std::string::npos);
  EXPECT_NE(judged.out.find("1 / 1, assumed"), std::string::npos) << judged.out;
}

// Regression test: two commands used different words, with the rank or the path as part of the
// counter's name.
TEST_F(Compare, ALostRankIsToldInTheSameWordsByEveryCommand) {
  for (const auto& entry : fs::directory_iterator(test_ + "/torch_profiler/rank1"))
    std::ofstream(entry.path()) << "{";
  const RunResult compare =
      run_binary({"compare", "--baseline", base_, "--test", test_, "--output", out_, "--no-plots"});
  const RunResult collectives =
      run_binary({"collectives", test_, "--csv-dir", folder_.path("csv")});
  EXPECT_EQ(compare.code, 4) << compare.err;
  EXPECT_EQ(collectives.code, 4) << collectives.err;
  const auto line_of = [](const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      if (line.find("rank 1: ") != std::string::npos)
        return line;
    return std::string();
  };
  EXPECT_FALSE(line_of(compare.err).empty()) << compare.err;
  EXPECT_EQ(line_of(compare.err), line_of(collectives.err));
}

TEST_F(Compare, LibreOfficeTurnsTheWorkbookIntoAPdf) {
  if (std::system("command -v soffice >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "LibreOffice is not installed";
  ASSERT_EQ(run_binary({"compare", "--baseline", base_, "--test", test_, "--labels", "A,B",
                        "--output", out_, "--no-plots", "--quiet"})
                .code,
            0);
  for (const char* name :
       {"final_analysis_report", "gpu_timeline_comparison", "collective_comparison"}) {
    const std::string command = "soffice --headless -env:UserInstallation=file://" +
                                folder_.path("profile") + " --convert-to pdf --outdir " + out_ +
                                " " + out_ + "/" + name + ".xlsx >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::ifstream pdf(out_ + "/" + name + ".pdf", std::ios::binary);
    std::string head(5, ' ');
    pdf.read(head.data(), 5);
    EXPECT_EQ(head, "%PDF-") << name;
  }
}

// Console, JSON, workbook and Markdown show the same findings in the same order.
TEST_F(Compare, FindingsAreTheSameInEveryOutput) {
  const std::string md = folder_.path("verdict.md");
  const auto compare = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {
        "compare", "--baseline", base_, "--test", test_, "--output", out_, "--final-report", "-q"};
    words.insert(words.end(), more.begin(), more.end());
    return run_binary(words);
  };
  const RunResult console = compare({"--markdown", md});
  ASSERT_EQ(console.code, 0) << console.err;
  const RunResult json = compare({"--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  std::vector<std::string> sentences;
  std::vector<std::pair<std::string, double>> values;
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(json.out);
  for (const simdjson::dom::element row : root["tables"]["findings"]["rows"]) {
    const auto text = [&](std::size_t i) {
      std::string_view out;
      return row.at(i).get(out) == simdjson::SUCCESS ? std::string(out) : std::string();
    };
    std::string sentence;
    for (std::size_t i = 0; i < 3; ++i)
      if (!text(i).empty())
        sentence += (sentence.empty() ? "" : " ") + text(i) + ".";
    sentences.push_back(sentence);
    double value = NAN;
    if (row.at(7).get(value) != simdjson::SUCCESS)
      value = NAN; // the finding has no value
    values.emplace_back(text(3), value);
  }
  ASSERT_GT(sentences.size(), 5U);
  const Report final = read(out_ + "/final_analysis_report.xlsx");
  const Table* const sheet = final.find("findings");
  ASSERT_NE(sheet, nullptr);
  ASSERT_EQ(sheet->rows(), sentences.size());
  std::string markdown = test::bytes_of(md);
  std::erase(markdown, '\\');
  std::size_t at_console = 0;
  std::size_t at_markdown = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    std::string sentence;
    for (const char* column : {"headline", "evidence", "action"})
      if (const Value cell = sheet->at(i, column); !cell.is_null())
        sentence += (sentence.empty() ? "" : " ") + std::string(cell.text) + ".";
    EXPECT_EQ(sentence, sentences[i]);
    EXPECT_EQ(sheet->at(i, "rule").text, values[i].first);
    if (const Value cell = sheet->at(i, "value"); !cell.is_null()) {
      EXPECT_NEAR(cell.number(), values[i].second, 1e-9);
    }
    at_console = console.out.find(sentences[i] + "\n", at_console);
    ASSERT_NE(at_console, std::string::npos) << sentences[i] << "\n" << console.out;
    at_markdown = markdown.find(sentences[i] + "\n", at_markdown);
    ASSERT_NE(at_markdown, std::string::npos) << sentences[i] << "\n" << markdown;
  }
}

} // namespace
} // namespace rankscope
