// What the sampler wrote, read back and joined with steps.
#include "collect/fake_sysfs.h"
#include "collect/samplers/read_samples.h"
#include "collect/samplers/sampler.h"

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
        kHead + "1,5,run,0,a,1 W\n", kHead + "1,5,run,0,a,1\n1,4,run,0,a,1\n"})
    EXPECT_FALSE(read_power_samples(t.write("s.csv", text)).has_value()) << text;
  EXPECT_FALSE(read_power_samples(t.path("none.csv")).has_value());
}

TEST(ReadSamples, StepsOfARunGetTheEnergyOfTheSampler) {
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
  sys.set_watts(128, 200);
  (*sampler)->phase(Phase::kPost);
  const auto summary = (*sampler)->stop();
  ASSERT_TRUE(summary.has_value());
  const auto samples = read_power_samples(o.samples_csv);
  ASSERT_TRUE(samples.has_value());
  const std::vector<PowerSample>& gpu = samples->at(0);
  ASSERT_EQ(gpu.size(), 3U);
  const TimeSpan run{gpu[1].unix_ns, gpu[2].unix_ns};
  const auto joules = span_energy(gpu, {&run, 1}, 3'600'000'000'000);
  EXPECT_NEAR(joules[0].value(), summary->gpus[0].joules.value(), 1e-6);
}

} // namespace
} // namespace rankscope
