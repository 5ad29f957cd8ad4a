// Tests rankscope report --power: power samples for a trace.
#include "run_binary.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::run_binary;
using test::RunResult;

TEST(ReportPower, SheetsOfEnergyOrTheReasonWhyNot) {
  const test::TempFolder folder;
  const std::string trace =
      folder.write("rank0.json",
                   R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":1,"tid":1,"ts":10,"dur":4000,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":20,"dur":5,"args":{"correlation":9}},
{"ph":"X","cat":"kernel","name":"Cijk_Ailk_Bljk_BBS_BH_MT128x128x32","pid":0,"tid":7,"ts":1000,"dur":1000,"args":{"device":0,"stream":7,"correlation":9}}
]})");
  // 100 W from 1970 to 2033
  const std::string power = folder.write(
      "gpu_samples.csv", "t_unix_ns,gpu,power_w\n0,0,100\n2000000000000000000,0,100\n");
  const auto report = [&](const std::string& samples, const std::string& out) {
    return run_binary({"report", trace, "--power", samples, "--csv-dir", folder.path(out)});
  };
  const RunResult good = report(power, "good");
  EXPECT_EQ(good.code, 0) << good.err;
  const std::string kinds = test::bytes_of(folder.path("good/kernel_energy.csv"));
  EXPECT_EQ(kinds.rfind("device,gpu,kind,busy_ms,joules,percent,mean_w,covered_percent,"
                        "joules_low,joules_high\n",
                        0),
            0U)
      << kinds;
  EXPECT_NE(kinds.find("\n0,0,GEMM,1.0,0.1,"), std::string::npos) << kinds; // 1 ms at 100 W
  const std::string steps = test::bytes_of(folder.path("good/step_energy.csv"));
  EXPECT_NE(steps.find(",0,3,1700000000000010000,4.0,0.4"), std::string::npos) << steps;
  const RunResult other = report(
      folder.write("p.csv", "timestamp, index, power.draw [W]\n1, 7, 5 W\n2, 7, 5 W\n"), "o");
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_NE(other.err.find("--power-gpus"), std::string::npos) << other.err;
  EXPECT_EQ(report(folder.path("none.csv"), "n").code, 3);
  EXPECT_EQ(report(folder.write("bad.csv", "a,b\n"), "n").code, 3);
}

} // namespace
} // namespace rankscope
