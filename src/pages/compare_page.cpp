#include "pages/compare_page.h"

#include "analyses/compare/compare_tables.h"
#include "base/number_text.h"
#include "os/output_file.h"
#include "pages/compare_plots.h"
#include "pages/html_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

struct NamedPlot {
  const char* name;
  const char* title;
  const char* note;
};

constexpr NamedPlot kGpu[] = {
    {"improvement_chart", "Improvement",
     "Change of the sample means (% of the baseline) with its interval; positive is better."},
    {"abs_time_comparison", "Absolute times", "Milliseconds, means over ranks."}};
constexpr NamedPlot kRanks[] = {
    {"gpu_time_heatmap", "Improvement by kind of time and rank",
     "Percent of the baseline's rank; green is better."},
    {"total_time_by_rank", "Total time", "From the first to the last GPU event of each rank."},
    {"computation_time_by_rank", "Computation time",
     "A rank with a longer time than the others is slow."},
    {"total_comm_time_by_rank", "Communication time",
     "Communication time includes waits for late ranks, so the slow rank has the least."},
    {"idle_time_by_rank", "Idle time", "No GPU work of any kind."},
    {"gpu_time_change_percentage_summary_by_rank", "Change of each kind of time",
     "Percent of the baseline's rank; positive is better."}};
constexpr NamedPlot kCollectives[] = {
    {"NCCL_Communication_Latency_comparison", "Communication latency",
     "Shortest duration over the ranks; mean over the collectives of one size."},
    {"NCCL_Algorithm_Bandwidth_comparison", "Algorithm bandwidth", "Message size / latency."},
    {"NCCL_Bus_Bandwidth_comparison", "Bus bandwidth",
     "Algorithm bandwidth x the factor of the collective."},
    {"NCCL_Total_Communication_Latency_comparison", "Total communication latency",
     "Sum over the collectives of one size; the sum grows with the number of collectives."},
    {"NCCL_Performance_Percentage_Change_comparison", "Change of collectives",
     "Percent of the baseline; positive is better."}};

} // namespace

Result<void> write_compare_page(const Comparison& comparison, std::span<const Finding> findings,
                                const std::string& folder, bool svg, TaskPool& pool) {
  const ComparedRun& base = comparison.base;
  RS_CHECK(make_folder(folder + "/plots"));
  RS_TRY(OutputFile page_file, OutputFile::create(folder + "/performance_analysis_report.html"));
  std::vector<std::pair<std::string, PlotSpec>> files;
  std::map<std::string, std::string> drawn; // SVG by name
  for (auto& [name, spec] : compare_plots(comparison)) {
    drawn[name] = plot_svg(spec);
    if (svg)
      files.emplace_back(folder + "/plots/" + name + ".svg", spec);
    files.emplace_back(folder + "/plots/" + name + ".png", std::move(spec));
  }
  RS_TRY(Drawing drawing, Drawing::begin(files, &pool));
  HtmlReport page;
  page.title = "Performance Analysis Report";
  page.series.push_back(base.label);
  std::string names;
  for (const ComparedRun& t : comparison.tests) {
    page.series.push_back(t.label);
    names += (names.empty() ? "" : ", ") + t.label;
  }
  page.summary.push_back(fmt::format("Baseline {} ({}) against {}", base.label,
                                     counted(base.ranks.size(), "rank", "ranks"), names));
  for (const Finding& finding : findings)
    page.summary.push_back(finding.sentence());
  const auto part = [&](const char* title, const auto& plots, std::vector<Table> tables) {
    HtmlSection head;
    head.title = title;
    std::string lacking;
    std::vector<HtmlSection> sections;
    for (const NamedPlot& p : plots) {
      const auto found = drawn.find(p.name);
      if (found == drawn.end()) {
        lacking += (lacking.empty() ? "" : ", ") + std::string(p.title);
        continue;
      }
      HtmlSection section;
      section.title = p.title;
      section.level = 3;
      section.note = p.note;
      section.images.push_back({p.title, found->second});
      sections.push_back(std::move(section));
    }
    if (!lacking.empty())
      head.note = "Neither run has data for: " + lacking + ".";
    page.sections.push_back(std::move(head));
    for (HtmlSection& section : sections)
      page.sections.push_back(std::move(section));
    for (Table& table : tables) {
      HtmlSection numbers;
      numbers.title = "Numbers";
      numbers.level = 3;
      numbers.tables.push_back(std::move(table));
      page.sections.push_back(std::move(numbers));
    }
  };
  std::vector<Table> first;
  first.push_back(dashboard_table(comparison));
  for (std::size_t i = 0; i < comparison.tests.size(); ++i)
    if (Table changes = changes_table(comparison, i, false); changes.rows() > 0)
      first.push_back(std::move(changes));
  part("1. Overall GPU Metrics Comparison", kGpu, std::move(first));
  std::vector<Table> by_rank;
  std::vector<Table> collectives;
  for (std::size_t i = 0; i < comparison.tests.size(); ++i) {
    by_rank.push_back(timeline_by_rank_table(comparison, i));
    if (!comparison.collectives[i].all_ranks.empty())
      collectives.push_back(collectives_cmp_table(comparison, i));
  }
  part("2. Cross-Rank Performance Comparison", kRanks, std::move(by_rank));
  part("3. NCCL Collective Operations Analysis", kCollectives, std::move(collectives));
  page_file.write(html_page(page));
  const Result<void> plots = drawing.finish();
  if (plots || plots.error().code == ErrorCode::kMissingTool)
    RS_CHECK(page_file.commit());
  return plots;
}

} // namespace rankscope
