// Tests names of outputs: for configurations with any parameters, every name can be created and
// parsed.
#include "core/output_layout.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

Configuration make(std::initializer_list<Parameter> parameters, const std::string& folder = "x") {
  Configuration out;
  for (const Parameter& p : parameters)
    out.set(p.name, p.value);
  out.label = configuration_label(out, folder);
  return out;
}

TEST(Run, ParametersAreNamedTextsReadAsNumbersWhereTheyAreSome) {
  Configuration c = make({{"protocol", "LL128"}, {"threads", "256"}});
  EXPECT_EQ(c.threads(), 256);
  EXPECT_EQ(c.text("protocol"), "LL128");
  EXPECT_EQ(c.integer("protocol"), std::nullopt);
  EXPECT_EQ(c.channels(), std::nullopt);
  c.set("threads", std::int64_t{512});
  EXPECT_EQ(c.parameters.size(), 2U);
  EXPECT_EQ(c.threads(), 512);
  EXPECT_TRUE(c.only({"threads", "protocol"}));
  EXPECT_FALSE(c.only({"threads"}));
  EXPECT_EQ(to_text({make({{"threads", "8"}, {"channels", "2"}}), 3}), "8thread_2ch rank 3");
  Configuration files; // rank0.json, rank1.json, ...
  files.label = "rank";
  EXPECT_EQ(to_text({files, 2}), "rank 2");
}

TEST(Run, OrderIsNumericAndTheSameWhateverTheOrderOfParameters) {
  std::vector<Configuration> all = {
      make({{"protocol", "Simple"}}, "s"),
      make({{"threads", "1024"}, {"channels", "28"}}),
      make({{"channels", "112"}, {"threads", "256"}}),
      make({{"threads", "256"}, {"cus", "56"}}),
      make({{"size", "9"}, {"protocol", "LL"}}, "a"),
      make({{"protocol", "LL"}, {"size", "10"}}, "b"),
      make({{"threads", "256"}, {"channels", "28"}}),
      make({{"protocol", "LL"}, {"size", "auto"}}, "c"),
  };
  std::sort(all.begin(), all.end(), ordered_before);
  std::vector<std::string> labels;
  for (const Configuration& c : all)
    labels.push_back(c.label);
  EXPECT_EQ(labels,
            (std::vector<std::string>{"256thread_28ch", "56cu_256threads", "256thread_112ch",
                                      "1024thread_28ch", "a", "b", "c", "s"}));
}

TEST(OutputLayout, DocumentedNamesForThreadsAndChannelsOneFolderForAnythingElse) {
  const OutputLayout layout("out");
  const Configuration sweep = make({{"threads", "256"}, {"channels", "28"}});
  EXPECT_EQ(layout.individual_report({sweep, 3}),
            "out/256thread/individual_reports/perf_28ch_rank3.xlsx");
  EXPECT_EQ(layout.collective_report(sweep),
            "out/256thread/collective_reports/collective_28ch.xlsx");
  EXPECT_EQ(merged_trace_name(sweep), "256thread_28ch_merged.json");
  const Configuration cu = make({{"cus", "56"}, {"threads", "256"}});
  EXPECT_EQ(layout.individual_report({cu, 0}),
            "out/56cu_256threads/individual_reports/perf_rank0.xlsx");
  EXPECT_EQ(merged_trace_name(cu), "56cu_256threads_merged.json");
  // two protocols with the same threads and channels must have different output names
  const Configuration low = make({{"protocol", "LL"}, {"threads", "256"}, {"channels", "28"}},
                                 "protocol=LL/256thread/nccl_28channels");
  EXPECT_EQ(layout.individual_report({low, 0}),
            "out/protocol=LL_256thread_nccl_28channels/individual_reports/perf_rank0.xlsx");
  Configuration again = sweep; // found in two folders: the second has another label
  again.label += "_2";
  EXPECT_NE(layout.individual_report({again, 3}), layout.individual_report({sweep, 3}));
  EXPECT_NE(merged_trace_name(again), merged_trace_name(sweep));
  EXPECT_EQ(layout.collective_report({}), "out/collective_reports/collective_all_ranks.xlsx");
  EXPECT_EQ(layout.individual_report({{}, 7}), "out/individual_reports/perf_rank7.xlsx");
  EXPECT_NE(layout.state(make({}, "a/b")), layout.state(make({}, "a.b")));
}

