// Tests reading of the sampler's files, and joining them with steps.
#include "collect/fake_sysfs.h"
#include "collect/samplers/read_samples.h"
#include "collect/samplers/sample_time.h"
#include "collect/samplers/sampler.h"

#include <cstdlib>
#include <ctime>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

const std::string kHead = "t_mono_ns,t_unix_ns,phase,gpu,bdf,power_w\n";

TEST(ReadSamples, PowerByGpuWithoutMissingValues) {
  const test::TempFolder t;
  const auto s = read_power_samples(
      t.write("s.csv", kHead + "1,1000,pre,0,a,100.5\n1,1001,pre,1,b,50\n2,2000,run,0,a,\n"
                               "3,3000,run,0,a,200\n3,3001,run,1,b,6"));
  ASSERT_TRUE(s.has_value()) << s.error().message();
  ASSERT_EQ(s->at(0).size(), 2U);
  EXPECT_DOUBLE_EQ(s->at(0)[0].watts, 100.5);
  EXPECT_EQ(s->at(0)[1].unix_ns, 3000);
  EXPECT_EQ(s->at(1).size(), 1U) << "the last row was cut off: 6 W may have been 60";
}

TEST(ReadSamples, OtherFilesAreErrors) {
  const test::TempFolder t;
  for (const std::string& text :
       {std::string(), std::string("a,b\n1,2\n"), kHead + "1,2\n", kHead + "1,x,run,0,a,1\n",
        kHead + "1,5,run,0,a,1 W\n", kHead + "1,9000000000000000000,run,0,a,1\n",
        kHead + "1,5,run,0,a,1\n1,4,run,0,a,1\n"})
    EXPECT_FALSE(read_power_samples(t.write("s.csv", text)).has_value()) << text;
  EXPECT_FALSE(read_power_samples(t.path("none.csv")).has_value());
}

