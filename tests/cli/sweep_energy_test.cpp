// Tests rankscope sweep --sample on an imitated machine: energy of runs and of profiler steps.
#include "collect/fake_sysfs.h"
#include "run_binary.h"
#include "sanitized.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace rankscope {
namespace {

class SweepEnergy : public ::testing::Test {
protected:
  void SetUp() override {
    sys_.add_gpu(128, "0000:c1:00.0", "a", 300);
    sys_.add_gpu(129, "0000:c2:00.0", "b", 100);
  }
  [[nodiscard]] test::RunResult sweep(const std::vector<std::string>& flags,
                                      const std::string& script) const {
    std::vector<std::string> all = {
        "sweep",           "-o",   folder_.path("sweep"), "--no-nccl-log", "-t", "256", "--sample",
        "--sample-period", "50ms", "--sysfs-root",        sys_.root()};
    all.insert(all.end(), flags.begin(), flags.end());
    all.insert(all.end(), {"--", "sh", "-c", script});
    return test::run_binary(all);
  }
  /// Returns column `name` of metrics.csv by "setting,repeat".
  [[nodiscard]] std::map<std::string, std::string> column(const std::string& name) const {
    std::istringstream csv(test::bytes_of(folder_.path("sweep/metrics.csv")));
    const auto cells = [](const std::string& line) {
      std::vector<std::string> out(1);
      for (const char c : line)
        if (c == ',')
          out.emplace_back();
        else
          out.back() += c;
      return out;
    };
    std::string line;
    std::getline(csv, line);
    const std::vector<std::string> header = cells(line);
    const auto at =
        static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
    std::map<std::string, std::string> out;
    while (std::getline(csv, line))
      out[cells(line)[0] + "," + cells(line)[1]] = cells(line).at(at);
    return out;
  }

  test::FakeSysfs sys_;
  test::TempFolder folder_;
};

// HA-M4: the setting that takes three times as long uses three times the energy.
TEST_F(SweepEnergy, SettingsAreComparedByTheEnergyOfTheirRuns) {
  const auto r = sweep({"-c", "28,56", "--repeats", "3", "--metric", "took ([0-9]+)"},
                       "if [ $NCCL_MAX_NCHANNELS = 28 ]; then sleep 0.2; else sleep 0.6; fi; "
                       "echo took $NCCL_MAX_NCHANNELS");
  EXPECT_EQ(r.code, 0) << r.err;
  const auto joules = column("joules");
  ASSERT_EQ(joules.size(), 6U);
  // start and end of a sanitized program take longer, and samples are taken during that time
  const double most = test::sanitized_program() ? 120 : 40;
  for (const auto& [run, text] : joules) {
    const double seconds = std::stod(column("seconds")[run]);
    EXPECT_NEAR(std::stod(text), 400 * seconds, most) << run;
  }
  EXPECT_NE(r.out.find("256thread_28ch uses the least energy: "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("J per run more than 256thread_28ch"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("256thread_28ch is best: 28.0"), std::string::npos)
      << "of time too: " << r.out;
  // the energy of a reused run is calculated from its samples
  const auto again = sweep({"-c", "28,56", "--repeats", "3", "--metric", "took ([0-9]+)"},
                           "if [ $NCCL_MAX_NCHANNELS = 28 ]; then sleep 0.2; else sleep 0.6; fi; "
                           "echo took $NCCL_MAX_NCHANNELS");
  EXPECT_NE(again.err.find("done in an earlier run"), std::string::npos) << again.err;
  EXPECT_EQ(column("joules"), joules);
}

TEST_F(SweepEnergy, StepsOfATraceHaveTheEnergyOfAllGpus) {
  const std::string script = R"(now=$(date +%s%N); sleep 0.8
cat > $RANKSCOPE_RUN_DIR/rank0.json <<END
{"schemaVersion":1,"baseTimeNanoseconds":$now,"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":100000,"dur":200000},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":300000,"dur":200000},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":1,"tid":1,"ts":500000,"dur":90000000},
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":110000,"dur":5,
 "args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":110010,"dur":1000,
 "args":{"device":0,"stream":7,"correlation":1}}],
"distributedInfo":{"rank":0}}
END
)";
  const auto r = sweep({"-c", "28,56", "--repeats", "2"}, script);
  EXPECT_EQ(r.code, 0) << r.err;
  const auto steps = column("joules_per_step");
  ASSERT_EQ(steps.size(), 4U);
  for (const auto& [run, text] : steps) // 400 W for 0.2 s; the third step ends after the run
    EXPECT_NEAR(std::stod("0" + text), 80, 8) << run;
  EXPECT_NE(r.out.find("J per step"), std::string::npos) << r.out;
  // settings are not compared if two runs of a setting have exactly the same energy
  EXPECT_TRUE(r.out.find("No setting differs significantly from ") != std::string::npos ||
              r.out.find("The energy of the settings is not compared") != std::string::npos)
      << r.out;
}