class SavedOutputs : public ::testing::Test {
protected:
  void file(const std::string& path) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << "x";
  }
  test::TempFolder folder_;
  OutputLayout layout_{folder_.path()};
};

TEST_F(SavedOutputs, WhatIsMadeIsReadBack) {
  std::vector<RunKey> keys;
  for (const char* threads : {"256", "1024"})
    for (const char* channels : {"28", "112"})
      for (const std::int64_t rank : {0, 1, 12}) {
        keys.push_back({make({{"threads", threads}, {"channels", channels}}), rank});
        file(layout_.individual_report(keys.back()));
      }
  // no channels: not a report of rankscope
  file(folder_.path("256thread/individual_reports/perf_rank0.xlsx"));
  file(folder_.path("256thread/individual_reports/perf_28ch_rank1.xlsx.tmp"));
  file(folder_.path("other/individual_reports/perf_28ch_rank1.xlsx"));
  fs::create_directories(folder_.path("64thread/individual_reports/perf_4ch_rank_2_csv"));
  const std::vector<SavedReport> saved = layout_.saved_sweep_reports();
  ASSERT_EQ(saved.size(), keys.size() + 1);
  EXPECT_EQ(saved[0].key, (RunKey{make({{"threads", "64"}, {"channels", "4"}}), 2}));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(saved[i + 1].key, keys[i]);
    EXPECT_EQ(saved[i + 1].path, layout_.individual_report(keys[i]));
  }
}

TEST_F(SavedOutputs, ReportsOfASingleRunHereOrInTheOlderFolder) {
  EXPECT_TRUE(layout_.saved_individual_folder().empty());
  EXPECT_TRUE(layout_.saved_run_reports().empty());
  const OutputLayout below(folder_.path("tracelens_analysis"));
  file(below.individual_report({{}, 10}));
  file(below.individual_report({{}, 2}));
  file(below.individual_folder({}) + "/notes.xlsx");
  file(below.individual_folder({}) + "/perf_rank3.txt");
  file(below.collective_report({}));
  const std::vector<SavedReport> saved = layout_.saved_run_reports();
  ASSERT_EQ(saved.size(), 2U);
  EXPECT_EQ(saved[0].key.rank, 10); // sorted by name
  EXPECT_EQ(saved[1].key.rank, 2);
  EXPECT_EQ(layout_.saved_collective_reports(),
            std::vector<std::string>{below.collective_report({})});
}

TEST_F(SavedOutputs, GemmTablesOfAnyTopK) {
  EXPECT_EQ(layout_.saved_gemm_csv(GemmTable::kVariance), "");
  file(layout_.gemm_csv(7, GemmTable::kVariance));
  file(layout_.gemm_csv(7, GemmTable::kOverlap));
  file(folder_.path("topical_gemm_kernels_time_variance.csv"));
  EXPECT_EQ(layout_.saved_gemm_csv(GemmTable::kVariance),
            layout_.gemm_csv(7, GemmTable::kVariance));
  EXPECT_EQ(layout_.saved_gemm_csv(GemmTable::kOverlap), layout_.gemm_csv(7, GemmTable::kOverlap));
  EXPECT_EQ(layout_.saved_gemm_csv(GemmTable::kTimestamps), "");
}

TEST(OutputLayout, RankInNames) {
  EXPECT_EQ(rank_in_name("perf_rank3.xlsx"), 3);
  EXPECT_EQ(rank_in_name("perf_28ch_rank_12_csv"), 12);
  EXPECT_EQ(rank_in_name("rank1_of_rank2"), 2);
  EXPECT_EQ(rank_in_name("perf_ranks.xlsx"), std::nullopt);
  EXPECT_EQ(rank_in_name("summary.xlsx"), std::nullopt);
}

} // namespace
} // namespace rankscope
