// Tests the sampler on an imitated machine: its files, its schedule, its sums.
#include "collect/fake_sysfs.h"
#include "collect/samplers/sampler.h"
#include "collect/samplers/schedule.h"
#include "temp_folder.h"

#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace rankscope {
namespace {

using namespace std::chrono_literals;
using Rows = std::vector<std::vector<std::string>>;

/// Returns the cells of a CSV file without quotes.
Rows rows_of(const std::string& path) {
  Rows rows;
  std::istringstream in(test::bytes_of(path));
  for (std::string line; std::getline(in, line);) {
    rows.emplace_back();
    std::size_t begin = 0;
    for (std::size_t comma = 0; comma != std::string::npos; begin = comma + 1) {
      comma = line.find(',', begin);
      rows.back().push_back(line.substr(begin, comma - begin));
      if (comma == std::string::npos)
        break;
    }
  }
  return rows;
}

SamplerOptions options_for(const test::FakeSysfs& sys, const test::TempFolder& out) {
  SamplerOptions o;
  o.period = 5ms;
  o.backend.sysfs_root = sys.root();
  o.samples_csv = out.path("gpu_samples.csv");
  return o;
}

/// Waits until the table has more than `rows` rows below its header, also on a slow machine.
void wait_for_rows(const std::string& path, std::size_t rows) {
  for (int i = 0; i < 12'000 && rows_of(path).size() < rows + 2; ++i)
    std::this_thread::sleep_for(5ms);
}

TEST(Sampler, FirstSampleIsThereBeforeStartReturns) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 250);
  const test::TempFolder out;
  SamplerOptions o = options_for(sys, out);
  o.period = 1h;
  const auto sampler = Sampler::start(o);
  ASSERT_TRUE(sampler.has_value()) << sampler.error().message();
  const Rows rows = rows_of(o.samples_csv);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][0], "t_mono_ns");
  EXPECT_EQ(rows[1][2], "pre");
  EXPECT_EQ(rows[1][3], "0");
  EXPECT_EQ(rows[1][4], "0000:c1:00.0");
  EXPECT_EQ(rows[1][5], "250.000");
  EXPECT_EQ(rows[1][6], "") << "no counter: empty, not zero";
  EXPECT_EQ(rows[1][7], "17179869184");
  EXPECT_EQ(rows[0].size(), rows[1].size());
}

TEST(Sampler, EndsAtOnceWhateverThePeriod) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 250);
  const test::TempFolder out;
  SamplerOptions o = options_for(sys, out);
  o.period = 1h;
  auto sampler = Sampler::start(o);
  ASSERT_TRUE(sampler.has_value());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE((*sampler)->stop().has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10min);
}

// With a simulated clock: neither the duration nor the delay of a tick moves later ticks.
TEST(SamplerSchedule, DoesNotDriftAndCountsWhatItMissed) {
  Schedule s;
  s.period_ns = 100;
  s.next_ns = 1000;
  EXPECT_FALSE(s.due(999));
  EXPECT_TRUE(s.due(1000));
  EXPECT_FALSE(s.due(1000)) << "once";
  EXPECT_FALSE(s.due(1099));
  EXPECT_TRUE(s.due(1130)) << "30 late";
  EXPECT_EQ(s.next_ns, 1200) << "not 1230";
  EXPECT_TRUE(s.due(1200));
  EXPECT_EQ(s.missed, 0U);
  EXPECT_EQ(s.worst_late_ns, 30);
  // a reading of 3.5 periods: tick 1300 is late, 1400 to 1600 are missed, 1700 is on time
  EXPECT_TRUE(s.due(1650));
  EXPECT_EQ(s.missed, 3U);
  EXPECT_EQ(s.next_ns, 1700);
  EXPECT_EQ(s.worst_late_ns, 350);
  EXPECT_TRUE(s.due(1700));
  EXPECT_EQ(s.ticks, 5U);
  // each period was served or missed: the tick at 1700 is the eighth from 1000 on
  EXPECT_EQ(s.ticks + s.missed, 8U);
}

TEST(SamplerSchedule, EveryPeriodIsServedOrMissedWhateverATickTakes) {
  Schedule s;
  s.period_ns = 5'000'000;
  std::int64_t now = 0;
  std::uint64_t random = 7;
  for (int i = 0; i < 10'000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    now = std::max(now, s.next_ns) + static_cast<std::int64_t>(random >> 40U); // up to 16.8 ms late
    ASSERT_TRUE(s.due(now));
    ASSERT_EQ(s.next_ns % s.period_ns, 0);
    ASSERT_GT(s.next_ns, now);
    ASSERT_LE(s.next_ns - now, s.period_ns);
    ASSERT_EQ(static_cast<std::int64_t>(s.ticks + s.missed) * s.period_ns, s.next_ns);
  }
  EXPECT_GT(s.missed, 1000U);
}

