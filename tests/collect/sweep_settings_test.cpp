// Tests settings of a sweep: lists, pairs, files of parameters, and folders that readers recognize.
#include "collect/sweep_settings.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(SweepSettings, ListsAndPairsAreChecked) {
  EXPECT_EQ(*number_list("28,42, 56", "-c"), (std::vector<std::int64_t>{28, 42, 56}));
  for (const char* bad : {"", "28,x", "28,28", "0", "-1", "28.5", "99999999999999999999"}) {
    const auto list = number_list(bad, "-c");
    ASSERT_FALSE(list) << bad;
    EXPECT_EQ(list.error().code, ErrorCode::kUsage);
    EXPECT_EQ(list.error().where, "-c");
  }
  EXPECT_EQ(*pair_list("56,256 37,384"), (std::vector<CuPair>{{56, 256}, {37, 384}}));
  for (const char* bad : {"", "56", "56,256,1", "56;256", "56,x", "56,256 56,256"})
    EXPECT_FALSE(pair_list(bad)) << bad;
}

TEST(SweepSettings, TheGridHasTheDocumentedFoldersAndVariables) {
  const auto grid = grid_settings({256, 512}, {28, 42}, false);
  ASSERT_EQ(grid.size(), 4U);
  EXPECT_EQ(grid[0].folder, "256thread/nccl_28channels"); // threads vary slowest, channels fastest
  EXPECT_EQ(grid[1].folder, "256thread/nccl_42channels");
  EXPECT_EQ(grid[2].folder, "512thread/nccl_28channels");
  EXPECT_EQ(grid[1].configuration.label, "256thread_42ch");
  EXPECT_EQ(grid[1].environment.at("channels"), (EnvironmentChanges{{"NCCL_MAX_NCHANNELS", "42"}}));
  EXPECT_EQ(grid[1].environment.at("threads"),
            (EnvironmentChanges{{"RCCL_THREADS_PER_BLOCK", "256"}, {"NCCL_NTHREADS", "256"}}));
  const auto exact = grid_settings({256}, {28}, true);
  EXPECT_EQ(exact[0].environment.at("channels"),
            (EnvironmentChanges{{"NCCL_MAX_NCHANNELS", "28"}, {"NCCL_MIN_NCHANNELS", "28"}}));
  const auto pairs = pair_settings({{56, 256}});
  EXPECT_EQ(pairs[0].folder, "56cu_256threads");
  EXPECT_EQ(pairs[0].configuration.label, "56cu_256threads");
  EXPECT_EQ(pairs[0].environment.at("cus"),
            (EnvironmentChanges{{"RCCL_WARP_SPEED_CU_COUNT", "56"}}));
}

class Matrix : public ::testing::Test {
protected:
  Result<std::vector<SweepSetting>> read(const std::string& text) const {
    return matrix_settings(folder_.write("m.json", text));
  }
  test::TempFolder folder_;
};

TEST_F(Matrix, AllCombinationsOfVariablesAndArguments) {
  const auto settings = read(R"({"parameters": {
    "protocol": {"env": "NCCL_PROTO", "values": ["LL", null]},
    "size": {"env": ["A", "B"], "values": [1, 2.5, false]},
    "batch": [16]}})");
  ASSERT_TRUE(settings) << settings.error().message();
  ASSERT_EQ(settings->size(), 6U);
  const SweepSetting& first = (*settings)[0];
  EXPECT_EQ(first.folder, "protocol=LL/size=1/batch=16");
  EXPECT_EQ(first.environment.at("protocol"), (EnvironmentChanges{{"NCCL_PROTO", "LL"}}));
  EXPECT_EQ(first.environment.at("size"), (EnvironmentChanges{{"A", "1"}, {"B", "1"}}));
  EXPECT_EQ(first.environment.count("batch"), 0U);
  EXPECT_EQ((*settings)[1].folder, "protocol=LL/size=2.5/batch=16");
  const SweepSetting& defaults = (*settings)[3];
  EXPECT_EQ(defaults.folder,
            "protocol=default/size=1/batch=16"); // null: the default of the library
  EXPECT_EQ(defaults.unset, std::vector<std::string>{"NCCL_PROTO"});
  EXPECT_EQ(defaults.environment.count("protocol"), 0U);
}

TEST_F(Matrix, AListOfSettings) {
  const auto settings = read(R"({"parameters": {"a": [1], "b": {"env": "B", "values": [1]}},
    "settings": [{"a": "x y/z=1", "b": 2}, {"a": 3, "b": null}]})");
  ASSERT_TRUE(settings) << settings.error().message();
  ASSERT_EQ(settings->size(), 2U);
  // characters that folder names cannot have are replaced
  EXPECT_EQ((*settings)[0].folder, "a=x_y_z_1/b=2");
  EXPECT_EQ(*(*settings)[0].configuration.text("a"), "x y/z=1");
}

TEST_F(Matrix, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      // NOLINT(modernize-avoid-c-arrays)
      {"[1]", "parameters"},
      {R"({"parameters": {}})", "parameters"},
      {R"({"parameters": {"rank": [1]}})", "rank"},
      {R"({"parameters": {"a b": [1]}})", "a b"},
      {R"({"parameters": {"a": []}})", "values"},
      {R"({"parameters": {"a": [1, 1]}})", "twice"},
      {R"({"parameters": {"a": [[1]]}})", "neither"},
      {R"({"parameters": {"a": {"values": [1], "flag": 2}}})", "flag"},
      {R"({"parameters": {"a": {"env": "A"}}})", "no values"},
      {R"({"parameters": {"a": [1]}, "settings": [{"b": 1}]})", "lacks"},
      {R"({"parameters": {"a": [1]}, "settings": [{"a": 1, "b": 1}]})", "not a parameter"},
      {R"({"parameters": {"a": [1]}, "setting": []})", "setting"},
      {"{", "not JSON"}};
  for (const auto& [text, word] : cases) {
    const auto settings = read(text);
    ASSERT_FALSE(settings) << text;
    EXPECT_NE(settings.error().message().find(word), std::string::npos)
        << settings.error().message();
  }
  EXPECT_FALSE(matrix_settings(folder_.path("none.json")));
}

TEST_F(Matrix, BesideTheGrid) {
  const auto matrix = read(R"({"parameters": {"protocol": {"env": "P", "values": ["LL", "S"]}}})");
  ASSERT_TRUE(matrix);
  const auto both = combined(grid_settings({256}, {28, 42}, false), *matrix);
  ASSERT_TRUE(both);
  ASSERT_EQ(both->size(), 4U);
  EXPECT_EQ((*both)[1].folder, "256thread/nccl_28channels/protocol=S");
  EXPECT_EQ((*both)[1].environment.size(), 3U);
  const auto clash = read(R"({"parameters": {"threads": [256]}})");
  EXPECT_FALSE(combined(grid_settings({256}, {28}, false), *clash));
  const auto same = read(R"({"parameters": {"a": ["x/y", "x_y"]}})");
  EXPECT_FALSE(combined({SweepSetting{}}, *same)); // two settings with the same folder
}

} // namespace
} // namespace rankscope
