#include "collect/samplers/device_choice.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using Positions = std::vector<std::size_t>;

/// Two modules with two dies each: die 0 measures for die 1, die 2 for die 3.
std::vector<GpuIdentity> boards() {
  std::vector<GpuIdentity> gpus(4);
  const char* bdf[] = {"0000:c1:00.0", "0000:c6:00.0", "0001:c1:00.0", "0001:c6:00.0"};
  const char* uuid[] = {"GPU-1a2b3c4d", "GPU-1a2bffff", "GPU-77777777", "0x8888"};
  for (std::size_t i = 0; i < 4; ++i) {
    gpus[i].index = static_cast<int>(i);
    gpus[i].bdf = bdf[i];
    gpus[i].uuid = uuid[i];
    gpus[i].two_dies = true;
    gpus[i].power_sensor = i % 2 == 0;
  }
  pair_dies(gpus);
  return gpus;
}

Positions chosen(const std::string& text, const std::string& visible = "") {
  const auto gpus = boards();
  const auto choice = choose_gpus(gpus, text, visible);
  return choice ? choice->gpus : Positions{99};
}

TEST(DeviceChoice, ByIndexRangeAddressAndUuid) {
  EXPECT_EQ(chosen("all"), (Positions{0, 1, 2, 3}));
  EXPECT_EQ(chosen("0"), (Positions{0}));
  EXPECT_EQ(chosen("2,0"), (Positions{2, 0}));
  EXPECT_EQ(chosen(" 1 , 1 "), (Positions{1}));
  EXPECT_EQ(chosen("1-3"), (Positions{1, 2, 3}));
  EXPECT_EQ(chosen("0001:C6:00.0"), (Positions{3}));
  EXPECT_EQ(chosen("GPU-7777"), (Positions{2}));
  EXPECT_EQ(chosen("8888"), (Positions{3}));
}

TEST(DeviceChoice, WhatNamesNoneOrSeveralIsAnError) {
  const auto gpus = boards();
  for (const char* text :
       {"4", "2-4", "3-2", "-1", "x", "", "0,", "GPU-1a2b", "c1:00.0", "c9:00.0", "1.5", "0;1"})
    EXPECT_FALSE(choose_gpus(gpus, text, "").has_value()) << text;
  const auto choice = choose_gpus(gpus, "7", "");
  EXPECT_EQ(choice.error().code, ErrorCode::kUsage);
  EXPECT_NE(choice.error().message().find("\"7\""), std::string::npos);
  EXPECT_NE(choice.error().message().find("3 0001:c6:00.0"), std::string::npos)
      << "it says which there are: " << choice.error().message();
}

TEST(DeviceChoice, VisibleFollowsTheEnvironment) {
  EXPECT_EQ(chosen("visible", "3,1"), (Positions{3, 1}));
  EXPECT_EQ(chosen("visible", ""), (Positions{0, 1, 2, 3}));
  EXPECT_EQ(visible_devices({{"HIP_VISIBLE_DEVICES", "1"}, {"CUDA_VISIBLE_DEVICES", "2"}}), "1");
  EXPECT_EQ(visible_devices({{"CUDA_VISIBLE_DEVICES", "2"}}), "2");
  EXPECT_EQ(visible_devices({}), "");
}

TEST(DeviceChoice, PowerHasOneColumnPerPackage) {
  const auto gpus = boards();
  std::vector<std::string> notes;
  EXPECT_EQ(power_columns(gpus, *choose_gpus(gpus, "all", ""), notes), (Positions{0, 2}));
  EXPECT_TRUE(notes.empty()) << "nobody asked for the second dies";
  EXPECT_EQ(power_columns(gpus, *choose_gpus(gpus, "3", ""), notes), (Positions{2}));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("GPU 3"), std::string::npos);
  EXPECT_NE(notes[0].find("GPU 2"), std::string::npos);
}

} // namespace
} // namespace rankscope