TEST(Sampler, ItsThreadKeepsTheSchedule) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 250);
  const test::TempFolder out;
  const SamplerOptions o = options_for(sys, out);
  auto sampler = Sampler::start(o);
  ASSERT_TRUE(sampler.has_value());
  wait_for_rows(o.samples_csv, 20);
  const auto summary = (*sampler)->stop();
  ASSERT_TRUE(summary.has_value());
  EXPECT_GT(summary->cpu_s, 0);
  const Rows rows = rows_of(o.samples_csv);
  ASSERT_GT(rows.size(), 20U);
  ASSERT_EQ(rows.size(), summary->ticks + 1);
  // a busy machine delays ticks, but a tick is never early: row k is at or after period k, and the
  // last row is at or after all periods that were served or missed
  const long long first = std::stoll(rows[1][0]);
  const auto period_of = [&](std::size_t row) {
    return static_cast<std::size_t>((std::stoll(rows[row][0]) - first + 200'000) / 5'000'000);
  };
  for (std::size_t i = 1; i < rows.size(); ++i)
    EXPECT_GE(period_of(i), i - 1) << "row " << i;
  EXPECT_GE(period_of(rows.size() - 1), summary->ticks + summary->missed - 1);
}

TEST(Sampler, PhasesSplitTheRowsAndTheSums) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 50); // idle
  const test::TempFolder out;
  SamplerOptions o = options_for(sys, out);
  o.period = 1h; // only phase boundaries
  auto sampler = Sampler::start(o);
  ASSERT_TRUE(sampler.has_value());
  sys.set_watts(128, 400);
  sys.put(128, "mem_info_vram_used", "1000");
  const auto begin = std::chrono::steady_clock::now();
  (*sampler)->phase(Phase::kRun);
  std::this_thread::sleep_for(60ms);
  sys.put(128, "mem_info_vram_used", "900");
  (*sampler)->phase(Phase::kPost);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  sys.set_watts(128, 10);
  sys.put(128, "mem_info_vram_used", "999999");
  const auto summary = (*sampler)->stop();
  ASSERT_TRUE(summary.has_value());
  const Rows rows = rows_of(o.samples_csv);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1][2], "pre");
  EXPECT_EQ(rows[2][2], "run");
  EXPECT_EQ(rows[3][2], "post");
  ASSERT_EQ(summary->gpus.size(), 1U);
  const GpuSummary& gpu = summary->gpus[0];
  EXPECT_EQ(gpu.samples, 2U);
  EXPECT_DOUBLE_EQ(gpu.mean_w.value(), 400) << "idle samples do not dilute it";
  EXPECT_DOUBLE_EQ(gpu.max_w.value(), 400);
  const double seconds = static_cast<double>(std::stoll(rows[3][0]) - std::stoll(rows[2][0])) / 1e9;
  EXPECT_NEAR(gpu.joules.value(), 400 * seconds, 1e-6);
  EXPECT_EQ(gpu.peak_vram_b, 1000);
  EXPECT_GE(summary->run_s, 0.06);
  EXPECT_LE(summary->run_s, elapsed.count());
}