/// Sets the time zone, because local times are in the zone of the machine.
class Zone {
public:
  explicit Zone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
  ~Zone() {
    ::unsetenv("TZ");
    ::tzset();
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;
};

TEST(ReadSamples, TimesAsProgramsWriteThem) {
  const Zone zone("UTC-2"); // two hours east of UTC
  // 2026-11-22 05:33:11 in this zone is 03:33:11 UTC: 20779 days and 12,791 s
  constexpr std::int64_t kThen = (20779LL * 86400 + 12791) * 1'000'000'000;
  EXPECT_EQ(sample_time_ns("2026/11/22 05:33:11.123"), kThen + 123'000'000);
  EXPECT_EQ(sample_time_ns("2026-11-22 05:33:11.123456"), kThen + 123'456'000);
  EXPECT_EQ(sample_time_ns("2026-11-22T05:33:11"), kThen);
  EXPECT_FALSE(sample_time_ns("4052/11/22 05:33:11")); // does not fit in 64 bits
  EXPECT_EQ(sample_time_ns("1700000000"), 1'700'000'000'000'000'000);
  EXPECT_EQ(sample_time_ns("1700000000.25"), 1'700'000'000'250'000'000);
  EXPECT_EQ(sample_time_ns("1700000000250"), 1'700'000'000'250'000'000);
  EXPECT_EQ(sample_time_ns("1700000000250000"), 1'700'000'000'250'000'000);
  EXPECT_EQ(sample_time_ns("1700000000250000000"), 1'700'000'000'250'000'000);
  for (const char* text : {"", "x", "-1", "1.x", "2026/11/22", "2026/13/22 05:33:11",
                           "2026/11/22 25:33:11", "2026/11-22 05:33:11", "2026/11/22 05:33:11x",
                           "2026/11/22 05:33:11.1x", "99999999999999999999", "9000000000000000000"})
    EXPECT_FALSE(sample_time_ns(text)) << text;
}

TEST(ReadSamples, TablesOfOtherProgramsAreRead) {
  const Zone zone("UTC");
  const test::TempFolder t;
  const auto read = [&](const std::string& text) {
    return read_power_table(t.write("p.csv", text));
  };
  const auto nvidia = read("timestamp, index, name, power.draw [W]\n"
                           "2026/11/22 05:33:11.100, 0, NVIDIA H100 80GB HBM3, 71.24 W\n"
                           "2026/11/22 05:33:11.101, 1, NVIDIA H100 80GB HBM3, [N/A]\n"
                           "2026/11/22 05:33:11.200, 0, NVIDIA H100 80GB HBM3, 90 W\n"
                           "2026/11/22 05:33:11.201, 1, NVIDIA H100 80GB HBM3, 12.5 W\n");
  ASSERT_TRUE(nvidia.has_value()) << nvidia.error().message();
  ASSERT_EQ(nvidia->gpus.at(0).size(), 2U);
  EXPECT_DOUBLE_EQ(nvidia->gpus.at(0)[0].watts, 71.24);
  EXPECT_EQ(nvidia->gpus.at(0)[1].unix_ns - nvidia->gpus.at(0)[0].unix_ns, 100'000'000);
  EXPECT_EQ(nvidia->gpus.at(1).size(), 1U);
  EXPECT_EQ(nvidia->longest_gap_ns, 250'000'000);
  EXPECT_FALSE(nvidia->clocks.has_value());

  const auto amd = read("timestamp,gpu,power_usage\r\n1700000000,0,141\r\n1700000000,1,N/A\r\n"
                        "1700000001,0,150\r\n");
  ASSERT_TRUE(amd.has_value()) << amd.error().message();
  EXPECT_EQ(amd->gpus.size(), 1U);
  EXPECT_DOUBLE_EQ(amd->gpus.at(0)[1].watts, 150);

  const auto wide =
      read("time,Power(Watt) GPU0,Power(Watt) GPU1,Power(Watt) GPU0+1\n"
           "2026-11-22 05:33:11.100000,100,N/A,1\n2026-11-22 05:33:12.100000,101,7,1\n");
  ASSERT_TRUE(wide.has_value()) << wide.error().message();
  EXPECT_EQ(wide->gpus.at(0).size(), 2U);
  EXPECT_EQ(wide->gpus.at(1).size(), 1U);
  EXPECT_EQ(wide->gpus.size(), 2U);

  const auto table = read(kHead + "5,1000,run,0,a,1\n9,1004,run,0,a,1\n");
  ASSERT_TRUE(table.has_value() && table->clocks.has_value());
  EXPECT_EQ(table->clocks->first.monotonic_ns, 5);
  EXPECT_EQ(table->clocks->second.unix_ns, 1004);

  for (const char* text : {"timestamp, power.draw [W]\n1, 2 W\n", "time,vram(%) GPU0\n",
                           "timestamp,gpu,power_usage\nyesterday,0,1\n",
                           "timestamp,gpu,power_usage\n1700000000,0,much\n"})
    EXPECT_FALSE(read(text).has_value()) << text;
}

// If power falls from 400 to 200 W between two samples, only the range of the energy is known, from
// 200 to 400 W. A fall to 395 W is precise enough.
TEST(ReadSamples, StepsOfARunGetTheEnergyOfTheSampler) {
  for (const double watts : {200.0, 395.0}) {
    const test::FakeSysfs sys;
    sys.add_gpu(128, "0000:c1:00.0", "a", 400);
    const test::TempFolder out;
    SamplerOptions o;
    o.period = std::chrono::hours(1);
    o.backend.sysfs_root = sys.root();
    o.samples_csv = out.path("gpu_samples.csv");
    auto sampler = Sampler::start(o);
    ASSERT_TRUE(sampler.has_value());
    (*sampler)->phase(Phase::kRun);
    sys.set_watts(128, watts);
    (*sampler)->phase(Phase::kPost);
    const auto summary = (*sampler)->stop();
    ASSERT_TRUE(summary.has_value());
    const auto samples = read_power_samples(o.samples_csv);
    ASSERT_TRUE(samples.has_value());
    const std::vector<PowerSample>& gpu = samples->at(0);
    ASSERT_EQ(gpu.size(), 3U);
    const TimeSpan run{gpu[1].unix_ns, gpu[2].unix_ns};
    const double seconds = static_cast<double>(run.end_ns - run.begin_ns) / 1e9;
    const auto joules = span_energy(gpu, {&run, 1}, 3'600'000'000'000);
    const GpuSummary& sum = summary->gpus[0];
    EXPECT_NEAR(joules[0].value().joules, seconds * (400 + watts) / 2, 1e-9);
    EXPECT_NEAR(joules[0].value().joules, sum.sampled_joules.value(), 1e-6);
    EXPECT_NEAR(joules[0].value().low, sum.joules_low.value(), 1e-6);
    EXPECT_NEAR(joules[0].value().high, sum.joules_high.value(), 1e-6);
    EXPECT_EQ(sum.joules.has_value(), watts > 300);
    EXPECT_EQ(is_aliased(joules[0]->joules, joules[0]->low, joules[0]->high), watts < 300);
  }
}

} // namespace
} // namespace rankscope
