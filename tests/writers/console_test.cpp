#include "writers/console.h"

#include "base/display_text.h"
#include "writers/console_page.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace rankscope {
namespace {

Table some_kernels() {
  Column verdict{"verdict"};
  verdict.status = true;
  Table table("t", {{"kernel"}, {"calls"}, {"time ms", Unit::kMs}, verdict});
  table.add_row({"Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs", 3, 1.25, "Better"});
  table.add_row({"add", 12, 0.5, "Worse"});
  table.add_row({"mul", 1, 2.0, "Similar"});
  return table;
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    longest = std::max(longest, line.size());
  return longest;
}

TEST(ConsoleTable, NumbersStandRightAndNoLineEndsInBlanks) {
  EXPECT_EQ(console_table(some_kernels()),
            "kernel                                       calls  time ms  verdict\n"
            "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs      3    1.250  Better\n"
            "add                                             12    0.500  Worse\n"
            "mul                                              1    2.000  Similar\n");
}

TEST(ConsoleTable, CutsTextsThatTheTerminalHasNoRoomFor) {
  EXPECT_EQ(console_table(some_kernels(), {20, 48, 45, false}),
            "kernel                calls  time ms  verdict\n"
            "Cijk_Alik.._UserArgs      3    1.250  Better\n"
            "add                      12    0.500  Worse\n"
            "mul                       1    2.000  Similar\n");
}

TEST(ConsoleTable, NoDigitOfAShapeIsCut) {
  Table table("t", {{"operator"}, {"shapes"}});
  table.add_row({"aten::addmm_of_a_long_name", "12288 4096x4096 4096x12288"});
  table.add_row({"aten::mm_of_another_long_name", "((4096, 4096), (4096, 14336), ())"});
  EXPECT_EQ(console_table(table, {20, 48, 50, false}),
            "operator         shapes\n"
            "aten::a..g_name  12288 4096x4096 4096x12288\n"
            "aten::m..g_name  ((4096, 4096), (4096, 14336), ())\n");
}

TEST(ConsoleTable, GoesOnBelowWhereCuttingIsNotEnough) {
  EXPECT_EQ(console_table(some_kernels(), {20, 48, 30, false}), "kernel          calls  time ms\n"
                                                                "Cijk_A..erArgs      3    1.250\n"
                                                                "add                12    0.500\n"
                                                                "mul                 1    2.000\n"
                                                                "\n"
                                                                "kernel          verdict\n"
                                                                "Cijk_A..erArgs  Better\n"
                                                                "add             Worse\n"
                                                                "mul             Similar\n");
}

/// Returns the words of each line that is not empty, up to the first two blanks.
std::vector<std::string> first_cells(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty())
      out.push_back(line.substr(0, line.find("  ")));
  return out;
}

// The dashboard of `compare`: "GPU_expos..." and "GPU_total..." would be the names of five rows.
TEST(ConsoleTable, TextsThatDifferStayDifferent) {
  const std::vector<std::string> names = {"GPU_busy_time",         "GPU_computation_time",
                                          "GPU_exposed_comm_time", "GPU_idle_time",
                                          "GPU_total_memcpy_time", "GPU_exposed_memcpy_time",
                                          "GPU_total_comm_time",   "GPU_total_time"};
  Table table("t", {{"Metric"}, {"nccl_28channels", Unit::kMs}, {"nccl_56channels", Unit::kMs}});
  for (const std::string& name : names)
    table.add_row({name, 1.0, 2.0});
  for (std::size_t width = 20; width < 60; ++width) {
    const std::string text = console_table(table, {20, 48, width, false});
    std::vector<std::string> rows = first_cells(text);
    std::erase(rows, "Metric");
    const std::size_t parts = rows.size() / names.size();
    EXPECT_EQ(std::set<std::string>(rows.begin(), rows.end()).size(), names.size()) << text;
    EXPECT_EQ(parts, width < 12 + 17 * 2 ? 2U : 1U) << text;
    EXPECT_LE(longest_line(text), std::max<std::size_t>(width, 29)) << text;
  }
}

TEST(ConsoleTable, AColumnIsWiderWhereTextsWouldBecomeEqual) {
  Table table("t", {{"name"}});
  for (int i = 10; i < 100; ++i) // differ at two places
    table.add_row({std::string_view("same_" + std::to_string(i / 10) + "_same_same_same_" +
                                    std::to_string(i % 10) + "_same")});
  std::vector<std::string> rows = first_cells(console_table(table, {100, 48, 12, false}));
  EXPECT_EQ(std::set<std::string>(rows.begin(), rows.end()).size(), 91U);
  rows = first_cells(console_table(table, {100, 6, 0, false}));
  EXPECT_EQ(std::set<std::string>(rows.begin(), rows.end()).size(), 91U);
}

