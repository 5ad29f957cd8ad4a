// Tests the HTML pages as files, and in a headless browser.
#include "pages/html_report.h"
#include "run_binary.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace rankscope {
namespace {

using test::bytes_of;
using test::run_binary;

int shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool have(const char* program) {
  return shell(fmt::format("command -v {} >/dev/null 2>&1", program)) == 0;
}

/// Returns "images SHOWN/ALL sections N" as the browser sees the page; console messages are
/// failures.
std::string seen_in_browser(const test::TempFolder& folder, std::string html) {
  // the copy for the browser writes its counts to the title
  html.insert(html.find("</body>"),
              "<script>onload=()=>{document.title='images '+[...document.images].filter(i=>"
              "i.naturalWidth>0).length+'/'+document.images.length+' sections '"
              "+document.querySelectorAll('section').length}</script>");
  const std::string file = folder.write("copy.html", html);
  EXPECT_EQ(shell("timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic "
                  "--no-first-run --disable-background-networking --disable-component-update "
                  "--disable-sync --enable-logging=stderr --user-data-dir=" +
                  folder.path("profile") + " --dump-dom file://" + file + " >" +
                  folder.path("dom") + " 2>" + folder.path("log")),
            0);
  EXPECT_EQ(bytes_of(folder.path("log")).find("CONSOLE"), std::string::npos);
  const std::string dom = bytes_of(folder.path("dom"));
  const std::size_t at = dom.find("<title>");
  return at == std::string::npos ? dom : dom.substr(at + 7, dom.find("</title>") - at - 7);
}

std::string analysed(const test::TempFolder& folder, const std::string& name, std::uint64_t seed) {
  synth::Options o;
  o.threads = {256, 512};
  o.channels = {28, 70};
  o.ranks = 2;
  o.layers = 2;
  o.seed = seed;
  EXPECT_TRUE(synth::generate(o, folder.path(name), 2, nullptr));
  EXPECT_EQ(run_binary({"analyze", folder.path(name), "--quiet", "--no-merge", "--no-plots"}).code,
            0);
  return folder.path(name);
}

TEST(Html, LabelsAndFoldersAreChecked) {
  const test::TempFolder folder;
  const std::string a = analysed(folder, "a", 1);
  const std::string page = folder.path("c.html");
  EXPECT_EQ(run_binary({"html", a, a, "-o", page, "--label", "x"}).code, 2);
  EXPECT_EQ(run_binary({"html"}).code, 2);
  const auto missing = run_binary({"html", a, folder.path("none"), "-o", folder.path("x.html")});
  EXPECT_EQ(missing.code, 3);
  EXPECT_NE(missing.err.find("run rankscope analyze"), std::string::npos) << missing.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path("x.html")));
  // html does not read its own tables: the page is the same without them
  ASSERT_EQ(run_binary({"html", "-q", a, "-o", page}).code, 0);
  const std::string before = bytes_of(page);
  const std::string out = a + "/tracelens_analysis/";
  std::filesystem::remove_all(out + "summary_csv");
  std::filesystem::remove(out + "summary.md");
  std::filesystem::remove(out + "nccl_master_all_configs.csv");
  ASSERT_EQ(run_binary({"html", "-q", a, "-o", page}).code, 0);
  EXPECT_EQ(bytes_of(page), before);
}

TEST(Html, PlotsOfTwoSweepsShareAxesAndShowInABrowser) {
  const test::TempFolder folder;
  const std::string a = analysed(folder, "a", 1);
  const std::string b = analysed(folder, "b", 2);
  const std::string page = folder.path("c.html");
  ASSERT_EQ(run_binary({"html", "-q", "--sweep1", a, "--sweep2", b, "--label1", "<i>x", "--label2",
                        "y", "-o", page})
                .code,
            0);
  const std::string html = bytes_of(page);
  for (const char* title :
       {"Variance by thread count", "Variance by channel count", "Variance by rank",
        "Variance distribution", "Thread-channel", "Numbers by rank",
        "GEMMs with the largest range: y", "Communication latency", "Bus bandwidth"})
    EXPECT_NE(html.find(title), std::string::npos) << title;
  const std::string single = folder.path("one.html");
  ASSERT_EQ(run_binary({"html", "-q", a, "-o", single}).code, 0);
  EXPECT_EQ(bytes_of(single).find("Differences are against"), std::string::npos);
  EXPECT_NE(bytes_of(single).find("<h2>Findings</h2>"), std::string::npos);
  EXPECT_NE(bytes_of(single).find("What to do next"), std::string::npos);
  if (!have("chromium"))
    GTEST_SKIP() << "chromium is not installed: the pages were not opened in a browser";
  EXPECT_EQ(seen_in_browser(folder, html).rfind("images 10/10 ", 0), 0U);
  EXPECT_EQ(seen_in_browser(folder, bytes_of(single)).rfind("images 5/5 ", 0), 0U);
}

