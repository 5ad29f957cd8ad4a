// Tests which operators of a trace are replayed, and their sheets.
#include "analyses/replay/replay_items.h"
#include "trace_builder.h"

#include <array>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

std::string args_of(const std::string& dims, const std::string& types, const std::string& strides,
                    const std::string& concrete) {
  return R"({"Input Dims":)" + dims + R"(,"Input type":)" + types +
         (strides.empty() ? "" : R"(,"Input Strides":)" + strides) + R"(,"Concrete Inputs":)" +
         concrete + "}";
}

/// Returns a trace with 60 us of one product (two calls), 30 us of a convolution, 20 us of a
/// product without strides, and 90 us of other work: 200 us of GPU time.
LoadedTrace trace() {
  const std::string two = R"(["float","float"])";
  const std::string mm = args_of("[[64,16],[16,32]]", two, "[[16,1],[1,16]]", R"(["",""])");
  test::TraceBuilder b;
  b.op("aten::mm", 0, 10, mm).kernel("ampere_sgemm_32x32_tn", 1, 20, 25);
  b.op("aten::mm", 100, 10, mm).kernel("ampere_sgemm_32x32_tn", 101, 120, 35);
  b.op("aten::convolution", 200, 10,
       args_of("[[1,4,8,8],[4,4,3,3],[]]", R"(["float","float",""])",
               "[[256,64,8,1],[36,9,3,1],[]]",
               R"(["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])"))
      .kernel("conv_kernel", 201, 220, 30);
  b.op("aten::mm", 300, 10, args_of("[[4,4],[4,4]]", two, "", R"(["",""])"))
      .kernel("gemm", 301, 320, 20);
  b.op("aten::relu", 400, 10).kernel("relu", 401, 420, 90);
  return b.load();
}

TEST(ReplayItems, MostKernelTimeFirst) {
  const LoadedTrace t = trace();
  const auto items = replay_items(t, {}, 0);
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 3U);
  EXPECT_EQ((*items)[0].name, "aten::mm");
  EXPECT_EQ((*items)[0].count, 2);
  EXPECT_DOUBLE_EQ((*items)[0].profile_us, 30);
  EXPECT_DOUBLE_EQ((*items)[0].share_pct.value(), 30);
  EXPECT_TRUE(std::holds_alternative<GemmReplay>((*items)[0].request.call));
  EXPECT_EQ((*items)[1].name, "aten::convolution");
  EXPECT_DOUBLE_EQ((*items)[1].share_pct.value(), 15);
  EXPECT_DOUBLE_EQ((*items)[2].share_pct.value(), 10);
  EXPECT_NE((*items)[2].request.why.find("strides"), std::string::npos);
  const auto top = replay_items(t, {}, 1);
  ASSERT_TRUE(top);
  EXPECT_EQ(top->size(), 1U);
}

TEST(ReplayItems, RowsAreNumberedInTheirGroup) {
  auto items = replay_items(trace(), {}, 0);
  ASSERT_TRUE(items);
  const std::vector<ReplayRow> rows = replay_rows(std::move(*items));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].number, 0U);
  EXPECT_EQ(rows[1].number, 0U) << "the first convolution";
  EXPECT_EQ(rows[2].number, 1U);
  EXPECT_EQ(rows[0].commands.size(), 1U);
  EXPECT_TRUE(rows[2].commands.empty());
}

TEST(ReplayItems, SheetHasTheDocumentedColumns) {
  auto items = replay_items(trace(), {}, 0);
  ASSERT_TRUE(items);
  std::vector<ReplayRow> rows = replay_rows(std::move(*items));
  rows[0].bench = {33.0, "ok", "", "hipblaslt-bench"};
  rows[0].torch = {24.0, "ok", "", "torch"};
  const Table t = replay_table(rows, ReplayGroup::kGemm, false);
  EXPECT_EQ(t.name(), "gemm_node_replay");
  const std::array<const char*, 8> labels = {"gemm no.",
                                             "Avg. gemm-bench time (us)",
                                             "Avg. replay time (us)",
                                             "Avg. profile time (us)",
                                             "Diff profile vs. replay (us)",
                                             "Diff profile vs. gemm-bench (us)",
                                             "Diff profile vs. replay (pct)",
                                             "Diff profile vs. gemm-bench (pct)"};
  ASSERT_EQ(t.cols(), labels.size());
  const std::array<double, 8> values = {0, 33, 24, 30, -6, 3, -20, 10};
  for (std::size_t c = 0; c < labels.size(); ++c) {
    EXPECT_EQ(t.columns()[c].name, labels[c]);
    EXPECT_DOUBLE_EQ(t.at(0, c).number(), values[c]) << labels[c];
  }
  ASSERT_EQ(t.rows(), 2U);
  EXPECT_TRUE(t.at(1, 1).is_null()) << "what was not measured has no time";
  EXPECT_TRUE(t.at(1, 7).is_null());
  EXPECT_EQ(replay_schema(ReplayGroup::kConv, true).fields()[0].label, "conv no.");
  EXPECT_EQ(replay_table(rows, ReplayGroup::kConv, true).rows(), 1U);
}

// HA-B13: with cumulative shares .343 .676 1, three rows are needed for 99 %, not two.
TEST(ReplayItems, SelectionEndsWithTheRowThatReaches99Percent) {
  const auto selected = [](std::vector<double> share) { return replay_selection(share, false); };
  EXPECT_EQ(selected({0.343, 0.676, 1}), 3U);
  EXPECT_EQ(selected({0.5, 1}), 2U);
  EXPECT_EQ(selected({0.5, 0.8, 0.963, 0.995, 1}), 4U);
  EXPECT_EQ(selected({0.5, 0.99, 1}), 2U);
  EXPECT_EQ(selected({0.995, 1}), 1U);
  EXPECT_EQ(selected({}), 0U);
}

TEST(ReplayItems, TheReferencesSelectionEndsBeforeThatRow) {
  const auto selected = [](std::vector<double> share) { return replay_selection(share, true); };
  EXPECT_EQ(selected({0.5, 0.8, 0.963, 0.995, 1}), 3U);
  EXPECT_EQ(selected({0.5, 0.99, 1}), 1U) << "strictly below";
  EXPECT_EQ(selected({0.995, 1}), 2U) << "all, when none is";
  EXPECT_EQ(selected({}), 0U);
}

} // namespace
} // namespace rankscope
