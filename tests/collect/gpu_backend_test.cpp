// Tests readings of an imitated /sys: a missing file gives an empty value, a damaged file counts as
// missing; and which die measures for which.
#include "collect/fake_sysfs.h"
#include "collect/samplers/gpu_backend.h"
#include "collect/samplers/gpu_metrics.h"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <tuple>

namespace rankscope {
namespace {

std::unique_ptr<GpuBackend> opened(const test::FakeSysfs& sys) {
  auto backend = open_sysfs_backend(sys.root());
  EXPECT_TRUE(backend.has_value());
  return backend ? std::move(*backend) : nullptr;
}

TEST(SysfsBackend, ReadsEveryValueInItsUnit) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a1b2c3", 512.5);
  const auto backend = opened(sys);
  ASSERT_EQ(backend->gpus().size(), 1U);
  const GpuIdentity& gpu = backend->gpus()[0];
  EXPECT_EQ(gpu.index, 0);
  EXPECT_EQ(gpu.bdf, "0000:c1:00.0");
  EXPECT_EQ(gpu.uuid, "a1b2c3");
  EXPECT_EQ(gpu.render_node, "renderD128");
  EXPECT_EQ(gpu.partition, "SPX");
  EXPECT_FALSE(gpu.secondary());
  const GpuReading r = backend->read(0);
  EXPECT_DOUBLE_EQ(r.power_w.value(), 512.5);
  EXPECT_EQ(r.vram_used_b, 17179869184);
  EXPECT_EQ(r.vram_total_b, 68719476736);
  EXPECT_DOUBLE_EQ(r.gpu_busy_pct.value(), 87);
  EXPECT_DOUBLE_EQ(r.mem_busy_pct.value(), 33);
  EXPECT_DOUBLE_EQ(r.sclk_mhz.value(), 2100);
  EXPECT_DOUBLE_EQ(r.mclk_mhz.value(), 1300);
  EXPECT_DOUBLE_EQ(r.temp_c.value(), 52) << "the junction's, not the edge's";
  EXPECT_FALSE(r.energy_j.has_value());
}

/// Returns a table gpu_metrics of `size` bytes, version 1.`content`, with a counter at a byte.
std::string metrics_table(std::uint16_t size, std::uint8_t content, std::size_t at,
                          std::uint64_t count) {
  std::string out(size, '\x11');
  std::memcpy(out.data(), &size, sizeof size);
  out[2] = 1;
  out[3] = static_cast<char>(content);
  std::memcpy(out.data() + at, &count, sizeof count);
  return out;
}

TEST(GpuMetrics, TheCounterOfEachTable) {
  constexpr std::uint64_t kCount = 65536 * 1000;
  for (const auto& [size, content, at] :
       {std::tuple<std::uint16_t, std::uint8_t, std::size_t>{288, 4, 24},
        {352, 5, 88},
        {1664, 6, 16},
        {1672, 7, 24}}) {
    const std::string table = metrics_table(size, content, at, kCount);
    EXPECT_DOUBLE_EQ(energy_of_gpu_metrics(table).value_or(-1), 1000) << int{content};
    EXPECT_DOUBLE_EQ(energy_of_gpu_metrics(table + "more").value_or(-1), 1000);
    for (std::size_t cut = 0; cut < table.size(); ++cut)
      EXPECT_FALSE(energy_of_gpu_metrics(table.substr(0, cut))) << cut;
    EXPECT_FALSE(energy_of_gpu_metrics(metrics_table(size, content, at, UINT64_MAX)));
    EXPECT_FALSE(energy_of_gpu_metrics(metrics_table(size, content, at, 0)));
  }
  EXPECT_FALSE(energy_of_gpu_metrics(metrics_table(120, 3, 24, kCount))) << "of unknown unit";
  EXPECT_FALSE(energy_of_gpu_metrics(metrics_table(360, 6, 88, kCount))) << "never released";
  EXPECT_FALSE(energy_of_gpu_metrics(metrics_table(20, 4, 8, kCount))) << "too short a table";
}

TEST(SysfsBackend, EnergyIsReadFromTheMetricsOfTheFirmware) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 100);
  sys.add_gpu(129, "0000:c2:00.0", "b", -1); // its sensor is on another die
  for (const int node : {128, 129})
    sys.put(node, "gpu_metrics", metrics_table(288, 4, 24, 65536 * 250));
  const auto backend = opened(sys);
  EXPECT_DOUBLE_EQ(backend->read(0).energy_j.value(), 250);
  EXPECT_FALSE(backend->read(1).energy_j.has_value());
}

