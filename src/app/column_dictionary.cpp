#include "app/column_dictionary.h"

#include "analyses/analysis.h"
#include "analyses/batch/batch_facts.h"
#include "analyses/collectives/collective_schemas.h"
#include "analyses/compare/compare_tables.h"
#include "analyses/compare/history.h"
#include "analyses/gemm/gemm_facts.h"
#include "analyses/inference/step_pairs.h"
#include "analyses/inference/trace_pieces.h"
#include "analyses/job/cause_tables.h"
#include "analyses/job/whatif.h"
#include "analyses/nsys/nsys_summary.h"
#include "analyses/records/records.h"
#include "analyses/replay/replay_items.h"
#include "analyses/sweep/nccl_master.h"
#include "analyses/sweep/sweep_facts.h"
#include "analyses/top/overview_sheet.h"
#include "analyses/top/roofline_sheet.h"
#include "analyses/top/top_facts.h"
#include "app/inspect_trace.h"
#include "app/kernel_energy.h"
#include "app/step_energy.h"
#include "core/column_help.h"
#include "findings/cause_findings.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

ReportOptions every_column() {
  ReportOptions options;
  options.group_by_num_kernels = true;
  options.detect_recompute = true;
  options.include_overlap_info = true;
  options.include_first_occurrence_time = true;
  options.include_call_stack = true;
  options.per_step = true;
  options.graph_columns = true;
  options.gpu_arch = "MI300X";
  return options;
}

std::vector<SheetInfo> report_sheets() {
  std::vector<SheetInfo> out;
  for (const Analysis* analysis : analyses())
    for (SheetInfo& sheet : analysis->describe(every_column()))
      out.push_back(std::move(sheet));
  out.push_back(step_energy_schema().info());
  out.push_back(kernel_energy_schema().info());
  return out;
}

std::vector<SheetInfo> collective_sheets() {
  return {finding_schema().info(),
          sync_summary_schema({"mean", "median", "min", "max", "std"}).info(),
          rank_summary_schema("nccl_summary_long", true).info(),
          all_to_all_v_summary_schema().info(),
          all_to_all_v_sent_schema().info(),
          collective_kernel_schema({}).info(),
          sync_collective_schema({}, {}).info(),
          all_to_all_v_schema().info(),
          straggler_schema().info(),
          exposed_rank_schema().info(),
          exposed_type_schema().info(),
          process_group_schema().info(),
          clock_schema().info(),
          problem_schema().info()};
}

std::vector<SheetInfo> nsys_sheets() {
  return {nsys_metric_schema().info(), nsys_class_schema("kernels", "kernel time by class").info(),
          nsys_class_schema("nccl", "time of NCCL kernels by operation").info(),
          nsys_class_schema("memory", "memory operations by kind").info()};
}

std::vector<SheetInfo> with_findings(std::vector<SheetInfo> sheets) {
  sheets.push_back(finding_schema().info());
  return sheets;
}

std::vector<SheetInfo> with_overview() {
  std::vector<SheetInfo> out = top_sheets();
  out.push_back(overview_sheet_schema().info());
  out.push_back(roofline_sheet_schema().info());
  return out;
}

/// Returns the sheet info of a table that was made without data. The headers of the table contain
/// the labels of the runs.
SheetInfo info_of_table(const Table& table, std::string help, const char* name = nullptr) {
  SheetInfo out{name != nullptr ? name : table.name(), std::move(help), table.columns()};
  for (Column& c : out.columns) {
    if (c.help.empty() && c.name == "0")
      c.help = "value of the rank that the header names; one column per rank";
    if (c.help.empty() && c.name == "test")
      c.help =
          "value of the test run; with several test runs, there is one such column per test run";
    if (c.name == "configuration" && c.unit != Unit::kNone)
      c.help = "value of the configuration that the header names; one column per configuration";
    for (const auto& [run, phrase] :
         {std::pair<std::string_view, const char*>("baseline_", "of the baseline"),
          {"test_", "of the test"}}) {
      if (!c.help.empty() || !c.name.starts_with(run))
        continue;
      const std::string metric = c.name.substr(run.size());
      const std::string_view meaning = shared_column_help(metric);
      c.help = meaning.empty() ? fmt::format("{}{} {}", c.unit == Unit::kCount ? "number of " : "",
                                             metric, phrase)
                               : fmt::format("value {}: {}", phrase, meaning);
    }
  }
  return out;
}

std::vector<SheetInfo> gemm_sheets() {
  return {
      info_of_table(gemm_table({}, GemmTable::kOverlap, 5),
                    "GEMMs whose calls differ most in duration, the times of these calls, and the "
                    "overlap of the longest call with collectives and copies. The files "
                    "..._variance and ..._with_timestamps contain the first columns of this sheet. "
                    "Columns of the GEMM sheet are included as col_HEADER"),
      finding_schema().info()};
}