TEST(Sampler, DocumentedCsvs) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300, "0x7408");
  sys.add_gpu(129, "0000:c6:00.0", "b", -1, "0x7408");
  const test::TempFolder out;
  SamplerOptions o = options_for(sys, out);
  o.samples_csv.clear();
  o.period = 1h;
  o.documented = {{DocumentedKind::kPower, out.path("power.csv"), "", 0ns, false},
                  {DocumentedKind::kVram, out.path("vram.csv"), "", 0ns, true},
                  {DocumentedKind::kPower, out.path("one.csv"), "1", 0ns, false}};
  auto sampler = Sampler::start(o);
  ASSERT_TRUE(sampler.has_value()) << sampler.error().message();
  sys.remove(128, "hwmon/hwmon3/power1_average");
  const auto summary = (*sampler)->stop();
  ASSERT_TRUE(summary.has_value());
  const std::string power = test::bytes_of(o.documented[0].path);
  EXPECT_EQ(power.substr(0, power.find('\n')), "time,Power(Watt) GPU0");
  const Rows rows = rows_of(o.documented[0].path);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1][0].size(), std::string("2026-01-02 03:04:05.123456").size());
  EXPECT_EQ(rows[1][1], "300.000");
  const Rows vram = rows_of(o.documented[1].path);
  EXPECT_EQ(vram[0],
            (std::vector<std::string>{"time", "vram(%) GPU0", "vram(%) GPU1", "vram(%) GPU0+1"}));
  EXPECT_EQ(vram[1][1], "25.0000");
  EXPECT_EQ(vram[1][3], "25.0000");
  const Rows power_rows = rows_of(o.documented[2].path);
  EXPECT_EQ(power_rows[0][1], "Power(Watt) GPU0")
      << "the die that measures stands for the second one";
  bool noted = false;
  for (const std::string& note : summary->notes)
    noted = noted || note.find("GPU 1 has no power sensor") != std::string::npos;
  EXPECT_TRUE(noted);
}

TEST(Sampler, DocumentedCsvsHaveTheirOwnPeriod) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  const test::TempFolder out;
  SamplerOptions o = options_for(sys, out);
  o.period = 1h;
  o.documented = {{DocumentedKind::kPower, out.path("power.csv"), "", 5ms, false}};
  auto sampler = Sampler::start(o);
  ASSERT_TRUE(sampler.has_value());
  wait_for_rows(o.documented[0].path, 5);
  ASSERT_TRUE((*sampler)->stop().has_value());
  EXPECT_GT(rows_of(o.documented[0].path).size(), 5U);
  EXPECT_EQ(rows_of(o.samples_csv).size(), 2U);
}

TEST(Sampler, AGpuThatIsPulledOutLeavesEmptyCells) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  sys.add_gpu(129, "0000:c2:00.0", "b", 200);
  const test::TempFolder out;
  SamplerOptions o = options_for(sys, out);
  o.period = 1h;
  auto sampler = Sampler::start(o);
  ASSERT_TRUE(sampler.has_value());
  sys.unplug(129);
  (*sampler)->phase(Phase::kRun);
  const auto summary = (*sampler)->stop();
  ASSERT_TRUE(summary.has_value());
  const Rows rows = rows_of(o.samples_csv);
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_EQ(rows[3][5], "300.000");
  EXPECT_EQ(rows[4][5], "");
  EXPECT_EQ(rows[4][7], "");
  EXPECT_EQ(summary->gpus[1].missing_power, 2U);
  EXPECT_FALSE(summary->gpus[1].mean_w.has_value());
}

TEST(Sampler, WrongDevicesAndNoGpuFailBeforeAnythingRuns) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  const test::TempFolder out;
  SamplerOptions o = options_for(sys, out);
  o.devices = "0,3";
  const auto wrong = Sampler::start(o);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::kUsage);
  const test::TempFolder none;
  o.devices = "all";
  o.backend.sysfs_root = none.path();
  const auto missing = Sampler::start(o);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kMissingTool);
  o.backend.sysfs_root = sys.root();
  o.samples_csv = "/proc/no/such/folder/x.csv";
  const auto unwritable = Sampler::start(o);
  ASSERT_FALSE(unwritable.has_value());
  EXPECT_EQ(unwritable.error().code, ErrorCode::kOutput);
}

TEST(Sampler, TheHostAlone) {
  const test::TempFolder out;
  out.write("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\n");
  out.write("proc/meminfo", "MemTotal:  1000 kB\nMemFree: 5 kB\nMemAvailable:  400 kB\n");
  out.write("proc/loadavg", "1.50 1.0 0.5 2/300 4000\n");
  SamplerOptions o;
  o.devices = "none";
  o.period = 1h;
  o.proc_root = out.path("proc");
  o.host_csv = out.path("host_samples.csv");
  auto sampler = Sampler::start(o);
  ASSERT_TRUE(sampler.has_value()) << sampler.error().message();
  (*sampler)->phase(Phase::kRun);
  out.write("proc/stat", "cpu  150 0 125 825 0 0 0 0 0 0\n"); // 75 of 100 ticks busy
  const auto summary = (*sampler)->stop();
  ASSERT_TRUE(summary.has_value());
  const Rows rows = rows_of(o.host_csv);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1][3], "") << "a load needs two readings";
  EXPECT_EQ(rows[3][3], "75.00");
  EXPECT_EQ(rows[3][4], "614400");
  EXPECT_EQ(rows[3][5], "1024000");
  EXPECT_EQ(rows[3][6], "1.50");
  EXPECT_DOUBLE_EQ(summary->host.mean_cpu_pct.value(), 75);
  EXPECT_EQ(summary->host.peak_memory_b, 614400);
  EXPECT_TRUE(summary->gpus.empty());
}

