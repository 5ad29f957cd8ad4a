// Tests graph launches in small handmade traces: classes, ids, sheets, the headline.
#include "analyses/graph/graph_attribution.h"
#include "trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TraceBuilder;

const char* const kMatrices =
    R"({"Input Dims":[[32,64],[64,64]],"Input type":["c10::BFloat16","c10::BFloat16"]})";

/// Returns an eager step of two layers, 40 us in total: product, norm, product, norm.
TraceBuilder eager() {
  TraceBuilder b;
  double at = 0;
  for (int layer = 0; layer < 2; ++layer) {
    b.op("aten::mm", at, 8, kMatrices).kernel("Cijk_Alik_Bljk_MT16x16x64", at + 1, at + 20, 10);
    b.op("_C::norm", at + 10, 8).kernel("norm_kernel", at + 11, at + 30, 10);
    at += 20;
  }
  return b;
}

const std::vector<std::string> kLayers = {"Cijk_Alik_Bljk_MT32x32x64", "norm_kernel",
                                          "Cijk_Alik_Bljk_MT32x32x64", "norm_kernel"};

TEST(GraphAttribution, AnEagerStepNamesTheOperators) {
  const LoadedTrace t = eager().graph(kLayers, 100, 110).graph(kLayers, 200, 210).load();
  const GraphAttribution a = attribute_graphs(t, nullptr);
  ASSERT_EQ(a.facts.size(), 1U); // both launches have the same graph
  EXPECT_EQ(a.facts[0].replays, 2U);
  EXPECT_EQ(a.facts[0].kernels, 4U);
  EXPECT_EQ(a.graph_ns, 80'000);
  EXPECT_EQ(a.gpu_ns, 120'000);
  ASSERT_EQ(a.kernels.size(), 8U);
  EXPECT_EQ(a.operators[a.kernels[0].op].name, "aten::mm");
  EXPECT_EQ(a.operators[a.kernels[1].op].name, "_C::norm");
  EXPECT_EQ(a.kernels[0].attribution, Attribution::kAligned);
  EXPECT_DOUBLE_EQ(a.kernels[0].confidence, 0.9); // only numbers in the names differ
  EXPECT_DOUBLE_EQ(a.kernels[1].confidence, 0.95);
  EXPECT_EQ(a.unattributed_percent(), 0);
  // half of the time with confidence 0.9, half with 0.95
  EXPECT_EQ(graph_headline(a), "graph launches: 2 (1 graph), 0.080 ms = 66.7 % of GPU time; "
                               "attributed: by alignment 100.0 % (mean confidence 0.93), NOT "
                               "attributed 0.0 %");
}

TEST(GraphAttribution, KernelsOfOneNameAndOperatorAreOneRow) {
  const LoadedTrace t = eager().graph(kLayers, 100, 110).graph(kLayers, 200, 210).load();
  const auto report = build_report(t, {});
  ASSERT_TRUE(report);
  const Table* kernels = report->find("graph_kernels");
  ASSERT_NE(kernels, nullptr);
  ASSERT_EQ(kernels->rows(), 2U); // each name twice per launch
  EXPECT_EQ(kernels->at(0, "count").i, 4);
  EXPECT_EQ(kernels->at(0, "operator").text, "_C::norm");
  EXPECT_EQ(kernels->at(1, "operator").text, "aten::mm");
}

TEST(GraphAttribution, ShapesHoldOnlyWhereTheGridIsEqual) {
  TraceBuilder b;
  const std::string grid = R"(,"grid":[4,1,1],"block":[64,1,1])";
  b.graph(kLayers, 100, 110, grid);
  const LoadedTrace t = b.load();
  const LoadedTrace donor = eager().load(); // has no grids
  const GraphAttribution a = attribute_graphs(t, &donor);
  ASSERT_NE(a.kernels[1].op, kNoRow);
  EXPECT_FALSE(a.kernels[1].same_shape);
}

TEST(GraphAttribution, NodeIdsAreRead) {
  TraceBuilder b = eager();
  const std::string ids = R"(,"graph id":7,"graph node id":)";
  b.graph({"a"}, 100, 110, ids + "12").graph({"b"}, 200, 210, ids + "0");
  const LoadedTrace t = b.load();
  ASSERT_EQ(t.trace.graph_nodes.size(), 1U); // 0: no graph
  EXPECT_EQ(t.trace.graph_nodes[0].second.graph, 7);
  EXPECT_EQ(t.trace.graph_nodes[0].second.node, 12);
  EXPECT_EQ(t.trace.name(t.trace.graph_nodes[0].first), "a");
  const GraphAttribution a = attribute_graphs(t, nullptr);
  ASSERT_EQ(a.facts.size(), 2U);
  EXPECT_EQ(a.facts[0].id, 7);
  EXPECT_EQ(a.facts[1].id, kNoId);
}

TEST(GraphAttribution, LaunchesWithSuffixesLaunchAllOfTheirKernels) {
  TraceBuilder b;
  std::string text = b.graph({"a", "b", "c"}, 100, 110).text();
  const std::string plain = "cudaGraphLaunch";
  text.replace(text.find(plain), plain.size(), "cuGraphLaunch_ptsz");
  const test::TempFolder folder;
  const auto t = load_trace(folder.write("t.json", text), LoadOptions{});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->tree.linked_count(), 3U);
  EXPECT_EQ(attribute_graphs(*t, nullptr).kernels.size(), 3U);
}

TEST(GraphAttribution, ALaunchThatLacksKernelsIsOfTheSameGraph) {
  const std::vector<std::string> complete = {"a", "b", "c", "d", "e", "f"};
  TraceBuilder b;
  b.graph(complete, 100, 110).graph({"a", "b", "d", "e", "f"}, 200, 210).graph({}, 300, 310);
  b.graph({"a", "c"}, 400, 410); // another graph: too few kernels of the first one
  const GraphAttribution a = attribute_graphs(b.load(), nullptr);
  ASSERT_EQ(a.facts.size(), 2U);
  EXPECT_EQ(a.facts[0].replays, 2U);
  EXPECT_EQ(a.facts[0].incomplete, 1U);
  EXPECT_EQ(a.facts[0].missing, 1U);
  ASSERT_EQ(a.losses.size(), 2U);
  EXPECT_EQ(a.losses[0].missing, 1U);
  EXPECT_EQ(a.losses[1].missing, 0U); // lost all kernels
  EXPECT_EQ(a.graphs.replays[1].nodes, (std::vector<std::uint32_t>{0, 1, 3, 4, 5}));
}

TEST(GraphAttribution, TablesTellWhatIsNotAttributed) {
  const LoadedTrace t = TraceBuilder().graph(kLayers, 100, 110).load();
  const auto report = build_report(t, {});
  ASSERT_TRUE(report);
  const Table* graphs = report->find("graph_launches");
  ASSERT_NE(graphs, nullptr);
  EXPECT_NE(graphs->notes.at(0).find("NOT attributed 100.0 %; operators unknown"),
            std::string::npos);
  const Table* unified = report->find("unified_perf_summary");
  ASSERT_NE(unified, nullptr);
  EXPECT_EQ(unified->notes.back(), "100.0 % of the time of graph launches has no operator: GEMM "
                                   "50.0 %, norm 50.0 %");
  const auto has = [](const Table& table, std::string_view column) {
    for (const Column& c : table.columns())
      if (c.name == column)
        return true;
    return false;
  };
  EXPECT_TRUE(has(*unified, "attribution_confidence"));
  EXPECT_EQ(unified->at(0, "kernel_family").text, "GEMM");
  ReportOptions compat;
  compat.compat_tracelens = true;
  const auto quirks =
      build_report(TraceBuilder().op("aten::mul", 0, 10).graph(kLayers, 100, 110).load(), compat);
  ASSERT_TRUE(quirks);
  EXPECT_EQ(quirks->find("graph_launches"), nullptr);
  EXPECT_FALSE(has(*quirks->find("unified_perf_summary"), "attribution"));
  const auto plain = build_report(eager().load(), {});
  ASSERT_TRUE(plain);
  EXPECT_FALSE(has(*plain->find("unified_perf_summary"), "attribution"));
  EXPECT_TRUE(plain->find("unified_perf_summary")->notes.empty());
}

} // namespace
} // namespace rankscope