/// Returns the sheets of a sweep. Uses a configuration with one rank, because some tables have a
/// column per configuration.
std::vector<SheetInfo> sweep_sheet_infos() {
  RankRecord record;
  record.key.configuration.label = "configuration";
  record.time_ns.fill(1);
  std::vector<SheetInfo> out = {finding_schema().info()};
  const std::vector<Table> summary = summary_tables({record}, 0);
  out.push_back(info_of_table(summary[0], "the configurations, shortest total time first"));
  out.push_back(info_of_table(summary[1], "the ranks of all configurations"));
  out.push_back(info_of_table(summary[2], "GEMM kernels of each configuration, most time first"));
  record.error = "lost";
  out.push_back(
      info_of_table(summary_tables({record}, 0).back(), "ranks that could not be analysed"));
  record.error.clear();
  const std::vector<Table> timelines = timeline_all_configs({record}, Aggregation::kArithmetic);
  const char* const help[] = {"GPU time of each configuration by kind, over its ranks",
                              "GPU time by kind, one column per configuration",
                              "share of total_time by kind, one column per configuration",
                              "GPU times of each configuration"};
  for (std::size_t i = 0; i < timelines.size(); ++i)
    out.push_back(info_of_table(timelines[i], help[i]));
  out.push_back(nccl_master_schema().info());
  return out;
}

std::vector<SheetInfo> compare_sheets() {
  ComparedRun base;
  base.label = "baseline";
  base.ranks[0].kinds[TimeKind::kTotal] = {1, 100};
  ComparedRun test = base;
  test.label = "test";
  const Comparison both = compare_runs(base, {test}, JudgeRule{});
  std::vector<SheetInfo> out = {
      info_of_table(dashboard_table(both), "key metrics of the GPU and the collectives"),
      info_of_table(changes_table(both, 0, false),
                    "the difference of the step time, divided in three ways: among kernels, "
                    "collectives, copies and idle time; among operators; among steps"),
      info_of_table(timeline_by_rank_table(both, 0), "GPU time of both runs by kind and rank"),
      info_of_table(timeline_mean_table(both, 0),
                    "GPU time of both runs by kind, mean over the ranks"),
      info_of_table(collectives_cmp_table(both, 0),
                    "collectives of both runs by name, type, size and group"),
      info_of_table(rank_collectives_cmp_table(both, 0),
                    "durations of collectives of both runs by rank and stream")};
  const char* const help[] = {
      "GPU time by kind, mean and range over the ranks", "GPU time by kind of every rank",
      "GPU time by kind, one column per rank", "share of total_time by kind, one column per rank"};
  const std::vector<Table> timelines = timeline_summary_tables({&both.base}, false, true);
  for (std::size_t i = 0; i < timelines.size() && i < std::size(help); ++i)
    out.push_back(info_of_table(timelines[i], help[i]));
  return out;
}

std::vector<SheetInfo> why_sheets() {
  std::vector<SheetInfo> out = cause_sheets();
  out.push_back(remedy_sheet());
  return with_findings(std::move(out));
}

} // namespace

std::vector<SheetGroup> all_sheets() {
  return {
      {"report", "one trace", report_sheets()},
      {"collectives", "all ranks of a run", collective_sheets()},
      {"batch", "folders of rank traces", batch_sheets()},
      {"gemm", "GEMM variance", gemm_sheets()},
      {"analyze", "a sweep", sweep_sheet_infos()},
      {"compare", "runs against a baseline", compare_sheets()},
      {"baseline history", "saved runs over time", history_sheets()},
      {"top", "a one-screen summary of a trace or a run", with_overview()},
      {"why", "the causes of a step's time", why_sheets()},
      {"whatif", "cost of stragglers and gain of changes", with_findings(whatif_sheets())},
      {"info",
       "content of a trace",
       {trace_fact_schema().info(), category_count_schema().info(), trace_metrics_schema().info()}},
      {"query", "tables of SQL and of Parquet datasets", record_sheets()},
      {"nsys", "Nsight Systems summaries", nsys_sheets()},
      {"split",
       "pieces of a server's trace",
       {piece_schema().info(), paired_steps_schema().info()}},
      {"replay",
       "replayed operators",
       {replay_schema(ReplayGroup::kGemm, true).info(),
        replay_schema(ReplayGroup::kConv, true).info()}}};
}

Report column_report() {
  Table out("columns", {"command", "sheet", "id", "header", "unit", "type", "meaning"});
  for (const SheetGroup& group : all_sheets())
    for (const SheetInfo& sheet : group.sheets)
      for (const Column& c : sheet.columns)
        out.add_row({Value(group.command), Value(sheet.name), Value(c.id), Value(c.name),
                     Value(unit_name(c.unit)), Value(cell_kind_name(c.type)), Value(c.help)});
  Report report;
  report.title = "columns";
  report.tables.push_back(std::move(out));
  return report;
}

std::string column_dictionary() {
  std::string out = "# Columns\n\n"
                    "This page lists all sheets with their columns. `rankscope columns` makes it "
                    "from the code. The id of\n"
                    "a column is stable; workbooks and CSV files show the header. Some sheets and "
                    "columns are written only\n"
                    "with an option. In a meaning, \"the calls\" and \"the launches\" are those "
                    "that the row summarises.\n";
  for (const SheetGroup& group : all_sheets()) {
    out += fmt::format("\n## rankscope {}: {}\n", group.command, group.help);
    for (const SheetInfo& sheet : group.sheets) {
      out += fmt::format("\n### {}\n{}.\n\n| id | header | unit | type | meaning |\n"
                         "|---|---|---|---|---|\n",
                         sheet.name, sheet.help);
      for (const Column& c : sheet.columns)
        out += fmt::format("| `{}` | {} | {} | {} | {} |\n", c.id, c.name, unit_name(c.unit),
                           cell_kind_name(c.type), c.help);
    }
  }
  return out;
}

} // namespace rankscope
