// Tests counters by architecture: groups of counters that the hardware can collect at once.
#include "collect/profile/counter_sets.h"
#include "temp_folder.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TempFolder;

TEST(CounterSets, ArchitecturesOfTheKernelsTopology) {
  const TempFolder sys;
  const std::string nodes = "class/kfd/kfd/topology/nodes/";
  sys.write(nodes + "0/properties", "cpu_cores_count 128\ngfx_target_version 0\n");
  sys.write(nodes + "1/properties", "simd_count 1024\ngfx_target_version 90402\nwave_front 64\n");
  sys.write(nodes + "2/properties", "gfx_target_version 90010\n");
  sys.write(nodes + "3/properties", "gfx_target_version 90402\n");
  sys.write(nodes + "4/properties", "gfx_target_version 110003\n");
  sys.write(nodes + "5/properties", "gfx_target_version -7\nbroken");
  EXPECT_EQ(gpu_architectures(sys.path()),
            (std::vector<std::string>{"gfx1103", "gfx90a", "gfx942"}));
  EXPECT_TRUE(gpu_architectures(sys.path("none")).empty());
}

TEST(CounterSets, AGroupFitsIntoTheBlocksOfTheHardware) {
  for (const char* gfx : {"gfx90a", "gfx940", "gfx942", "gfx950", "gfx1100", ""})
    for (const char* set : {"compute", "memory", "mix", "all"}) {
      const auto groups = counter_groups(set, gfx);
      ASSERT_FALSE(groups.empty()) << set;
      EXPECT_EQ(groups.size() > 1, std::string(set) == "all");
      for (const auto& group : groups) {
        std::size_t sq = 0;
        std::size_t tcc = 0;
        std::size_t grbm = 0;
        for (const std::string_view counter : group) {
          sq += counter.starts_with("SQ_") ? 1 : 0;
          tcc += counter.starts_with("TCC_") ? 1 : 0;
          grbm += counter.starts_with("GRBM_") ? 1 : 0;
          // gfx90a and later GPUs have different names
          EXPECT_FALSE(counter.starts_with("TCC_EA0_") && std::string(gfx) == "gfx90a");
          EXPECT_FALSE(counter.starts_with("TCC_EA_") && std::string(gfx) != "gfx90a");
        }
        EXPECT_LE(sq, 8U);
        EXPECT_LE(tcc, 4U);
        EXPECT_LE(grbm, 2U);
      }
    }
  EXPECT_TRUE(counter_groups("nothing", "gfx942").empty());
}

TEST(CounterSets, OneGroupIsWordsSeveralAreAFile) {
  std::vector<ToolEntry> tools(3);
  tools[0].cmd = "rocprofv3 {counters:memory} -d {out} --";
  tools[1].cmd = "rocprofv3 {counters:all} --";
  tools[2].cmd = "other --";
  ASSERT_TRUE(place_counters(tools, "gfx942"));
  EXPECT_EQ(tools[0].cmd, "rocprofv3 --pmc TCC_HIT_sum TCC_MISS_sum TCC_EA0_RDREQ_sum "
                          "TCC_EA0_WRREQ_sum -d {out} --");
  EXPECT_EQ(tools[0].passes, 1);
  EXPECT_TRUE(tools[0].files.empty());
  EXPECT_EQ(tools[1].cmd, "rocprofv3 -i {out}/counters_all.txt --");
  EXPECT_EQ(tools[1].passes, 5);
  ASSERT_EQ(tools[1].files.size(), 1U);
  EXPECT_EQ(tools[1].files[0].first, "counters_all.txt");
  const std::string text = tools[1].files[0].second;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_EQ(text.rfind("pmc: SQ_WAVES ", 0), 0U) << text;
  EXPECT_NE(text.find("\npmc: FETCH_SIZE\npmc: WRITE_SIZE\n"), std::string::npos) << text;
  EXPECT_EQ(tools[2].cmd, "other --");
  for (const char* wrong : {"x {counters:fast}", "x {counters:", "x {counters:}"}) {
    std::vector<ToolEntry> bad(1);
    bad[0].cmd = wrong;
    EXPECT_FALSE(place_counters(bad, "")) << wrong;
  }
}

} // namespace
} // namespace rankscope
