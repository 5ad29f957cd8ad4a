// Tests rankscope sample: a complete run on an imitated machine, ended by signals and by kill -9.
#include "cli/file_size_limit.h"
#include "cli/run_binary.h"
#include "collect/fake_sysfs.h"
#include "temp_folder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace rankscope {
namespace {

/// Starts the program and does not wait for it.
pid_t start(const std::vector<std::string>& args) {
  std::vector<std::string> all{test::binary()};
  all.insert(all.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& a : all)
    argv.push_back(a.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  return pid;
}

std::size_t lines_of(const std::string& path) {
  const std::string bytes = test::bytes_of(path);
  return static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
}

void wait_for_lines(const std::string& path, std::size_t wanted) {
  for (int i = 0; i < 2000 && lines_of(path) < wanted; ++i)
    ::usleep(5000);
}

TEST(Sample, WritesTheDocumentedCsvsAndSumsUp) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  sys.add_gpu(129, "0000:c2:00.0", "b", 200);
  const test::TempFolder out;
  const auto r = test::run_binary({"--json", "sample", "-o", out.path("s"), "--sysfs-root",
                                   sys.root(), "--period", "10ms", "--duration", "0.2"});
  ASSERT_EQ(r.code, 0) << r.err;
  const std::string power = test::bytes_of(out.path("s/gpu_info_power_profiler_output.csv"));
  EXPECT_EQ(power.substr(0, power.find('\n')), "time,Power(Watt) GPU0,Power(Watt) GPU1");
  EXPECT_NE(power.find(",300.000,200.000\n"), std::string::npos) << power;
  const std::string vram = test::bytes_of(out.path("s/gpu_info_vram_profiler_output.csv"));
  EXPECT_EQ(vram.substr(0, vram.find('\n')), "time,vram(%) GPU0,vram(%) GPU1");
  EXPECT_GT(lines_of(out.path("s/gpu_samples.csv")), 5U);
  EXPECT_GT(lines_of(out.path("s/host_samples.csv")), 3U);
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(r.out);
  EXPECT_DOUBLE_EQ(json["gpus"].at(0)["mean_w"].get_double().value(), 300);
  EXPECT_NEAR(json["gpus"].at(1)["energy_j"].get_double().value(),
              200 * json["run_s"].get_double().value(), 4);
}

// HA-B1: the power samples are 500 W, and the energy counter increases by about 100 W. The counter
// is correct.
TEST(Sample, EnergyIsThatOfTheCounter) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 500);
  sys.put(128, "hwmon/hwmon3/energy1_input", "1000000000\n");
  const test::TempFolder out;
  std::atomic<bool> ends{false};
  // overwrites the file in place, because the sampler keeps it open
  const int file = ::open(sys.file(128, "hwmon/hwmon3/energy1_input").c_str(), O_WRONLY);
  ASSERT_GE(file, 0);
  std::thread counter([&] {
    const auto begin = std::chrono::steady_clock::now();
    while (!ends) {
      const std::chrono::duration<double> t = std::chrono::steady_clock::now() - begin;
      const std::string uj = std::to_string(1000000000 + std::llround(t.count() * 100e6)) + "\n";
      EXPECT_EQ(::pwrite(file, uj.data(), uj.size(), 0), static_cast<ssize_t>(uj.size()));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const auto r = test::run_binary({"--json", "sample", "-o", out.path("s"), "--sysfs-root",
                                   sys.root(), "--period", "20ms", "--duration", "1.5"});
  ends = true;
  counter.join();
  ::close(file);
  ASSERT_EQ(r.code, 0) << r.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(r.out);
  const simdjson::dom::element gpu = json["gpus"].at(0);
  const double seconds = json["run_s"].get_double().value();
  EXPECT_EQ(gpu["energy_source"].get_string().value(), "counter") << r.out;
  EXPECT_NEAR(gpu["sampled_energy_j"].get_double().value(), 500 * seconds, 50);
  EXPECT_LT(gpu["energy_j"].get_double().value(), 250 * seconds) << "not the samples'";
  EXPECT_NE(r.out.find("aliased-power"), std::string::npos) << r.out;
}

// HA-B20: samples of an earlier run are only replaced with --force.
TEST(Sample, TheSamplesOfAnEarlierRunAreNotReplacedUnasked) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  const test::TempFolder out;
  std::vector<std::string> command = {"sample",   "-o",   out.path("s"), "--sysfs-root", sys.root(),
                                      "--period", "10ms", "--duration",  "0.1"};
  ASSERT_EQ(test::run_binary(command).code, 0);
  const std::string series = test::bytes_of(out.path("s/gpu_samples.csv"));
  ASSERT_FALSE(series.empty());
  const auto second = test::run_binary(command);
  EXPECT_EQ(second.code, 2);
  EXPECT_NE(second.err.find("has the samples of an earlier run"), std::string::npos) << second.err;
  EXPECT_EQ(test::bytes_of(out.path("s/gpu_samples.csv")), series);
  command.emplace_back("--force");
  EXPECT_EQ(test::run_binary(command).code, 0);
  EXPECT_NE(test::bytes_of(out.path("s/gpu_samples.csv")), series);
  // two processes must not write to one folder either
  command[command.size() - 2] = "20";
  std::filesystem::remove(out.path("s/gpu_samples.csv")); // so that the lines are those of `first`
  const pid_t first = start(command);
  wait_for_lines(out.path("s/gpu_samples.csv"), 2);
  const auto other = test::run_binary(command);
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("another sample is running in this folder"), std::string::npos)
      << other.err;
  ::kill(first, SIGTERM);
  int status = 0;
  ::waitpid(first, &status, 0);
}

