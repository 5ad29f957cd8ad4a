// Tests joining the sheets of several ranks into one table.
#include "sql/sql_table.h"

#include "base/snake_case.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

std::shared_ptr<const Table> sheet(std::vector<Column> columns,
                                   const std::vector<std::vector<Value>>& rows) {
  Table table("sheet", std::move(columns));
  for (const std::vector<Value>& row : rows)
    table.add_row(row);
  return std::make_shared<const Table>(std::move(table));
}

Value cell(const SqlTable& table, std::size_t part, std::size_t row, std::size_t column) {
  Value out;
  table.parts[part].read(column, row, 1, [&](std::size_t, const Value& v) { out = v; });
  return out;
}

TEST(TableOfSheets, JoinsTheColumnsOfRanksAndTypesThemByTheirCells) {
  const SqlTable table =
      table_of_sheets("s", "",
                      {{{"run", 0}, sheet({"name", "param: M"}, {{"a", 1}, {"b", Value()}})},
                       {{"run", 3}, sheet({"param: M", "Other (us)", "name"}, {{2.5, 7, "c"}})}},
                      {}, true);
  std::vector<std::string> ids;
  for (const Column& column : table.columns)
    ids.push_back(column.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"run", "rank", "name", "param_m", "other_us"}));
  EXPECT_EQ(table.columns[3].type, CellKind::kDouble); // from 1 and 2.5
  EXPECT_EQ(table.columns[4].type, CellKind::kInt);
  EXPECT_EQ(table.rows(), 3U);
  EXPECT_EQ(cell(table, 0, 0, 0).text, "run");
  EXPECT_EQ(cell(table, 1, 0, 1).i, 3);
  EXPECT_EQ(cell(table, 1, 0, 2).text, "c");
  EXPECT_EQ(cell(table, 0, 1, 2).text, "b");
  EXPECT_TRUE(cell(table, 0, 0, 4).is_null()); // this rank does not have the column
  EXPECT_EQ(cell(table, 1, 0, 4).i, 7);
}

TEST(TableOfSheets, ASheetWithARankOfItsOwnKeepsIt) {
  const SqlTable table =
      table_of_sheets("s", "", {{{"run", 1}, sheet({"rank", "x"}, {{5, 6}})}}, {}, true);
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.columns[1].id, "rank");
  EXPECT_EQ(cell(table, 0, 0, 1).i, 5);
}

TEST(TableOfSheets, WithoutASheetThereAreTheKnownColumns) {
  const SqlTable table = table_of_sheets("s", "", {}, {Column("a b"), Column("c")}, true);
  EXPECT_EQ(table.rows(), 0U);
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(table.columns[2].id, "a_b");
  EXPECT_EQ(table.columns[2].type, CellKind::kText);
}

TEST(SnakeCase, NamesOfSheetsAndHeaders) {
  for (const auto& [name, want] : std::vector<std::pair<std::string, std::string>>{
           {"GEMM", "gemm"},
           {"SDPA_fwd", "sdpa_fwd"},
           {"GroupedGEMM_fwd", "grouped_gemm_fwd"},
           {"BinaryElementwise", "binary_elementwise"},
           {"MoEComm_fwd", "moe_comm_fwd"},
           {"FusedRoPE_bwd", "fused_rope_bwd"},
           {"mHC_fwd", "mhc_fwd"},
           {"bus bw (GB/s)_mean", "bus_bw_gb_s_mean"},
           {"Kernel Time (\u00b5s)_sum", "kernel_time_s_sum"},
           {"__x__", "x"},
           {"", ""}})
    EXPECT_EQ(snake_case(name), want) << name;
}

} // namespace
} // namespace rankscope