TEST(SysfsBackend, ReadsAgainWhatChanged) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 100);
  const auto backend = opened(sys);
  EXPECT_DOUBLE_EQ(backend->read(0).power_w.value(), 100);
  sys.set_watts(128, 90);
  EXPECT_DOUBLE_EQ(backend->read(0).power_w.value(), 90);
}

TEST(SysfsBackend, NewerBoardsHaveTheMomentaryPowerOnly) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", -1);
  sys.put(128, "hwmon/hwmon3/power1_input", "750000000");
  EXPECT_DOUBLE_EQ(opened(sys)->read(0).power_w.value(), 750);
}

TEST(SysfsBackend, ThatCannotBeReadIsMissingNotZero) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", -1); // no power file
  sys.remove(128, "mem_info_vram_used");
  sys.put(128, "gpu_busy_percent", "");
  // reading address 0 of this process fails with EIO, as reading a sensor of a sleeping GPU does
  sys.remove(128, "mem_busy_percent");
  std::filesystem::create_symlink("/proc/self/mem", sys.file(128, "mem_busy_percent"));
  const GpuReading r = opened(sys)->read(0);
  EXPECT_FALSE(r.power_w.has_value());
  EXPECT_FALSE(r.vram_used_b.has_value());
  EXPECT_FALSE(r.gpu_busy_pct.has_value());
  EXPECT_FALSE(r.mem_busy_pct.has_value());
  EXPECT_TRUE(r.vram_total_b.has_value());
}

TEST(SysfsBackend, AnUnpluggedGpuGivesNothingMore) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  sys.add_gpu(129, "0000:c2:00.0", "b", 200);
  const auto backend = opened(sys);
  sys.unplug(128);
  const GpuReading r = backend->read(0);
  EXPECT_FALSE(r.power_w.has_value());
  EXPECT_FALSE(r.vram_used_b.has_value());
  EXPECT_DOUBLE_EQ(backend->read(1).power_w.value(), 200);
}

TEST(SysfsBackend, OrderIsByAddressAndOthersVendorsAreLeftOut) {
  const test::FakeSysfs sys;
  sys.add_gpu(129, "0000:05:00.0", "a", 1);
  sys.add_gpu(128, "0000:c1:00.0", "b", 2);
  sys.add_gpu(130, "0000:01:00.0", "c", 3);
  sys.put(130, "vendor", "0x10de");
  const auto backend = opened(sys);
  ASSERT_EQ(backend->gpus().size(), 2U);
  EXPECT_EQ(backend->gpus()[0].bdf, "0000:05:00.0");
  EXPECT_EQ(backend->gpus()[1].bdf, "0000:c1:00.0");
}

TEST(SysfsBackend, WithoutGpuIsAnErrorThatSaysWhere) {
  const test::TempFolder empty;
  const auto backend = open_sysfs_backend(empty.path());
  ASSERT_FALSE(backend.has_value());
  EXPECT_EQ(backend.error().code, ErrorCode::kMissingTool);
  EXPECT_NE(backend.error().message().find("class/drm"), std::string::npos);
}

TEST(SysfsBackend, SecondDieOfABoardIsMeasuredByTheFirst) {
  const test::FakeSysfs sys; // two MI250X modules
  sys.add_gpu(128, "0000:c1:00.0", "a", 300, "0x7408");
  sys.add_gpu(129, "0000:c6:00.0", "b", -1, "0x7408");
  sys.add_gpu(130, "0000:d1:00.0", "c", 310, "0x7408");
  sys.add_gpu(131, "0000:d6:00.0", "d", -1, "0x7408");
  const auto backend = opened(sys);
  ASSERT_EQ(backend->gpus().size(), 4U);
  EXPECT_EQ(backend->gpus()[0].package, 0);
  EXPECT_EQ(backend->gpus()[1].package, 0);
  EXPECT_EQ(backend->gpus()[2].package, 2);
  EXPECT_EQ(backend->gpus()[3].package, 2);
}