TEST(ConsoleTable, PartsHaveTheNumbersOfRowsThatTheFirstColumnDoesNotIdentify) {
  Table table("t", {{"name"}, {"dtype"}, {"time ms", Unit::kMs}});
  table.add_row({"allreduce", "BFloat16", 1.25});
  table.add_row({"allreduce", "Float", 0.5});
  EXPECT_EQ(console_table(table, {20, 48, 24, false}), "#  name       dtype\n"
                                                       "1  allreduce  BFloat16\n"
                                                       "2  allreduce  Float\n"
                                                       "\n"
                                                       "#  name       time ms\n"
                                                       "1  allreduce    1.250\n"
                                                       "2  allreduce    0.500\n");
  EXPECT_EQ(console_table(table, {20, 48, 80, false}), "name       dtype     time ms\n"
                                                       "allreduce  BFloat16    1.250\n"
                                                       "allreduce  Float       0.500\n");
}

TEST(ConsoleTable, HeadersThatDifferStayDifferent) {
  Table table("t", {{"col_param: stride_A"}, {"col_param: stride_B"}});
  table.add_row({"(1, 4)", "(4, 1)"});
  EXPECT_EQ(console_table(table, {20, 48, 26, false}), "col_param:..  col_p..ide_B\n"
                                                       "(1, 4)        (4, 1)\n");
}

TEST(ConsoleTable, NoWidthFromOneOnLosesAColumn) {
  for (std::size_t width = 1; width < 90; ++width) {
    const std::string text = console_table(some_kernels(), {20, 48, width, false});
    for (const char* word : {"kernel", "calls", "time ms", "verdict", "0.500", "Similar"})
      EXPECT_NE(text.find(word), std::string::npos) << word << " at " << width;
    if (width >= 12 + 2 + 7) {
      EXPECT_LE(longest_line(text), width);
    }
  }
}

TEST(ConsoleTable, ColoursVerdictsOnlyWhenAsked) {
  const std::string text = console_table(some_kernels(), {20, 48, 0, true});
  EXPECT_NE(text.find("\x1b[32mBetter\x1b[0m"), std::string::npos);
  EXPECT_NE(text.find("\x1b[31mWorse\x1b[0m"), std::string::npos);
  EXPECT_EQ(console_table(some_kernels()).find('\x1b'), std::string::npos);
}

TEST(ConsoleTable, AChangeWithoutAVerdictHasNoColour) {
  Column change{"change"};
  change.delta = true;
  Column verdict{"status"};
  verdict.status = true;
  Table table("t", {change, verdict});
  table.add_row({Value(-0.43), Value("Similar")});
  table.add_row({Value(-7.5), Value("Worse")});
  const std::string text = console_table(table, {20, 48, 0, true});
  EXPECT_EQ(text.find("\x1b[31m -0.43"), std::string::npos) << text;
  EXPECT_EQ(text.find("m-0.43"), std::string::npos) << text;
  EXPECT_NE(text.find("m-7.5"), std::string::npos) << text;
}

TEST(ConsoleTable, ANameCannotMoveTheCursor) {
  Table table("t", {{"name"}});
  table.add_row({"\x1b[2Jgone\n"});
  EXPECT_EQ(console_table(table, {20, 48, 20, true}), "name\n [2Jgone\n");
}

TEST(ConsolePage, NamesThatDifferInTheMiddleStayDifferent) {
  ConsolePage page({40, false, true});
  page.table({{"ms"}, {"kernel", false, 12}},
             {{{"1.0"}, {"split_embedding_backward_adagrad_cta_per_row_1 f16 f32 2 32"}},
              {{"2.0"}, {"split_embedding_backward_adagrad_warp_per_row_1 f16 f32 2 32"}},
              {{"3.0"}, {"another_kernel_with_a_name_that_is_long f16"}}});
  std::set<std::string> shown;
  std::istringstream lines(page.text());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), 40U) << line;
    shown.insert(line.substr(std::min<std::size_t>(7, line.size())));
  }
  EXPECT_EQ(shown.size(), 4U) << page.text();
}

TEST(ConsolePage, AHeadingThatIsTooLongHasAMark) {
  ConsolePage page({40, false, true});
  page.heading("/a/path/that/is/longer/than/the/page/of/forty/columns/run7", "4 ranks");
  EXPECT_EQ(page.text().substr(0, 14), "/a/path/that/i") << page.text();
  EXPECT_NE(page.text().find("\u2026"), std::string::npos) << page.text();
  EXPECT_NE(page.text().find("columns/run7\n"), std::string::npos) << page.text();
}

} // namespace
} // namespace rankscope
