// Tests energy counters of CPUs and memory: which are read, and how they wrap around.
#include "collect/samplers/rapl_reader.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

class Rapl : public ::testing::Test {
protected:
  void zone(const std::string& name, const std::string& kind, const std::string& energy_uj) const {
    const std::string folder = "class/powercap/" + name;
    folder_.write(folder + "/name", kind + "\n");
    folder_.write(folder + "/energy_uj", energy_uj + "\n");
    folder_.write(folder + "/max_energy_range_uj", "1000000000\n");
  }
  test::TempFolder folder_;
};

// HA-M4: the energy of all packages and their memory.
TEST_F(Rapl, PackagesAndTheirMemoryAreSummed) {
  zone("intel-rapl:0", "package-0", "1000000");
  zone("intel-rapl:1", "package-1", "2000000");
  zone("intel-rapl:0:0", "core", "500000");
  zone("intel-rapl:0/intel-rapl:0:0", "core", "500000");
  zone("intel-rapl:0/intel-rapl:0:1", "dram", "300000");
  zone("intel-rapl:2", "psys", "9000000");
  zone("intel-rapl-mmio:0", "package-0", "1000000");
  RaplReader reader(folder_.path());
  EXPECT_TRUE(reader.any());
  EXPECT_EQ(reader.problem(), "");
  EXPECT_EQ(reader.read().cpu_j, 0.0);
  zone("intel-rapl:0", "package-0", "5000000");
  zone("intel-rapl:1", "package-1", "2500000");
  zone("intel-rapl:0/intel-rapl:0:1", "dram", "800000");
  zone("intel-rapl:2", "psys", "99000000");
  const RaplReading reading = reader.read();
  EXPECT_DOUBLE_EQ(reading.cpu_j.value_or(-1), 4.5);
  EXPECT_DOUBLE_EQ(reading.dram_j.value_or(-1), 0.5);
}

TEST_F(Rapl, ACounterThatWrapsAroundGoesOn) {
  zone("intel-rapl:0", "package-0", "999000000");
  RaplReader reader(folder_.path());
  // 1 J to the end of its range, 2 J after it wraps around
  zone("intel-rapl:0", "package-0", "2000000");
  EXPECT_DOUBLE_EQ(reader.read().cpu_j.value_or(-1), 3.0);
  EXPECT_FALSE(reader.read().dram_j);
}

TEST_F(Rapl, WhatCannotBeReadIsExplained) {
  EXPECT_FALSE(RaplReader(folder_.path()).any());
  EXPECT_EQ(RaplReader(folder_.path()).problem(), "") << "no counters, no problem";
  folder_.write("class/powercap/intel-rapl:0/name", "package-0\n");
  std::filesystem::create_directory(folder_.path("class/powercap/intel-rapl:0/energy_uj"));
  RaplReader reader(folder_.path());
  EXPECT_FALSE(reader.any());
  EXPECT_NE(reader.problem().find("intel-rapl:0/energy_uj: "), std::string::npos);
  EXPECT_FALSE(reader.read().cpu_j);
}

} // namespace
} // namespace rankscope
