// Tests the back ends that open a vendor's library, with fake libraries (fakes/).
#include "collect/fake_sysfs.h"
#include "collect/samplers/amdsmi_power.h"
#include "collect/samplers/gpu_backend.h"
#include "collect/samplers/sampler.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

std::string fake(const std::string& name) {
  return std::string(RANKSCOPE_FAKES) + "/" + name + ".so";
}

TEST(NvmlBackend, ReadsEveryValueInItsUnit) {
  const auto opened = open_nvml_backend(fake("fake_nvml"));
  ASSERT_TRUE(opened.has_value()) << opened.error().message();
  GpuBackend& b = **opened;
  ASSERT_EQ(b.gpus().size(), 2U);
  EXPECT_EQ(b.gpus()[0].bdf, "0001:1a:00.0");
  EXPECT_EQ(b.gpus()[0].uuid, "GPU-0000-0");
  EXPECT_EQ(b.gpus()[0].name, "Fake H200");
  const GpuReading r = b.read(0);
  EXPECT_DOUBLE_EQ(r.power_w.value(), 701.5) << "the momentary power, not the average";
  EXPECT_EQ(r.vram_total_b, 2000) << "memory v2";
  EXPECT_EQ(r.vram_used_b, 1000);
  EXPECT_DOUBLE_EQ(r.gpu_busy_pct.value(), 98);
  EXPECT_DOUBLE_EQ(r.mem_busy_pct.value(), 41);
  EXPECT_DOUBLE_EQ(r.sclk_mhz.value(), 1980);
  EXPECT_DOUBLE_EQ(r.mclk_mhz.value(), 2619);
  EXPECT_DOUBLE_EQ(r.temp_c.value(), 61);
  const double joules = r.energy_j.value();
  EXPECT_DOUBLE_EQ(b.read(0).energy_j.value() - joules, 250);
}

TEST(NvmlBackend, ProcessesHaveTheirMemory) {
  const auto opened = open_nvml_backend(fake("fake_nvml"));
  ASSERT_TRUE(opened.has_value());
  EXPECT_TRUE((*opened)->tells_processes());
  const std::vector<GpuProcess> many = (*opened)->processes(0);
  ASSERT_EQ(many.size(), 80U) << "more than were room for at first";
  EXPECT_EQ(many[0].pid, 4001);
  EXPECT_EQ(many[0].vram_used_b, 1'000'000);
  EXPECT_EQ(many[79].pid, 4080);
  EXPECT_EQ(many[79].vram_used_b, 80'000'000);
  const std::vector<GpuProcess> single = (*opened)->processes(1);
  ASSERT_EQ(single.size(), 1U);
  EXPECT_FALSE(single[0].vram_used_b.has_value()) << "not told is empty, not the largest number";
  const auto old = open_nvml_backend(fake("fake_nvml_old"));
  ASSERT_TRUE(old.has_value());
  EXPECT_FALSE((*old)->tells_processes());
  EXPECT_TRUE((*old)->processes(0).empty());
}

TEST(NvmlBackend, ADividedGpuHasNoPowerAndANoteSaysSo) {
  const auto opened = open_nvml_backend(fake("fake_nvml"));
  ASSERT_TRUE(opened.has_value());
  const GpuReading r = (*opened)->read(1);
  EXPECT_FALSE(r.power_w.has_value());
  EXPECT_FALSE(r.energy_j.has_value());
  EXPECT_EQ((*opened)->gpus()[1].partition, "MIG");
  std::string notes;
  for (const std::string& note : (*opened)->notes())
    notes += note + "\n";
  EXPECT_NE(notes.find("GPU 1 is divided (MIG)"), std::string::npos) << notes;
}