TEST(Sampler, AFullDiskIsToldAtTheEnd) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  SamplerOptions o;
  o.backend.sysfs_root = sys.root();
  o.samples_csv = "/dev/full";
  const auto sampler = Sampler::start(o);
  ASSERT_FALSE(sampler.has_value());
  EXPECT_EQ(sampler.error().code, ErrorCode::kOutput);
}

// 300 W for 1 s, then rising to 500 W within 2 s: 300 + 2 * 400 = 1100 J in 3 s from the samples.
// The counter gives 1090 J and takes precedence.
TEST(GpuAccumulator, SumsByHand) {
  GpuAccumulator a(GpuIdentity{}, 1'000'000'000);
  const auto at = [](double w, double joules) {
    GpuReading r;
    r.power_w = w;
    r.energy_j = joules;
    return r;
  };
  a.add(0, Phase::kPre, Phase::kPre, at(9999, 1));
  a.add(10'000'000'000, Phase::kPre, Phase::kRun, at(300, 5000));
  a.add(11'000'000'000, Phase::kRun, Phase::kRun, at(300, 5300));
  a.add(13'000'000'000, Phase::kRun, Phase::kPost, at(500, 6090));
  a.add(14'000'000'000, Phase::kPost, Phase::kPost, at(7777, 99999));
  const GpuSummary s = a.summary();
  EXPECT_EQ(s.samples, 3U);
  EXPECT_DOUBLE_EQ(s.joules.value(), 1090);
  EXPECT_DOUBLE_EQ(s.sampled_joules.value(), 1100);
  EXPECT_DOUBLE_EQ(s.counter_joules.value(), 1090);
  EXPECT_NEAR(s.mean_w.value(), 1090.0 / 3, 1e-9);
  EXPECT_NEAR(s.sampling_error.value(), 10.0 / 1090, 1e-9);
  EXPECT_DOUBLE_EQ(s.covered, 1);
  EXPECT_DOUBLE_EQ(s.median_w.value(), 300);
  EXPECT_NEAR(s.p95_w.value(), 480, 1e-9); // 0.9 of the way from 300 to 500
  EXPECT_DOUBLE_EQ(s.max_w.value(), 500);
  EXPECT_DOUBLE_EQ(s.gap_s, 0);
}

constexpr std::int64_t kSecondNs = 1'000'000'000;

GpuReading reading_of(double w, std::optional<double> joules) {
  GpuReading r;
  r.power_w = w;
  r.energy_j = joules;
  return r;
}

// Quantiles are rounded to 0.1 W, but stay within the samples.
TEST(GpuAccumulator, QuantilesAreAtMostTheMaximum) {
  GpuAccumulator a(GpuIdentity{}, kSecondNs);
  for (int i = 0; i < 3; ++i)
    a.add(i * kSecondNs, i == 0 ? Phase::kPre : Phase::kRun, Phase::kRun,
          reading_of(412.353, std::nullopt));
  EXPECT_DOUBLE_EQ(a.summary().max_w.value(), 412.353);
  EXPECT_DOUBLE_EQ(a.summary().median_w.value(), 412.353);
  EXPECT_DOUBLE_EQ(a.summary().p95_w.value(), 412.353);
}

// A short kernel shows in one sample of 200: on average, the GPU is busy for less than 1 %.
TEST(GpuAccumulator, AShortLoadIsNotLostInTheMean) {
  GpuAccumulator a(GpuIdentity{}, kSecondNs);
  GpuReading reading;
  for (int i = 0; i < 200; ++i) {
    reading.gpu_busy_pct = i == 50 ? 90 : 0;
    a.add(i * kSecondNs, i == 0 ? Phase::kPre : Phase::kRun, Phase::kRun, reading);
  }
  EXPECT_DOUBLE_EQ(a.summary().mean_busy_pct.value(), 0.45);
  EXPECT_DOUBLE_EQ(a.summary().max_busy_pct.value(), 90);
}

// HA-B1: power varies with the sampling period, so each sample is at a maximum.
TEST(GpuAccumulator, EnergyIsWhatTheCounterSays) {
  GpuAccumulator a(GpuIdentity{}, kSecondNs);
  for (int i = 0; i <= 20; ++i)
    a.add(i * kSecondNs, i == 0 ? Phase::kPre : Phase::kRun, Phase::kRun,
          reading_of(700, 1000 + 350.0 * i));
  SamplerSummary s;
  s.gpus = {a.summary()};
  EXPECT_DOUBLE_EQ(s.gpus[0].joules.value(), 7000);
  EXPECT_DOUBLE_EQ(s.gpus[0].mean_w.value(), 350);
  EXPECT_STREQ(s.gpus[0].energy_source(), "counter");
  const auto doubts = energy_doubts(s);
  ASSERT_EQ(doubts.size(), 1U);
  EXPECT_EQ(doubts[0].kind, EnergyDoubt::Kind::kSamplesDiffer);
  EXPECT_DOUBLE_EQ(doubts[0].counter_j, 7000);
  EXPECT_DOUBLE_EQ(doubts[0].sampled_j, 14000);
}

TEST(GpuAccumulator, ACounterThatIsReadMoreOftenThanItChanges) {
  // 100 W, sampled as 104 W every second; the counter changes at 3, 6, 9 s
  GpuAccumulator a(GpuIdentity{}, kSecondNs);
  for (int i = 0; i <= 10; ++i)
    a.add(i * kSecondNs, i == 0 ? Phase::kPre : Phase::kRun, Phase::kRun,
          reading_of(104, 300.0 * (i / 3)));
  const GpuSummary s = a.summary();
  EXPECT_DOUBLE_EQ(s.counter_joules.value(), 600) << "from its first to its last change";
  EXPECT_DOUBLE_EQ(s.joules.value(), 600 + 4 * 104);
  EXPECT_DOUBLE_EQ(s.covered, 1);
}

// HA-B8: the counter falls to 0 at 4 s; power is always 250 W.
TEST(GpuAccumulator, AResetOfTheCounterIsSummedAround) {
  GpuAccumulator a(GpuIdentity{}, kSecondNs);
  for (int i = 0; i <= 8; ++i)
    a.add(i * kSecondNs, i == 0 ? Phase::kPre : Phase::kRun, Phase::kRun,
          reading_of(250, i < 4 ? 9000 + 250.0 * i : 250.0 * (i - 4)));
  SamplerSummary s;
  s.gpus = {a.summary()};
  EXPECT_DOUBLE_EQ(s.gpus[0].joules.value(), 2000);
  EXPECT_EQ(s.gpus[0].counter_resets, 1U);
  ASSERT_EQ(energy_doubts(s).size(), 1U);
  EXPECT_EQ(energy_doubts(s)[0].kind, EnergyDoubt::Kind::kCounterReset);
}

// HA-B7: the GPU is lost after half of the run.
TEST(GpuAccumulator, AGpuThatIsLostIsTold) {
  GpuAccumulator a(GpuIdentity{}, kSecondNs);
  for (int i = 0; i <= 20; ++i)
    a.add(i * kSecondNs, i == 0 ? Phase::kPre : Phase::kRun, Phase::kRun,
          i <= 10 ? reading_of(220, std::nullopt) : GpuReading{});
  SamplerSummary s;
  s.gpus = {a.summary()};
  EXPECT_DOUBLE_EQ(s.gpus[0].joules.value(), 2200);
  EXPECT_DOUBLE_EQ(s.gpus[0].covered, 0.5);
  EXPECT_DOUBLE_EQ(s.gpus[0].lost_s, 10);
  ASSERT_EQ(energy_doubts(s).size(), 1U);
  EXPECT_EQ(energy_doubts(s)[0].kind, EnergyDoubt::Kind::kLostGpu);
}

TEST(GpuAccumulator, WithoutACounterPowerThatSwingsIsARange) {
  GpuAccumulator a(GpuIdentity{}, kSecondNs);
  for (int i = 0; i <= 10; ++i)
    a.add(i * kSecondNs, i == 0 ? Phase::kPre : Phase::kRun, Phase::kRun,
          reading_of(i % 2 == 0 ? 100 : 700, std::nullopt));
  SamplerSummary s;
  s.gpus = {a.summary()};
  EXPECT_FALSE(s.gpus[0].joules.has_value());
  EXPECT_FALSE(s.gpus[0].mean_w.has_value());
  // 4000 J; each residual is 600 W, so the standard error is sqrt(10 * 600^2 / 1.5) = 1549 J, and
  // t with 10 degrees of freedom is 2.228
  EXPECT_NEAR(s.gpus[0].joules_low.value(), 4000 - 2.228 * 1549.2, 1);
  EXPECT_NEAR(s.gpus[0].joules_high.value(), 4000 + 2.228 * 1549.2, 1);
  ASSERT_EQ(energy_doubts(s).size(), 1U);
  EXPECT_EQ(energy_doubts(s)[0].kind, EnergyDoubt::Kind::kAliased);
}

TEST(GpuAccumulator, MissingPowerIsAGapNotZero) {
  GpuAccumulator a(GpuIdentity{}, 1'000'000'000);
  GpuReading r;
  r.power_w = 200;
  a.add(0, Phase::kRun, Phase::kRun, r);
  a.add(1'000'000'000, Phase::kRun, Phase::kRun, GpuReading{});
  a.add(2'000'000'000, Phase::kRun, Phase::kRun, GpuReading{});
  a.add(3'000'000'000, Phase::kRun, Phase::kRun, r);
  const GpuSummary s = a.summary();
  EXPECT_EQ(s.samples, 4U);
  EXPECT_EQ(s.missing_power, 2U);
  EXPECT_DOUBLE_EQ(s.joules.value(), 600);
  EXPECT_DOUBLE_EQ(s.gap_s, 3);
  EXPECT_DOUBLE_EQ(s.median_w.value(), 200);
}

TEST(GpuAccumulator, AConstantPowerIsItsOwnMean) {
  GpuAccumulator a(GpuIdentity{}, 20'000'000);
  GpuReading r;
  r.power_w = 350;
  std::int64_t t = 0;
  for (int i = 0; i < 200; ++i) {
    a.add(t, Phase::kRun, Phase::kRun, r);
    t += 20'000'000 + i * 7919; // uneven times, so that sums are rounded
    EXPECT_EQ(a.summary().mean_w.value_or(350), 350) << i;
  }
}

TEST(SamplerEnvironment, BothSpellingsAndThePrefixWins) {
  DocumentedCsv csv;
  ASSERT_TRUE(apply_sampler_environment({{"DEVICE", "0,1"},
                                         {"SAMPLING_RATE", "0.5"},
                                         {"MODE", "power"},
                                         {"DUAL-GCD", "true"},
                                         {"OUTPUT_FILE", "a.csv"}},
                                        csv)
                  .has_value());
  EXPECT_EQ(csv.devices, "0,1");
  EXPECT_EQ(csv.period, 500ms);
  EXPECT_TRUE(csv.dual_gcd);
  EXPECT_EQ(csv.path, "a.csv");
  ASSERT_TRUE(apply_sampler_environment({{"DEVICE", "0,1"},
                                         {"POWER_DEVICE", "all"},
                                         {"POWER_SAMPLING_RATE", "0.1"},
                                         {"DUAL_GCD", "true"},
                                         {"POWER_DUAL_GCD", "false"},
                                         {"VRAM_DEVICE", "7"},
                                         {"POWER_OUTPUT_FILE", "b.csv"}},
                                        csv)
                  .has_value());
  EXPECT_EQ(csv.devices, "all");
  EXPECT_EQ(csv.period, 100ms);
  EXPECT_FALSE(csv.dual_gcd);
  EXPECT_EQ(csv.path, "b.csv");
}

TEST(SamplerEnvironment, WrongValuesAreNamed) {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"VRAM_SAMPLING_RATE", "0"},
                                                        {"SAMPLING_RATE", "fast"},
                                                        {"MODE", "power"},
                                                        {"DUAL_GCD", "1"}}) {
    DocumentedCsv csv;
    csv.kind = DocumentedKind::kVram;
    const auto result = apply_sampler_environment({{name, value}}, csv);
    ASSERT_FALSE(result.has_value()) << name;
    EXPECT_NE(result.error().message().find(name), std::string::npos);
  }
}

TEST(SamplerPeriod, Texts) {
  EXPECT_EQ(*parse_period("0.1"), 100ms);
  EXPECT_EQ(*parse_period("100ms"), 100ms);
  EXPECT_EQ(*parse_period("500us"), 500us);
  EXPECT_EQ(*parse_period("100us"), 100us) << "HA-B37";
  EXPECT_EQ(*parse_period("2s"), 2s);
  for (const char* text : {"", "0", "-1", "nan", "1m", "1e9", "0.1 ", "5ns"})
    EXPECT_FALSE(parse_period(text).has_value()) << text;
}

} // namespace
} // namespace rankscope