TEST(SysfsBackend, AGpuWithoutSensorOnABoardOfItsOwnStandsByItself) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  sys.add_gpu(129, "0000:c6:00.0", "b", -1);
  EXPECT_EQ(opened(sys)->gpus()[1].package, 1);
}

TEST(PairDies, PartitionsShareTheSensorOfTheirUuid) {
  std::vector<GpuIdentity> gpus(3);
  for (int i = 0; i < 3; ++i) {
    gpus[static_cast<std::size_t>(i)].index = i;
    gpus[static_cast<std::size_t>(i)].uuid = "same";
  }
  gpus[1].power_sensor = true;
  pair_dies(gpus);
  EXPECT_EQ(gpus[0].package, 1);
  EXPECT_EQ(gpus[1].package, 1);
  EXPECT_EQ(gpus[2].package, 1);
  EXPECT_TRUE(gpus[0].secondary());
  EXPECT_FALSE(gpus[1].secondary());
}

TEST(PairDies, ASensorServesOneOtherDieOnly) {
  std::vector<GpuIdentity> gpus(3);
  for (int i = 0; i < 3; ++i) {
    gpus[static_cast<std::size_t>(i)].index = i;
    gpus[static_cast<std::size_t>(i)].two_dies = true;
  }
  gpus[0].power_sensor = true;
  pair_dies(gpus);
  EXPECT_EQ(gpus[1].package, 0);
  EXPECT_EQ(gpus[2].package, 2) << "a board has two dies, not three";
}

TEST(GpuBackend, AutomaticOnAnImitatedTreeOpensNoLibrary) {
  const test::TempFolder empty;
  GpuBackendOptions options;
  options.sysfs_root = empty.path();
  const auto backend = open_gpu_backend(options);
  ASSERT_FALSE(backend.has_value());
  EXPECT_EQ(backend.error().message().find(".so"), std::string::npos) << backend.error().message();
  EXPECT_NE(backend.error().message().find("no AMD GPU"), std::string::npos);
}

TEST(GpuBackend, ALibraryThatIsNotThereIsNamed) {
  const test::TempFolder empty;
  GpuBackendOptions options;
  options.sysfs_root = empty.path();
  options.nvml = empty.path("libnvidia-ml.so.1");
  const auto backend = open_gpu_backend(options);
  ASSERT_FALSE(backend.has_value());
  EXPECT_NE(backend.error().message().find("libnvidia-ml.so.1"), std::string::npos);
}

// HA-M6: four messages of the dynamic loader gave a line of 400 characters.
TEST(GpuBackend, LibrariesThatAreNotInstalledAreNamedShortly) {
  GpuBackendOptions options;
  options.sysfs_root = "/sys";
  options.nvml = "/nonexistent/libnvidia-ml.so.1";
  const auto opened = open_gpu_backend(options);
  if (opened)
    GTEST_SKIP() << "an AMD GPU is here";
  const std::string text = opened.error().message();
  EXPECT_NE(text.find("/nonexistent/libnvidia-ml.so.1: cannot open"), std::string::npos)
      << "one that was asked for is explained: " << text;
  options.nvml.clear();
  const auto usual = open_gpu_backend(options);
  if (usual || usual.error().message().find("nvmlInit") != std::string::npos)
    GTEST_SKIP() << "a management library is here";
  EXPECT_NE(usual.error().message().find("not installed"), std::string::npos)
      << usual.error().message();
  EXPECT_EQ(usual.error().message().find("cannot open shared object"), std::string::npos)
      << usual.error().message();
  EXPECT_LT(usual.error().message().size(), 200U) << usual.error().message();
}

} // namespace
} // namespace rankscope
