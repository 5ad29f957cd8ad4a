// Parts made in one place and combined in another give the same bytes as one process that did both.
#include "analyses/rank_analysis.h"
#include "engine/loader.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "writers/writer.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(RankParts, CombinedElsewhereTheReportIsTheSameToTheByte) {
  const test::TempFolder folder;
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 3;
  o.layers = 2;
  o.steps = 2;
  ASSERT_TRUE(synth::generate(o, folder.path(), 2, nullptr));
  Diagnostics diag;
  const auto plans = discover_sweep(folder.path(), {}, diag);
  ASSERT_TRUE(plans);
  ASSERT_EQ(plans->size(), 1U);
  std::size_t rows = 0;
  for (const RankAnalysis* analysis : rank_analyses()) {
    std::vector<AnyPart> here;
    std::vector<AnyPart> elsewhere;
    for (const RankFile& file : plans->front().ranks) {
      auto trace = load_trace(file.path, {});
      ASSERT_TRUE(trace);
      trace->rank = file.rank;
      auto part = analysis->extract(*trace, {});
      ASSERT_TRUE(part) << analysis->name;
      auto back = analysis->decode(*analysis, analysis->encode(*analysis, *part));
      ASSERT_TRUE(back) << analysis->name << ": " << back.error().message();
      here.push_back(std::move(*part));
      elsewhere.push_back(std::move(*back));
    }
    const auto one = analysis->combine(std::move(here), {});
    const auto other = analysis->combine(std::move(elsewhere), {});
    ASSERT_TRUE(one);
    ASSERT_TRUE(other);
    EXPECT_EQ(json_text(*one), json_text(*other)) << analysis->name;
    for (const Table& t : one->tables)
      rows += t.rows();
  }
  EXPECT_GT(rows, 50U);
  EXPECT_GE(rank_analyses().size(), 4U); // collectives, compare, gemm, timeline
}

} // namespace
} // namespace rankscope