TEST(NvmlBackend, AnOlderDriverGivesAveragesAndTheOlderMemory) {
  const auto opened = open_nvml_backend(fake("fake_nvml_old"));
  ASSERT_TRUE(opened.has_value());
  const GpuReading r = (*opened)->read(0);
  EXPECT_DOUBLE_EQ(r.power_w.value(), 655);
  EXPECT_EQ(r.vram_total_b, 1000);
  EXPECT_EQ(r.vram_used_b, 600);
  ASSERT_FALSE((*opened)->notes().empty());
  EXPECT_NE((*opened)->notes()[0].find("average"), std::string::npos);
}

TEST(NvmlBackend, WithoutDriverTheLibrarysOwnWordsAreTold) {
  const auto opened = open_nvml_backend(fake("fake_nvml_no_driver"));
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message().find("Driver Not Loaded"), std::string::npos);
  EXPECT_FALSE(open_nvml_backend(fake("fake_rocm_smi")).has_value()) << "another library";
}

TEST(RocmSmiBackend, ReadsEveryValueInItsUnit) {
  const auto opened = open_rocm_smi_backend(fake("fake_rocm_smi"));
  ASSERT_TRUE(opened.has_value()) << opened.error().message();
  GpuBackend& b = **opened;
  ASSERT_EQ(b.gpus().size(), 3U);
  EXPECT_EQ(b.gpus()[1].bdf, "0001:c6:00.0");
  EXPECT_EQ(b.gpus()[1].uuid, "00000000abcd0001");
  const GpuReading r = b.read(0);
  EXPECT_DOUBLE_EQ(r.power_w.value(), 423);
  EXPECT_NEAR(r.energy_j.value(), 15.3, 1e-5);
  EXPECT_EQ(r.vram_used_b, 5'000'000'000);
  EXPECT_EQ(r.vram_total_b, 64'000'000'000);
  EXPECT_DOUBLE_EQ(r.gpu_busy_pct.value(), 55);
  EXPECT_DOUBLE_EQ(r.mem_busy_pct.value(), 7);
  EXPECT_DOUBLE_EQ(r.temp_c.value(), 66);
}

TEST(RocmSmiBackend, ACounterAtZeroMarksTheSecondDie) {
  const auto opened = open_rocm_smi_backend(fake("fake_rocm_smi"));
  ASSERT_TRUE(opened.has_value());
  GpuBackend& b = **opened;
  EXPECT_EQ(b.gpus()[1].package, 0);
  EXPECT_FALSE(b.read(1).power_w.has_value()) << "0 W would be a lie";
  EXPECT_TRUE(b.read(1).vram_used_b.has_value());
  EXPECT_EQ(b.gpus()[2].package, 2);
  EXPECT_FALSE(b.read(2).power_w.has_value());
}

TEST(AmdSmiBackend, EveryStructOfPowerIsReadInWatts) {
  for (const char* release : {"fake_amdsmi_23", "fake_amdsmi_24", "fake_amdsmi_25_old",
                              "fake_amdsmi_25_new", "fake_amdsmi_26"}) {
    SCOPED_TRACE(release);
    const auto opened = open_amdsmi_backend(fake(release));
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
    GpuBackend& b = **opened;
    ASSERT_EQ(b.gpus().size(), 2U);
    EXPECT_EQ(b.gpus()[0].bdf, "0000:05:00.0");
    EXPECT_EQ(b.gpus()[1].uuid, "bbff-74a1");
    const GpuReading r = b.read(0);
    EXPECT_DOUBLE_EQ(r.power_w.value(), 699);
    EXPECT_DOUBLE_EQ(b.read(1).power_w.value(), 208) << "the average where there is no other";
    EXPECT_DOUBLE_EQ(r.energy_j.value(), 30.5);
    EXPECT_EQ(r.vram_total_b, std::int64_t{196'592} << 20);
    EXPECT_EQ(r.vram_used_b, std::int64_t{285} << 20);
    EXPECT_DOUBLE_EQ(r.gpu_busy_pct.value(), 77);
    EXPECT_FALSE(r.mem_busy_pct.has_value()) << "UINT32_MAX is no percentage";
    EXPECT_DOUBLE_EQ(r.sclk_mhz.value(), 2100);
    EXPECT_DOUBLE_EQ(r.mclk_mhz.value(), 1300);
    EXPECT_DOUBLE_EQ(r.temp_c.value(), 58);
  }
}

TEST(AmdSmiPower, WhatTheLibraryLeftAloneIsMissing) {
  AmdSmiPowerBuffer buffer;
  buffer.fill(kAmdSmiFill);
  for (const auto layout : {AmdSmiPowerLayout::kAverageOnly, AmdSmiPowerLayout::kCurrentAndAverage,
                            AmdSmiPowerLayout::kSocket64})
    EXPECT_FALSE(amdsmi_power_w(layout, buffer).has_value());
}

TEST(GpuBackend, TheFirstSourceThatReadsPowerIsTaken) {
  const test::TempFolder empty;
  GpuBackendOptions options;
  options.sysfs_root = empty.path();
  options.nvml = fake("fake_nvml");
  auto opened = open_gpu_backend(options);
  ASSERT_TRUE(opened.has_value()) << opened.error().message();
  EXPECT_EQ((*opened)->name(), "nvml");
  options.amdsmi = fake("fake_amdsmi_26");
  opened = open_gpu_backend(options);
  ASSERT_TRUE(opened.has_value());
  EXPECT_EQ((*opened)->name(), "amdsmi 26.1 + nvml") << "of two vendors";
  options.rocm_smi = fake("fake_rocm_smi");
  options.nvml.clear();
  opened = open_gpu_backend(options);
  ASSERT_TRUE(opened.has_value());
  EXPECT_EQ((*opened)->name(), "amdsmi 26.1");
  options.nvml = fake("fake_nvml");
  options.source = GpuSource::kNvml;
  opened = open_gpu_backend(options);
  ASSERT_TRUE(opened.has_value());
  EXPECT_EQ((*opened)->name(), "nvml");
}

// Regression test: sysfs reads power, but amdgpu has no file with the energy. The counter of the
// library was then not used.
TEST(GpuBackend, TheCounterOfALibraryIsAddedToSysfs) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:05:00.0", "a", 250); // the address of GPU 0 of the fake library
  sys.add_gpu(129, "0000:c2:00.0", "b", 260); // unknown to the library
  GpuBackendOptions options;
  options.sysfs_root = sys.root();
  options.amdsmi = fake("fake_amdsmi_26");
  const auto opened = open_gpu_backend(options);
  ASSERT_TRUE(opened.has_value()) << opened.error().message();
  GpuBackend& b = **opened;
  EXPECT_EQ(b.name(), "sysfs + amdsmi 26.1");
  ASSERT_EQ(b.gpus().size(), 2U);
  EXPECT_EQ(b.gpus()[0].render_node, "renderD128");
  EXPECT_DOUBLE_EQ(b.read(0).power_w.value(), 250) << "power is that of sysfs";
  EXPECT_DOUBLE_EQ(b.read(0).energy_j.value(), 30.5);
  EXPECT_DOUBLE_EQ(b.energy(0).value(), 30.5);
  EXPECT_FALSE(b.read(1).energy_j.has_value());
  sys.put(128, "hwmon/hwmon3/energy1_input", "5000000");
  sys.put(129, "hwmon/hwmon3/energy1_input", "6000000");
  const auto counted = open_gpu_backend(options);
  ASSERT_TRUE(counted.has_value());
  EXPECT_EQ((*counted)->name(), "sysfs") << "which has a counter itself";
  EXPECT_DOUBLE_EQ((*counted)->read(1).energy_j.value(), 6);
  options.source = GpuSource::kSysfs;
  sys.remove(128, "hwmon/hwmon3/energy1_input");
  const auto named = open_gpu_backend(options);
  ASSERT_TRUE(named.has_value());
  EXPECT_EQ((*named)->name(), "sysfs") << "as asked for";
}

TEST(GpuBackend, GpusOfTwoVendorsAreOneList) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 250);
  sys.add_gpu(129, "0000:c2:00.0", "b", 260);
  GpuBackendOptions options;
  options.sysfs_root = sys.root();
  options.nvml = fake("fake_nvml");
  const auto opened = open_gpu_backend(options);
  ASSERT_TRUE(opened.has_value()) << opened.error().message();
  GpuBackend& b = **opened;
  EXPECT_EQ(b.name(), "sysfs + nvml");
  EXPECT_TRUE(b.several_vendors());
  ASSERT_EQ(b.gpus().size(), 4U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(b.gpus()[static_cast<std::size_t>(i)].index, i);
    EXPECT_EQ(b.gpus()[static_cast<std::size_t>(i)].package, i);
  }
  EXPECT_EQ(b.gpus()[1].bdf, "0000:c2:00.0");
  EXPECT_EQ(b.gpus()[2].name, "Fake H200");
  EXPECT_DOUBLE_EQ(b.read(1).power_w.value(), 260);
  EXPECT_DOUBLE_EQ(b.read(2).power_w.value(), 701.5);
  EXPECT_FALSE(b.read(3).power_w.has_value());
  EXPECT_TRUE(b.processes(1).empty());
  EXPECT_EQ(b.processes(2).size(), 80U);
  // the samples contain all GPUs with their numbers
  const test::TempFolder out;
  SamplerOptions o;
  o.period = std::chrono::hours(1);
  o.backend = options;
  o.samples_csv = out.path("gpu_samples.csv");
  o.processes_csv = out.path("gpu_processes.csv");
  o.documented = {{DocumentedKind::kPower, out.path("power.csv"), "", {}, false}};
  auto sampler = Sampler::start(o);
  ASSERT_TRUE(sampler.has_value()) << sampler.error().message();
  (*sampler)->phase(Phase::kRun);
  const auto summary = (*sampler)->stop();
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->gpus.size(), 4U);
  ASSERT_EQ(summary->processes.size(), 81U);
  EXPECT_EQ(summary->processes[0].gpu, 2);
  EXPECT_EQ(summary->processes[0].pid, 4001);
  EXPECT_EQ(summary->processes[0].peak_vram_b, 1'000'000);
  EXPECT_EQ(summary->processes[80].gpu, 3);
  EXPECT_FALSE(summary->processes[80].peak_vram_b.has_value());
  const std::string processes = test::bytes_of(o.processes_csv);
  EXPECT_EQ(processes.rfind("t_mono_ns,t_unix_ns,phase,gpu,bdf,pid,vram_used_b\n", 0), 0U);
  EXPECT_NE(processes.find(",run,2,0001:1a:00.0,4080,80000000\n"), std::string::npos);
  EXPECT_NE(processes.find(",run,3,0001:3b:00.0,4001,\n"), std::string::npos);
  const std::string power = test::bytes_of(o.documented[0].path);
  EXPECT_EQ(power.substr(0, power.find('\n')),
            "time,Power(Watt) GPU0,Power(Watt) GPU1,Power(Watt) GPU2,Power(Watt) GPU3");
  // `visible` does not show which vendor's GPUs its numbers mean
  o.devices = "visible";
  const auto visible = Sampler::start(o);
  ASSERT_FALSE(visible.has_value());
  EXPECT_EQ(visible.error().code, ErrorCode::kUsage);
}

TEST(GpuBackend, ProcessesAreNoFileWhereNobodyTellsThem) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 250);
  const test::TempFolder out;
  SamplerOptions o;
  o.period = std::chrono::hours(1);
  o.backend.sysfs_root = sys.root();
  o.processes_csv = out.path("gpu_processes.csv");
  auto sampler = Sampler::start(o);
  ASSERT_TRUE(sampler.has_value());
  ASSERT_TRUE((*sampler)->stop().has_value());
  EXPECT_FALSE(std::filesystem::exists(o.processes_csv));
}

} // namespace
} // namespace rankscope