// HA-B37: ticks that a stopped process missed are not caused by slow reading.
TEST(Sample, TicksOfAStoppedProcessAreExplained) {
  const test::TempFolder out;
  const auto r = test::run_program(
      "/bin/sh",
      {"-c", test::binary() + " sample -o " + out.path("s") +
                 " --devices none --period 10ms --duration 1.2 & p=$!; until ls " + out.path("s") +
                 "/*.csv >/dev/null 2>&1; do sleep 0.02; done; sleep 0.3; "
                 "kill -STOP $p; sleep 0.6; kill -CONT $p; wait $p"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("the sampler did not run: it was stopped or the machine was busy"),
            std::string::npos)
      << r.out;
  EXPECT_EQ(r.out.find("sample less often"), std::string::npos) << r.out;
}

// HA-B21: a full disk loses rows but not the sums, and is reported when it happens.
TEST(Sample, AFullDiskIsReportedAtOnceAndLeavesCompleteRowsAndSums) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  const test::TempFolder out;
  test::RunResult r;
  {
    const test::FileSizeLimit limit(4096);
    r = test::run_binary({"sample", "-o", out.path("s"), "--sysfs-root", sys.root(), "--period",
                          "5ms", "--duration", "1"});
  }
  EXPECT_EQ(r.code, 6);
  const std::size_t warning = r.err.find("the rows written before are complete");
  const std::size_t error = r.err.rfind("gpu_samples.csv: cannot be written: File too large");
  ASSERT_NE(warning, std::string::npos) << r.err;
  ASSERT_NE(error, std::string::npos) << r.err;
  EXPECT_LT(warning, error) << "said again at the end";
  EXPECT_NE(r.out.find(" J (samples)"), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("GPU 0"), 0U) << r.out;
  for (const char* name : {"gpu_samples.csv", "host_samples.csv"}) {
    std::istringstream rows(test::bytes_of(out.path(std::string("s/") + name)));
    std::string header;
    std::getline(rows, header);
    std::size_t n = 0;
    for (std::string row; std::getline(rows, row); ++n) {
      EXPECT_EQ(std::count(row.begin(), row.end(), ','),
                std::count(header.begin(), header.end(), ','))
          << name << ": " << row;
      EXPECT_FALSE(rows.eof()) << name << " ends with a complete row";
    }
    EXPECT_GT(n, 10U) << name;
  }
}

// HA-B7: a GPU that is removed during the run is reported, with the part of the run that its joules
// cover.
TEST(Sample, AGpuThatIsLostIsTold) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  sys.add_gpu(129, "0000:c2:00.0", "b", 220);
  const test::TempFolder out;
  std::thread pull([&] {
    wait_for_lines(out.path("s/gpu_samples.csv"), 20);
    sys.unplug(129);
  });
  const auto r = test::run_binary({"sample", "-o", out.path("s"), "--sysfs-root", sys.root(),
                                   "--period", "10ms", "--duration", "1"});
  pull.join();
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("warning: GPU 1 gave no readings for the last"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("The measured energy covers"), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("warning: GPU 0"), std::string::npos) << r.out;
}

