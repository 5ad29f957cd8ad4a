// `rankscope page` as a user gets it, and as a person uses it: Chromium is driven by
// tests/browser/page_acts.py.
#include "browser.h"
#include "pages/page_file.h"
#include "run_binary.h"
#include "small_sweep.h"
#include "temp_folder.h"
#include "trace_builder.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::act;
using test::browser_lacks;
using test::bytes_of;
using test::run_binary;

#define RS_NEEDS_ECHARTS()                                                                         \
  if (!can_make_pages())                                                                           \
  GTEST_SKIP() << "built without ECharts: scripts/web_parts.sh fetches it"

/// A run of two ranks per configuration; its folder.
std::string sweep_in(const test::TempFolder& folder, const std::string& name,
                     std::vector<std::int64_t> channels, std::uint64_t seed = 1) {
  synth::Options o = test::small_sweep();
  o.channels = std::move(channels);
  o.threads =
      o.channels.size() > 1 ? std::vector<std::int64_t>{256, 512} : std::vector<std::int64_t>{256};
  o.ranks = 3;
  o.steps = 4;
  o.seed = seed;
  EXPECT_TRUE(synth::generate(o, folder.path(name), 2, nullptr));
  return folder.path(name);
}

std::string a_trace(const std::string& sweep) {
  for (const auto& entry : fs::recursive_directory_iterator(sweep))
    if (entry.is_regular_file() && entry.path().string().find("rank1") != std::string::npos)
      return entry.path().string();
  return "";
}

TEST(Page, ABuildWithoutEChartsSaysSo) {
  if (can_make_pages())
    GTEST_SKIP() << "this build has ECharts";
  const auto run = run_binary({"page", "x.json"});
  EXPECT_EQ(run.code, 7);
  EXPECT_NE(run.err.find("built without ECharts"), std::string::npos) << run.err;
}

TEST(Page, WrongInputsCostNoFile) {
  RS_NEEDS_ECHARTS();
  const test::TempFolder folder;
  const std::string page = folder.path("p.html");
  EXPECT_EQ(run_binary({"page"}).code, 2);
  EXPECT_EQ(run_binary({"page", "--baseline", folder.path()}).code, 2);
  EXPECT_EQ(run_binary({"page", "x", "--baseline", "a", "--test", "b"}).code, 2);
  EXPECT_EQ(run_binary({"page", folder.path("none.json"), "-o", page}).code, 3);
  EXPECT_EQ(run_binary({"page", folder.write("t.json", "{\"a\":"), "-o", page}).code, 3);
  EXPECT_EQ(run_binary({"page", folder.path("none"), "-o", folder.path("no/p.html")}).code, 6);
  EXPECT_FALSE(fs::exists(page));
}

// Without -o, the page is in a folder beside the input, with the input's name.
TEST(Page, HasAPlaceBesideTheInput) {
  RS_NEEDS_ECHARTS();
  const test::TempFolder folder;
  const std::string sweep = sweep_in(folder, "s", {28});
  const fs::path trace = a_trace(sweep);
  const auto made = run_binary({"page", trace});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string stem = trace.filename().string();
  const std::string page =
      trace.parent_path() / "rankscope_out" / (stem.substr(0, stem.find(".json")) + ".html");
  EXPECT_TRUE(fs::exists(page)) << made.err;
  EXPECT_NE(made.err.find(page), std::string::npos) << made.err;
  ASSERT_EQ(run_binary({"page", sweep + "/"}).code, 0);
  EXPECT_TRUE(fs::exists(folder.path("rankscope_out/s.html")));
  EXPECT_EQ(run_binary({"page", folder.write("bad/t.json", "{\"a\":")}).code, 3);
  EXPECT_FALSE(fs::exists(folder.path("bad/rankscope_out")));
}

