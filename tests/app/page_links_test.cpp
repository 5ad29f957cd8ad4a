// Tests links from a page to reports: only existing files are linked, addresses are relative to the
// page, and names are escaped.
#include "app/page_links.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

std::vector<std::string> texts(const std::vector<PageLink>& links) {
  std::vector<std::string> out;
  for (const PageLink& link : links)
    out.push_back(link.label + " -> " + link.address);
  return out;
}

using Texts = std::vector<std::string>;

TEST(PageLinks, OfASweepThatWasAnalysedAndMerged) {
  const test::TempFolder folder;
  const std::string sweep = folder.path("a sweep");
  for (const char* file :
       {"summary.xlsx", "sweep_report.html", "256thread/individual_reports/perf_28ch_rank0.xlsx",
        "256thread/individual_reports/perf_28ch_rank1.xlsx",
        "256thread/collective_reports/collective_28ch.xlsx"})
    folder.write("a sweep/tracelens_analysis/" + std::string(file), "x");
  folder.write("a sweep/merged_traces/256thread_28ch_merged.json", "{}");
  const std::string reports = "../a%20sweep/tracelens_analysis/";
  EXPECT_EQ(texts(links_to_outputs(sweep, folder.path("pages/page.html"))),
            (Texts{"merged trace 256thread_28ch_merged.json -> "
                   "../a%20sweep/merged_traces/256thread_28ch_merged.json",
                   "summary -> " + reports + "summary.xlsx",
                   "report of the sweep -> " + reports + "sweep_report.html",
                   "collectives of 256thread_28ch -> " + reports +
                       "256thread/collective_reports/collective_28ch.xlsx",
                   "rank 0 of 256thread_28ch -> " + reports +
                       "256thread/individual_reports/perf_28ch_rank0.xlsx",
                   "rank 1 of 256thread_28ch -> " + reports +
                       "256thread/individual_reports/perf_28ch_rank1.xlsx"}));
}

TEST(PageLinks, OfOneRun) {
  const test::TempFolder folder;
  folder.write("individual_reports/perf_rank3.xlsx", "x");
  folder.write("collective_reports/collective_all_ranks.xlsx", "x");
  EXPECT_EQ(texts(links_to_outputs(folder.path(), folder.path("run.html"))),
            (Texts{"collectives -> collective_reports/collective_all_ranks.xlsx",
                   "rank 3 -> individual_reports/perf_rank3.xlsx"}));
  EXPECT_TRUE(links_to_outputs(folder.path("nowhere"), folder.path("run.html")).empty());
}

TEST(PageLinks, ThePageItselfIsNoneOfThem) {
  const test::TempFolder folder;
  folder.write("sweep_report.html", "x");
  EXPECT_TRUE(links_to_outputs(folder.path(), folder.path("sweep_report.html")).empty());
}

TEST(PageLinks, NamesStayNames) {
  const test::TempFolder folder;
  const std::string name = "javascript:alert(1)#?\"<\n";
  folder.write(name + "/summary.xlsx", "x");
  EXPECT_EQ(texts(links_to_outputs(folder.path(name), folder.path("p.html"))),
            (Texts{"summary -> javascript%3Aalert%281%29%23%3F%22%3C%0A/summary.xlsx"}));
}

TEST(PageLinks, ManyRanksAreBounded) {
  const test::TempFolder folder;
  for (int r = 0; r < 300; ++r)
    folder.write("individual_reports/perf_rank" + std::to_string(r) + ".xlsx", "x");
  folder.write("summary.xlsx", "x");
  const std::vector<PageLink> links = links_to_outputs(folder.path(), folder.path("p.html"));
  ASSERT_EQ(links.size(), 200U);
  EXPECT_EQ(links.front().label, "summary");
}

} // namespace
} // namespace rankscope
