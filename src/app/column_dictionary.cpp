#include "app/column_dictionary.h"

#include "analyses/analysis.h"
#include "analyses/collectives/collective_schemas.h"
#include "analyses/nsys/nsys_summary.h"
#include "app/inspect_trace.h"

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
  options.gpu_arch = "MI300X";
  return options;
}

std::vector<SheetInfo> report_sheets() {
  std::vector<SheetInfo> out;
  for (const Analysis* analysis : analyses())
    for (SheetInfo& sheet : analysis->describe(every_column()))
      out.push_back(std::move(sheet));
  return out;
}

std::vector<SheetInfo> collective_sheets() {
  return {findings_schema().info(),
          sync_summary_schema({"mean", "median", "min", "max", "std"}).info(),
          rank_summary_schema("nccl_summary_long", true).info(),
          all_to_all_v_summary_schema().info(),
          all_to_all_v_sent_schema().info(),
          collective_kernel_schema(false).info(),
          sync_collective_schema({}).info(),
          all_to_all_v_schema().info(),
          straggler_schema().info(),
          exposed_rank_schema().info(),
          exposed_type_schema().info(),
          process_group_schema().info(),
          clock_schema().info(),
          problem_schema().info()};
}

std::vector<SheetInfo> nsys_sheets() {
  return {nsys_figure_schema().info(), nsys_class_schema("kernels", "kernel time by class").info(),
          nsys_class_schema("nccl", "time of NCCL kernels by operation").info(),
          nsys_class_schema("memory", "memory operations by kind").info()};
}

const char* type_name(CellKind kind) {
  switch (kind) {
  case CellKind::kNull:
    return "any";
  case CellKind::kInt:
    return "integer";
  case CellKind::kDouble:
    return "number";
  case CellKind::kBool:
    return "boolean";
  case CellKind::kText:
    return "text";
  }
  return "";
}

} // namespace

std::vector<SheetGroup> all_sheets() {
  return {
      {"report", "one trace", report_sheets()},
      {"collectives", "all ranks of a run", collective_sheets()},
      {"info", "what a trace holds", {trace_fact_schema().info(), category_count_schema().info()}},
      {"nsys", "Nsight Systems summaries", nsys_sheets()}};
}

std::string column_dictionary() {
  std::string out = "# Columns\n\n"
                    "Every sheet with its columns, made from the code by `rankscope columns`. The "
                    "id is stable; the\nheader is what workbooks and CSV files show. Some columns "
                    "and sheets come with an option only.\n";
  for (const SheetGroup& group : all_sheets()) {
    out += fmt::format("\n## rankscope {}: {}\n", group.command, group.help);
    for (const SheetInfo& sheet : group.sheets) {
      out += fmt::format("\n### {}\n{}.\n\n| id | header | unit | type | meaning |\n"
                         "|---|---|---|---|---|\n",
                         sheet.name, sheet.help);
      for (const Column& c : sheet.columns)
        out += fmt::format("| `{}` | {} | {} | {} | {} |\n", c.id, c.name, unit_name(c.unit),
                           type_name(c.type), c.help);
    }
  }
  return out;
}

} // namespace rankscope