TEST(Page, IsTheSameEachTimeAndNeedsNothingElse) {
  RS_NEEDS_ECHARTS();
  const test::TempFolder folder;
  const std::string trace = a_trace(sweep_in(folder, "s", {28}));
  const auto single = run_binary({"page", "-q", trace, "-o", folder.path("p.html")});
  ASSERT_EQ(single.code, 0) << single.err;
  const std::string page = bytes_of(folder.path("p.html"));
  EXPECT_LT(page.size(), 1'000'000U);
  ASSERT_EQ(run_binary({"page", "-q", "-j", "2", trace, "-o", folder.path("p.html")}).code, 0);
  EXPECT_EQ(bytes_of(folder.path("p.html")), page);
  EXPECT_EQ(page.find(" src="), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
  EXPECT_NE(page.find("Apache License"), std::string::npos);
}

TEST(Page, OfATraceIsUsedByAPerson) {
  RS_NEEDS_ECHARTS();
  if (const std::string lacks = browser_lacks(); !lacks.empty())
    GTEST_SKIP() << lacks;
  const test::TempFolder folder;
  const std::string page = folder.path("p.html");
  ASSERT_EQ(run_binary({"page", "-q", a_trace(sweep_in(folder, "s", {28})), "-o", page}).code, 0);
  act("run", page);
}

TEST(Page, OfARunIsUsedByAPerson) {
  RS_NEEDS_ECHARTS();
  if (const std::string lacks = browser_lacks(); !lacks.empty())
    GTEST_SKIP() << lacks;
  const test::TempFolder folder;
  const std::string run = test::config_folder(sweep_in(folder, "s", {28}));
  const std::string page = folder.path("p.html");
  ASSERT_EQ(run_binary({"page", "-q", run + "/torch_profiler", "-o", page}).code, 0);
  act("ranks", page);
}

TEST(Page, OfASweepIsTheSameFromTracesAndFromWhatAnalyzeLeft) {
  RS_NEEDS_ECHARTS();
  const test::TempFolder folder;
  const std::string sweep = sweep_in(folder, "s", {28, 70});
  const std::string page = folder.path("p.html");
  ASSERT_EQ(run_binary({"page", "-q", sweep, "-o", page}).code, 0);
  if (const std::string lacks = browser_lacks(); !lacks.empty())
    GTEST_SKIP() << lacks;
  act("sweep", page);
  ASSERT_EQ(run_binary({"analyze", "-q", sweep, "--no-merge", "--no-plots"}).code, 0);
  ASSERT_EQ(run_binary({"page", "-q", sweep, "-o", page}).code, 0);
  act("sweep", page);
}

TEST(Page, OfAComparisonIsUsedByAPersonAndWritesNothingElse) {
  RS_NEEDS_ECHARTS();
  const test::TempFolder folder;
  const std::string base = test::config_folder(sweep_in(folder, "a<b", {28}, 1));
  const std::string other = test::config_folder(sweep_in(folder, "c\"d", {70}, 2), 70);
  const std::string page = folder.path("out/p.html");
  fs::create_directories(folder.path("out"));
  const auto run = run_binary({"page", "--baseline", base, "--test", other, "-o", page});
  ASSERT_EQ(run.code, 0) << run.err;
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path("out")))
    files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 1U);
  if (const std::string lacks = browser_lacks(); !lacks.empty())
    GTEST_SKIP() << lacks;
  act("comparison", page);
}

// If the first test had no table of collectives, no test had one.
TEST(Page, OfAComparisonWithALostRankShowsTheCollectivesOfTheNextTest) {
  RS_NEEDS_ECHARTS();
  if (const std::string lacks = browser_lacks(); !lacks.empty())
    GTEST_SKIP() << lacks;
  const test::TempFolder folder;
  const std::string base = test::config_folder(sweep_in(folder, "a", {28}, 1));
  const std::string other = test::config_folder(sweep_in(folder, "b", {28}, 2));
  const std::string lost = test::config_folder(sweep_in(folder, "c", {28}, 3));
  fs::remove(a_trace(lost));
  const std::string page = folder.path("p.html");
  const auto run =
      run_binary({"page", "--baseline", base, "--test", lost, "--test", other, "-o", page});
  ASSERT_TRUE(fs::exists(page)) << run.err;
  act("lost", page);
}

/// Names that would be elements, scripts or the end of one, lines and bytes that are no text.
TEST(Page, NamesThatAreMarkupStayNames) {
  RS_NEEDS_ECHARTS();
  if (const std::string lacks = browser_lacks(); !lacks.empty())
    GTEST_SKIP() << lacks;
  const test::TempFolder folder;
  const std::vector<std::string> names = {"</script><script>window.broken=1</script>",
                                          "\"><img src=x onerror=window.broken=1>",
                                          "<b onmouseover=window.broken=1>&lt;",
                                          "two\nlines\ttab",
                                          "NaN",
                                          "__proto__",
                                          "=1+1",
                                          "\xff\xfe no text",
                                          "{a|b} {value}",
                                          "k\\u0000"};
  test::TraceBuilder b;
  double at = 0;
  for (int round = 0; round < 12; ++round) {
    b.annotation("ProfilerStep#" + std::to_string(round), at, 1900);
    for (const std::string& name : names) {
      b.op(name, at, 60, R"({"Input Dims":[["</script>",2],[]],"Input type":["<i>"]})");
      b.kernel(name, at + 1, at + 20, 5 + round, round % 3);
      at += 100;
    }
    b.kernel("ncclDevKernel_<b>", at, at + 2, 50, 9);
    at += 1000;
  }
  const std::string page = folder.path("p.html");
  const std::string trace = folder.write("a<img src=x onerror=window.broken=1>.json", b.text());
  const auto run = run_binary({"page", "-q", trace, "-o", page});
  ASSERT_EQ(run.code, 0) << run.err;
  act("run", page);
}

} // namespace
} // namespace rankscope