// A batch of 32 takes longer than one of 16, because it does more work: neither is recommended.
TEST_F(SweepEnergy, SettingsWithDifferentWorkAreNotRanked) {
  const std::string script = R"(now=$(date +%s%N); sleep 0.5
cat > $RANKSCOPE_RUN_DIR/rank0.json <<END
{"schemaVersion":1,"baseTimeNanoseconds":$now,"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":100000,"dur":100000},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":200000,"dur":100000},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":110000,"dur":20,"args":
 {"External id":1,"Input Dims":[[$NCCL_MAX_NCHANNELS,512],[512,512]],"Input type":["float","float"]}},
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":110005,"dur":5,
 "args":{"correlation":1,"External id":1}},
{"ph":"X","cat":"kernel","name":"Cijk_Ailk_Bljk_BBS_BH_MT128x128x32","pid":0,"tid":7,"ts":110010,
 "dur":${NCCL_MAX_NCHANNELS}00,"args":{"device":0,"stream":7,"correlation":1,"External id":1}}],
"distributedInfo":{"rank":0}}
END
)";
  const auto search = sweep({"-c", "16,32", "--search"}, script);
  EXPECT_EQ(search.code, 0) << search.err;
  EXPECT_NE(search.out.find("do different work per step"), std::string::npos) << search.out;
  EXPECT_EQ(search.out.find("recommended"), std::string::npos) << search.out;
  EXPECT_EQ(search.out.find("J per step"), std::string::npos) << search.out;
  EXPECT_EQ(column("joules_per_step").size(), 2U); // one round shows it
  const auto repeated = sweep({"-c", "16,32", "--repeats", "3", "--analyze"}, script);
  EXPECT_EQ(repeated.code, 0) << repeated.err;
  EXPECT_NE(repeated.out.find("do different work per step"), std::string::npos) << repeated.out;
  EXPECT_EQ(repeated.out.find("J per step"), std::string::npos) << repeated.out;
}

TEST_F(SweepEnergy, TheProcessorsAreCountedWhereTheirCounterCanBeRead) {
  const test::TempFolder host; // no GPU
  host.write("class/powercap/intel-rapl:0/name", "package-0\n");
  host.write("class/powercap/intel-rapl:0/max_energy_range_uj", "1000000000\n");
  const std::string counter = host.write("class/powercap/intel-rapl:0/energy_uj", "1000000\n");
  const auto r = test::run_binary({"sweep", "-o", folder_.path("sweep"), "--no-nccl-log", "-c",
                                   "28", "-t", "256", "--sample", "--sysfs-root", host.path(), "--",
                                   "sh", "-c", "echo 8000000 > " + counter});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("--sample: processors and memory only"), std::string::npos) << r.err;
  EXPECT_EQ(column("host_joules")["256thread_28ch,"], "7.0");
  EXPECT_EQ(column("joules")["256thread_28ch,"], "");
}

TEST_F(SweepEnergy, AMachineWithoutAnyCounterIsRefusedBeforeTheFirstRun) {
  const test::TempFolder empty;
  const std::vector<std::string> command = {
      "sweep", "-o",       folder_.path("sweep"), "-c",         "28", "-t",
      "256",   "--sample", "--sysfs-root",        empty.path(), "--", "true"};
  const auto r = test::run_binary(command);
  EXPECT_EQ(r.code, 7);
  EXPECT_NE(r.err.find("none can be read"), std::string::npos) << r.err;
  EXPECT_FALSE(std::filesystem::exists(folder_.path("sweep")));
}

} // namespace
} // namespace rankscope
