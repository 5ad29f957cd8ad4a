// Tests joules per step: a run that samples power and writes a trace with steps.
#include "collect/fake_sysfs.h"
#include "profile_fixture.h"

namespace rankscope {
namespace {

using test::RunResult;
using test::Words;

std::vector<Words> rows_of(const std::string& csv) {
  std::vector<Words> out;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    out.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');)
      out.back().push_back(cell);
  }
  return out;
}

class ProfileEnergy : public test::ProfileFixture {
protected:
  void SetUp() override {
    ProfileFixture::SetUp();
    sysfs_.add_gpu(128, "0000:c1:00.0", "aa", 350);
    sysfs_.add_gpu(129, "0000:c2:00.0", "bb", 200);
    folder_.write("more.json", R"({"tools": {"kineto": {"env_vars": {"TRACE": "{out}/trace.json"},
        "produces": [{"path": "{out}/trace.json", "check": "json"}]}}})");
    // a step from 0.1 s to 0.3 s after the start, and a step that ends long after the run
    script("traced.sh", R"(#!/bin/sh
now=$(date +%s%N)
sleep 0.5
cat > "$TRACE" <<END
{"schemaVersion":1,"baseTimeNanoseconds":$now,"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":100000,"dur":200000},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":300000,"dur":900000000},
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":110000,"dur":5,
 "args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":110010,"dur":1000,
 "args":{"device":0,"stream":7,"correlation":1}}],
"distributedInfo":{"rank":3}}
END
)");
  }
  RunResult run(const Words& more) {
    Words flags = {"--sysfs-root",  sysfs_.root(), "--tools-config", "more.json",
                   "--tool",        "kineto",      "--tool",         "gpu_info_power_profiler",
                   "--sample-rate", "0.2"};
    flags.insert(flags.end(), more.begin(), more.end());
    return profile(flags, {"./traced.sh"});
  }
  [[nodiscard]] std::vector<Words> rows() const {
    return rows_of(test::bytes_of(folder_.path("out/reports/step_energy.csv")));
  }
  test::FakeSysfs sysfs_;
};

TEST_F(ProfileEnergy, StepsOfATraceHaveTheirJoules) {
  const RunResult r = run({});
  EXPECT_EQ(r.code, 0) << r.err;
  ASSERT_EQ(rows().size(), 3U) << r.err;
  EXPECT_EQ(rows()[0],
            (Words{"rank", "gpu", "step", "start_unix_ns", "duration_ms", "joules", "mean_w",
                   "samples", "joules_low", "joules_high", "energy_source", "trace"}));
  const Words row = rows()[1];
  EXPECT_EQ(row[0] + row[1] + row[2], "301");
  EXPECT_NEAR(std::stod(row[5]), 350 * 0.2, 1e-6); // W x s
  EXPECT_NEAR(std::stod(row[6]), 350, 1e-6);
  EXPECT_EQ(row[10], "samples");
  EXPECT_EQ(row[11], "kineto/trace.json");
  EXPECT_EQ(rows()[2][2], "2");
  EXPECT_EQ(rows()[2][5], "") << "not sampled to its end";
  EXPECT_NE(manifest().find("\"step_energy\""), std::string::npos);
  EXPECT_NE(r.err.find("joules"), std::string::npos) << r.err;
}

TEST_F(ProfileEnergy, TheDeviceIsTheOneThatTheCommandSees) {
  const RunResult r = run({"-c", R"({"env_vars": {"HIP_VISIBLE_DEVICES": "1"}})"});
  EXPECT_EQ(r.code, 0) << r.err;
  ASSERT_EQ(rows().size(), 3U) << r.err;
  EXPECT_EQ(rows()[1][1], "1");
  EXPECT_NEAR(std::stod(rows()[1][5]), 200 * 0.2, 1e-6);
}

TEST_F(ProfileEnergy, RanksAreJoined) {
  std::filesystem::remove_all(folder_.path("out"));
  for (const char* rank : {"0", "1"}) {
    ::setenv("RANK", rank, 1);
    const RunResult r = test::run_binary(
        arguments({"--sysfs-root", sysfs_.root(), "--tool", "gpu_info_power_profiler"},
                  {"sh", "-c", "sleep 0.3; exit $RANK"}));
    ::unsetenv("RANK");
    EXPECT_EQ(r.code, std::stoi(rank)) << r.err;
  }
  const RunResult r = test::run_binary({"profile", "merge", "out"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("1 of 2 ok"), std::string::npos) << r.out;
  EXPECT_EQ(r.out, test::bytes_of(folder_.path("out/summary.txt")));
  EXPECT_NE(manifest().find("\"gpus_sampled\": 2"), std::string::npos) << manifest();
  EXPECT_EQ(rows_of(test::bytes_of(folder_.path("out/gpu_samples.csv"))).at(0).at(0), "rank");
  EXPECT_EQ(test::run_binary({"profile", "merge", "out"}).code, 0) << "again";
  std::filesystem::remove(folder_.path("out/rank_1/manifest.json"));
  EXPECT_EQ(test::run_binary({"profile", "merge", "out"}).code, 4);
  EXPECT_EQ(test::run_binary({"profile", "merge"}).code, 2);
  EXPECT_EQ(test::run_binary({"profile", "merge", "none"}).code, 3);
}

TEST_F(ProfileEnergy, WithoutASamplerThereIsNone) {
  const RunResult r = profile({"--tools-config", "more.json", "--tool", "kineto"}, {"./traced.sh"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(rows().empty());
  EXPECT_EQ(manifest().find("\"step_energy\""), std::string::npos);
}

} // namespace
} // namespace rankscope
