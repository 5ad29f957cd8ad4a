// Tests the column dictionary: it is complete, its ids are stable, and docs/columns.md is generated
// from it.
#include "app/column_dictionary.h"
#include "core/column_meaning.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace rankscope {
namespace {

bool snake_case(const std::string& id) {
  return !id.empty() && id.front() >= 'a' && id.front() <= 'z' &&
         std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

TEST(ColumnDictionary, EveryColumnHasAnIdAndAMeaning) {
  std::size_t columns = 0;
  for (const SheetGroup& group : all_sheets())
    for (const SheetInfo& sheet : group.sheets) {
      EXPECT_FALSE(sheet.help.empty()) << sheet.name;
      EXPECT_FALSE(sheet.columns.empty()) << sheet.name;
      std::set<std::string> ids;
      std::set<std::string> labels;
      for (const Column& c : sheet.columns) {
        ++columns;
        EXPECT_TRUE(snake_case(c.id)) << sheet.name << ": " << c.id;
        EXPECT_TRUE(ids.insert(c.id).second) << sheet.name << ": " << c.id << " twice";
        EXPECT_TRUE(labels.insert(c.name).second) << sheet.name << ": " << c.name << " twice";
        EXPECT_FALSE(c.help.empty() || c.help.back() == ' ') << sheet.name << ": " << c.name;
      }
    }
  EXPECT_GT(columns, 200U);
}

/// Values without a unit: identifiers, counts, and values whose row contains the unit.
const std::set<std::string> kWithoutUnit = {
    // identifiers
    "channel", "channels", "channels_num", "correlation", "cus", "device", "earliest_rank", "event",
    "example_uid", "external_id", "first_step", "first_uid", "from_rank", "gpu", "graph",
    "graph_id", "idx", "index", "index_in_group", "kernel_stream", "launch_event", "max_step",
    "min_step", "node", "number", "operator_event", "other_step", "parent_event", "parent_uid",
    "pid", "place", "rank", "run_number", "seq", "sequence_number", "slowest_rank", "step",
    "stream", "threads", "threads_num", "tid", "to_rank", "uid", "uid_first",
    // counts
    "branch", "count_avg", "group_size", "length_max", "length_mean", "length_median", "length_min",
    "length_q1", "length_q3", "length_std", "phase_avg_conc", "salu", "smem", "valu", "vmem",
    "wait",
    // dimensionless values
    "duration_overlap_correlation", "imbalance", "p",
    // values of a counter or a metric, with the unit of the row
    "after", "base", "before", "detectable", "first", "high", "last", "level", "low", "max", "mean",
    "min", "p50", "sum", "test1_value", "value"};

TEST(ColumnDictionary, EveryFigureHasItsUnitInTheHeaderOrInItsMeaning) {
  std::set<std::string> unused = kWithoutUnit;
  std::size_t metrics = 0;
  for (const SheetGroup& group : all_sheets())
    for (const SheetInfo& sheet : group.sheets)
      for (const Column& c : sheet.columns) {
        if ((c.type != CellKind::kInt && c.type != CellKind::kDouble) || c.unit == Unit::kCount ||
            c.unit == Unit::kRatio)
          continue;
        ++metrics;
        if (c.unit != Unit::kNone) { // the header in the workbook must contain the unit
          Column shown = c;
          shown.help = column_meaning(c);
          EXPECT_TRUE(names_unit(shown)) << sheet.name << ": " << c.name << ": " << shown.help;
        } else if (!names_unit(c)) {
          EXPECT_TRUE(kWithoutUnit.count(c.id)) << sheet.name << ": " << c.id << " " << c.name;
          unused.erase(c.id);
        }
      }
  EXPECT_GT(metrics, 300U);
  EXPECT_TRUE(unused.empty()) << *unused.begin() << " has a unit, or is no column";
}

TEST(ColumnDictionary, AUnitIsAddedWhereNobodyNamesIt) {
  const auto meaning = [](const char* label, Unit unit, const char* help) {
    return column_meaning(Column("id", label, unit, CellKind::kDouble, help, {}));
  };
  EXPECT_EQ(meaning("skew in end time_mean", Unit::kUs, "latest end - earliest end"),
            "latest end - earliest end; in us");
  EXPECT_EQ(meaning("bus bw (GB/s)_mean", Unit::kGBps, "of the bus"), "of the bus");
  EXPECT_EQ(meaning("Kernel Time (\u00b5s)_sum", Unit::kUs, "of all"), "of all");
  EXPECT_EQ(meaning("mean_busy_time_ms", Unit::kMs, "any work"), "any work");
  // no word of the meaning is "us"
  EXPECT_EQ(meaning("items", Unit::kUs, "status"), "status; in us");
  EXPECT_EQ(meaning("calls", Unit::kCount, "of it"), "of it");
  EXPECT_EQ(meaning("share", Unit::kPercent, ""), "in %");
  EXPECT_FALSE(names_unit(Column("id", "rank", Unit::kNone, CellKind::kInt, "of the job", {})));
}

TEST(ColumnDictionary, EveryCommandThatWritesSheetsIsThere) {
  std::map<std::string, std::set<std::string>> sheets;
  for (const SheetGroup& group : all_sheets())
    for (const SheetInfo& sheet : group.sheets)
      sheets[group.command].insert(sheet.name);
  for (const char* command :
       {"report", "collectives", "batch", "gemm", "analyze", "compare", "info", "nsys"})
    EXPECT_EQ(sheets.count(command), 1U) << command;
  for (const char* sheet : {"configurations", "ranks", "gemm_kernels", "failed_ranks", "All_Data",
                            "Pivot_Time_ms", "Summary_By_Config", "nccl_master_all_configs"})
    EXPECT_EQ(sheets["analyze"].count(sheet), 1U) << sheet;
  for (const char* sheet :
       {"Summary_Dashboard", "Comparison_By_Rank", "Summary_Comparison", "nccl_implicit_sync_cmp",
        "nccl_long_cmp", "Summary", "All_Ranks_Combined", "Per_Rank_Time_ms"})
    EXPECT_EQ(sheets["compare"].count(sheet), 1U) << sheet;
}

TEST(ColumnDictionary, PageIsWhatTheCodeMakes) {
  EXPECT_EQ(test::bytes_of(test::source_dir() / "docs/columns.md"), column_dictionary())
      << "make it again: rankscope columns > docs/columns.md";
}

} // namespace
} // namespace rankscope
