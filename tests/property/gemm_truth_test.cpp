// Compares the GEMM variance of generated sweeps with the ground truth: count, sum and range of
// every operator, the calls with the extreme durations (to the nanosecond), and what overlaps them.
#include "analyses/gemm/gemm_facts.h"
#include "core/arg_text.h"
#include "engine/loader.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace rankscope {
namespace {

std::int64_t int_at(simdjson::dom::element e, const char* key) {
  std::int64_t v = INT64_MIN;
  EXPECT_EQ(e[key].get(v), simdjson::SUCCESS) << key;
  return v;
}
std::string text_at(simdjson::dom::element e, const char* key) {
  std::string_view v;
  EXPECT_EQ(e[key].get(v), simdjson::SUCCESS) << key;
  return std::string(v);
}

TEST(GemmTruth, ExtremesAndOverlapEqualTheTruthToTheNanosecond) {
  test::TempFolder folder;
  synth::Options o;
  o.threads = {256, 512};
  o.channels = {28, 70};
  o.ranks = 2;
  o.layers = 4;
  o.steps = 3;
  ASSERT_TRUE(synth::generate(o, folder.path(), 2, nullptr));
  simdjson::dom::parser parser;
  simdjson::dom::element truth;
  ASSERT_EQ(parser.load(folder.path() + "/ground_truth.json").get(truth), simdjson::SUCCESS);
  int compared = 0;
  for (const simdjson::dom::element config : truth["configs"].get_array()) {
    std::vector<RankGemms> ranks;
    for (const simdjson::dom::element rank : config["ranks"].get_array()) {
      auto loaded = load_trace(folder.path() + "/" + text_at(rank, "file"), LoadOptions{});
      ASSERT_TRUE(loaded);
      loaded->rank = int_at(rank, "rank");
      ranks.push_back(extract_gemms(*loaded, ReportOptions{}));
    }
    for (const simdjson::dom::element g : config["gemms"].get_array()) {
      const std::string dims = python_repr(text_at(g, "input_dims"), true);
      const simdjson::dom::element low = g["min"].value();
      const simdjson::dom::element high = g["max"].value();
      const RankGemms& rank = ranks.at(static_cast<std::size_t>(int_at(low, "rank")));
      const GemmGroup* found = nullptr;
      for (const GemmGroup& group : rank.groups)
        if (group.op == text_at(g, "op") && group.dims == dims &&
            group.kernel == text_at(g, "kernel"))
          found = &group;
      ASSERT_NE(found, nullptr) << text_at(g, "op") << " " << dims;
      EXPECT_EQ(static_cast<std::int64_t>(found->instances.size()), int_at(g, "count"));
      EXPECT_EQ(found->range_ns(), int_at(g, "range_ns"));
      for (const auto& [instance, want] : {std::pair(found->instances[found->shortest], low),
                                           std::pair(found->instances[found->longest], high)}) {
        EXPECT_EQ(instance.start_ns, int_at(want, "ts_ns"));
        EXPECT_EQ(instance.dur_ns, int_at(want, "dur_ns"));
        EXPECT_EQ(instance.step, int_at(want, "step"));
        EXPECT_EQ(instance.overlap_ns, int_at(want, "overlap_ns"));
      }
      std::vector<std::string> names;
      for (const simdjson::dom::element c : high["overlapping_collectives"].get_array())
        names.push_back(text_at(c, "name"));
      std::vector<std::string> got;
      for (const GemmNeighbour& n : found->longest_neighbours)
        got.push_back(n.name);
      EXPECT_EQ(got, names);
      ++compared;
    }
    // the slowest call is that of the ground truth
    const simdjson::dom::element slowest = config["slowest_gemm"]["instance"].value();
    std::int64_t longest = 0;
    std::int64_t at = 0;
    for (const RankGemms& r : ranks)
      for (const GemmGroup& g : r.groups)
        if (g.instances[g.longest].dur_ns > longest) {
          longest = g.instances[g.longest].dur_ns;
          at = g.instances[g.longest].start_ns;
        }
    EXPECT_EQ(longest, int_at(slowest, "dur_ns"));
    EXPECT_EQ(at, int_at(slowest, "ts_ns"));
    const GemmFacts facts = gemm_facts(ranks, 5, GemmRanking::kRange);
    ASSERT_EQ(facts.rows.size(), 10U);
    for (const RankGemms& rank : ranks)
      for (const GemmGroup& g : rank.groups) { // the second measurement, which uses another method
        EXPECT_EQ(g.shortest_measured_ns, g.instances[g.shortest].dur_ns) << g.op << g.dims;
        EXPECT_EQ(g.longest_measured_ns, g.instances[g.longest].dur_ns) << g.op << g.dims;
      }
  }
  EXPECT_GT(compared, 40);
}

} // namespace
} // namespace rankscope