TEST(Html, ComparisonOfRunsShowsInABrowser) {
  const test::TempFolder folder;
  for (const char* name : {"a", "b"}) {
    synth::Options o;
    o.threads = {256};
    o.channels = {28};
    o.ranks = 2;
    o.layers = 2;
    o.seed = name[0] == 'a' ? 1 : 2;
    ASSERT_TRUE(synth::generate(o, folder.path(name), 2, nullptr));
  }
  ASSERT_EQ(run_binary({"compare", "--baseline", folder.path("a"), "--test", folder.path("b"),
                        "--output", folder.path("out"), "--labels", "x<y,z&\"", "--quiet"})
                .code,
            0);
  for (const char* name :
       {"improvement_chart", "abs_time_comparison", "gpu_time_heatmap", "total_time_by_rank",
        "computation_time_by_rank", "total_comm_time_by_rank", "idle_time_by_rank",
        "gpu_time_change_percentage_summary_by_rank", "NCCL_Communication_Latency_comparison",
        "NCCL_Algorithm_Bandwidth_comparison", "NCCL_Bus_Bandwidth_comparison",
        "NCCL_Total_Communication_Latency_comparison",
        "NCCL_Performance_Percentage_Change_comparison"}) {
    const std::string png = bytes_of(folder.path("out") + "/plots/" + name + ".png");
    EXPECT_EQ(png.substr(1, 3), "PNG") << name;
    EXPECT_GT(png.size(), 20'000U) << name;
  }
  const std::string html = bytes_of(folder.path("out") + "/performance_analysis_report.html");
  EXPECT_EQ(html.find("x<y"), std::string::npos);
  if (!have("chromium"))
    GTEST_SKIP() << "chromium is not installed: the page was not opened in a browser";
  EXPECT_EQ(seen_in_browser(folder, html).rfind("images 13/13 ", 0), 0U);
}

TEST(Html, BaseZeroIsNewAndBase64IsRight) {
  HtmlReport r;
  r.series = {"a", "b"};
  HtmlSection section;
  section.title = "s";
  section.unit = "ms";
  section.rows = {{"x", {0, 3}},
                  {"y", {0, 0}},
                  {"z", {1, 2}, {Significance::kNoInterval, Significance::kDiffers}},
                  {"unknown", {1, 4}}};
  for (const char* bytes : {"M", "Ma", "Man"})
    section.images.push_back({"i", bytes});
  Table t("t", {{"name"}, {"change", Unit::kPercent, false, true}});
  t.add_row({"<x>", 1.5});
  t.add_row({"y", 0.0});
  section.tables.push_back(std::move(t));
  r.sections.push_back(section);
  section.higher_is_better = true;
  r.sections.push_back(std::move(section));
  const std::string page = html_page(r);
  EXPECT_NE(page.find("<td>3.000</td><td>new</td>"), std::string::npos);
  EXPECT_NE(page.find("<td>0.000</td><td>0.00 %</td>"), std::string::npos);
  EXPECT_NE(page.find("<td class=\"bad\">-100.00 %</td>"), std::string::npos);
  EXPECT_NE(page.find("<td class=\"good\">+100.00 %</td>"), std::string::npos);
  EXPECT_NE(page.find("<td>-300.00 %</td>"), std::string::npos); // no interval: no colour
  EXPECT_NE(page.find("<td class=\"text\">&lt;x&gt;</td><td class=\"good\">1.500</td>"),
            std::string::npos);
  EXPECT_NE(page.find("<td>0.000</td></tr>"), std::string::npos);
  for (const char* code : {"base64,TQ==\"", "base64,TWE=\"", "base64,TWFu\""}) // RFC 4648
    EXPECT_NE(page.find(code), std::string::npos) << code;
}

} // namespace
} // namespace rankscope
