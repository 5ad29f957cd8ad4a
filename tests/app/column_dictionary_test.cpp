// The column dictionary: complete, stable ids, and docs/columns.md is what the code makes.
#include "app/column_dictionary.h"
#include "test_paths.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

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
  std::ifstream in(test::source_dir() / "docs/columns.md", std::ios::binary);
  std::stringstream page;
  page << in.rdbuf();
  EXPECT_EQ(page.str(), column_dictionary())
      << "make it again: rankscope columns > docs/columns.md";
}

} // namespace
} // namespace rankscope