TEST(Sample, SignalsEndItWithAllThatWasSampled) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  for (const int signal : {SIGINT, SIGTERM}) {
    const test::TempFolder out;
    const pid_t pid =
        start({"-q", "sample", "-o", out.path(), "--sysfs-root", sys.root(), "--period", "5ms"});
    wait_for_lines(out.path("gpu_samples.csv"), 5);
    ::kill(pid, signal);
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "a signal is how it is ended";
    const std::string csv = test::bytes_of(out.path("gpu_samples.csv"));
    EXPECT_EQ(csv.back(), '\n');
    EXPECT_NE(csv.find(",run,0,"), std::string::npos);
  }
}

TEST(Sample, AKilledOneLeavesWholeRows) {
  const test::FakeSysfs sys;
  for (int i = 0; i < 8; ++i)
    sys.add_gpu(128 + i, "0000:c" + std::to_string(i) + ":00.0", std::to_string(i), 300);
  const test::TempFolder out;
  const pid_t pid =
      start({"-q", "sample", "-o", out.path(), "--sysfs-root", sys.root(), "--period", "1ms"});
  wait_for_lines(out.path("gpu_samples.csv"), 100);
  ::kill(pid, SIGKILL);
  int status = 0;
  ::waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  for (const char* name : {"gpu_samples.csv", "gpu_info_power_profiler_output.csv"}) {
    const std::string csv = test::bytes_of(out.path(name));
    ASSERT_FALSE(csv.empty());
    EXPECT_EQ(csv.back(), '\n') << name;
    std::size_t begin = 0;
    long commas = -1;
    for (std::size_t end = csv.find('\n'); end != std::string::npos;
         begin = end + 1, end = csv.find('\n', begin)) {
      const long n = std::count(csv.begin() + static_cast<long>(begin),
                                csv.begin() + static_cast<long>(end), ',');
      if (commas < 0)
        commas = n;
      EXPECT_EQ(n, commas) << name;
    }
  }
}

TEST(Sample, WrongDevicesFailAtOnceAndNameTheGpus) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "a", 300);
  const test::TempFolder out;
  const auto r = test::run_binary(
      {"sample", "-o", out.path("s"), "--sysfs-root", sys.root(), "--devices", "4"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("0 0000:c1:00.0"), std::string::npos) << r.err;
  const auto none = test::run_binary({"sample", "-o", out.path("s"), "--sysfs-root", out.path()});
  EXPECT_EQ(none.code, 7);
  EXPECT_NE(none.err.find("--devices none"), std::string::npos) << none.err;
  EXPECT_EQ(test::run_binary({"sample"}).code, 2);
  EXPECT_EQ(test::run_binary({"sample", "-o", out.path("s"), "--period", "fast"}).code, 2);
}

TEST(Sample, ListsTheGpus) {
  const test::FakeSysfs sys;
  sys.add_gpu(128, "0000:c1:00.0", "abc", 300);
  const auto r = test::run_binary({"sample", "--list", "--sysfs-root", sys.root()});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("0000:c1:00.0  abc  renderD128"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("300.0 W"), std::string::npos) << r.out;
  // HA-B29: --list prints JSON too.
  const auto json = test::run_binary({"--json", "sample", "--list", "--sysfs-root", sys.root()});
  simdjson::dom::parser parser;
  const simdjson::dom::element list = parser.parse(json.out);
  EXPECT_EQ(list["gpus"].at(0)["bdf"].get_string().value(), "0000:c1:00.0") << json.out;
  EXPECT_DOUBLE_EQ(list["gpus"].at(0)["power_w"].get_double().value(), 300);
}

TEST(Sample, TheHostAloneNeedsNoGpu) {
  const test::TempFolder out;
  const auto r = test::run_binary({"sample", "-o", out.path("s"), "--devices", "none", "--period",
                                   "20ms", "--duration", "0.1"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("host:"), std::string::npos) << r.out;
  EXPECT_GT(lines_of(out.path("s/host_samples.csv")), 2U);
}

} // namespace
} // namespace rankscope
