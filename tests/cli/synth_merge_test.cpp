// Tests synth and merge with the program: exit codes, files, messages.
#include "merge_checker.h"
#include "run_binary.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/wait.h>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

using test::bytes_of;
using test::run_binary;
using test::RunResult;
using test::TempFolder;

class SynthMerge : public ::testing::Test {
protected:
  /// Returns the exit code; stores stdout and stderr in out_ and err_.
  int run(const std::string& arguments) {
    const std::string out = at("stdout");
    const std::string err = at("stderr");
    const int status =
        std::system((test::binary() + " " + arguments + " >" + out + " 2>" + err).c_str());
    out_ = bytes_of(out);
    err_ = bytes_of(err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  void sweep(const std::string& more = "") {
    ASSERT_EQ(run("synth " + at("s") +
                  " --threads 256,512 --channels 28 --ranks 3 --layers 2 --steps 2 -q " + more),
              0)
        << err_;
  }

  TempFolder folder_;
  std::string out_;
  std::string err_;
};

TEST_F(SynthMerge, AnotherSweepAsksForForce) {
  sweep();
  EXPECT_EQ(run("synth " + at("s") + " --ranks 2 --layers 1 -q"), 2);
  EXPECT_NE(err_.find("contains another sweep (--force overwrites it)"), std::string::npos) << err_;
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
  sweep("--force");
  // also a folder that was not generated
  fs::remove(at("s/ground_truth.json"));
  EXPECT_EQ(run("synth " + at("s") + " --ranks 2 --layers 1 -q"), 2);
  EXPECT_NE(err_.find("traces of another sweep"), std::string::npos) << err_;
}

TEST_F(SynthMerge, SwitchesAreReadOrRefused) {
  sweep("--contention 0 --slow-config 512thread_28ch:1.05 --throttle 2:1.1 --slow-link 0-1:2");
  const std::string truth = bytes_of(at("s/ground_truth.json"));
  for (const char* part :
       {"\"contention\": 0", "{\"label\": \"512thread_28ch\", \"factor\": 1.05}",
        "\"throttled\": {\"rank\": 2, \"factor\": 1.1}", "{\"ranks\": [0, 1], \"factor\": 2}"})
    EXPECT_NE(truth.find(part), std::string::npos) << part;
  for (const char* wrong :
       {"--slow-config 1:x", "--throttle 2", "--throttle a:2", "--slow-link 0:2",
        "--slow-link 0-0:2", "--contention -1", "--slow-config none:2"})
    EXPECT_EQ(run("synth " + at("t") + " -q " + wrong), 2) << wrong << ": " << err_;
}

TEST_F(SynthMerge, AllConfigurationsOfASweep) {
  sweep("--gz");
  ASSERT_EQ(run("merge --all " + at("s")), 0) << err_;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(at("s/merged_traces")))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names,
            (std::vector<std::string>{"256thread_28ch_merged.json", "512thread_28ch_merged.json"}));
  const test::Merged merged =
      test::check_merged(bytes_of(at("s/merged_traces/256thread_28ch_merged.json")));
  EXPECT_EQ(merged.counts.size(), 3U);
  ASSERT_EQ(run("merge --all " + at("s")), 0) << "a second run does not trip over its own outputs";
}

TEST_F(SynthMerge, MissingAndBrokenRanksAreNamedAndExitIsFour) {
  sweep("--missing-rank 1");
  const std::string config = at("s/256thread/nccl_28channels");
  EXPECT_EQ(run("merge " + config + " -o " + at("m.json")), 4);
  EXPECT_NE(err_.find("rank 1 has no trace"), std::string::npos) << err_;
  test::Merged merged = test::check_merged(bytes_of(at("m.json")));
  EXPECT_EQ(merged.counts.size(), 2U);
  EXPECT_EQ(merged.process_names.count(1000), 0U) << "no empty track";
  std::ofstream(config + "/torch_profiler/rank1.json") << "not a trace";
  EXPECT_EQ(run("merge " + config + " -o " + at("m.json")), 4);
  EXPECT_NE(err_.find("rank 1"), std::string::npos) << err_;
  merged = test::check_merged(bytes_of(at("m.json")));
  EXPECT_EQ(merged.counts.size(), 2U);
}

TEST_F(SynthMerge, TheNumberOfRanksIsThatOfTheFirstOnes) {
  sweep();
  const std::string config = at("s/256thread/nccl_28channels");
  EXPECT_EQ(run("merge " + config + " -n 2 -o " + at("m.json")), 0) << err_;
  EXPECT_EQ(test::check_merged(bytes_of(at("m.json"))).counts.size(), 2U);
  EXPECT_EQ(run("merge " + config + " -n 8 -o " + at("m.json")), 4);
  EXPECT_NE(err_.find("ranks 3-7 have no trace"), std::string::npos) << err_;
  EXPECT_EQ(test::check_merged(bytes_of(at("m.json"))).counts.size(), 3U);
  EXPECT_EQ(run("merge " + config + " -n 2 --ranks 0 -o " + at("m.json")), 2);
  EXPECT_EQ(run("merge " + config + " -n 0 -o " + at("m.json")), 2);
}

TEST_F(SynthMerge, WrongUseAndUnwritableOutputs) {
  sweep();
  EXPECT_EQ(run("merge " + at("s/256thread")), 2); // no -o
  EXPECT_EQ(run("merge " + at("s") + " -o " + at("m.json")), 2);
  EXPECT_NE(err_.find("several traces"), std::string::npos);
  EXPECT_EQ(run("merge " + at("nothing") + " -o " + at("m.json")), 3);
  EXPECT_EQ(run("merge " + at("s/256thread") + " -o " + at("no/folder/m.json")), 6);
  EXPECT_EQ(run("merge " + at("s/256thread") + " -o " + at("m.json") + " --step x"), 2);
  EXPECT_FALSE(fs::exists(at("m.json")));
  EXPECT_EQ(run("synth " + at("t") + " --straggler x"), 2);
  EXPECT_EQ(run("synth /dev/null/t"), 6);
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
}

TEST_F(SynthMerge, AlignmentByCollectivesAndStandardOutput) {
  sweep("--clock-offset-us 4000");
  const std::string config = at("s/256thread");
  ASSERT_EQ(run("merge " + config + " -o - --align collectives"), 0);
  EXPECT_NE(err_.find("rank 2: clock "), std::string::npos) << err_;
  const test::Merged merged = test::check_merged(out_);
  std::map<std::int64_t, std::vector<std::int64_t>> ends;
  for (const test::MergedSlice& s : merged.slices)
    if (s.category == "kernel" && s.name.find("nccl") != std::string::npos)
      ends[s.rank].push_back(s.end_ns);
  for (auto& [rank, list] : ends) {
    std::sort(list.begin(), list.end());
    ASSERT_EQ(list.size(), ends[0].size());
    for (std::size_t i = 0; i < list.size(); ++i)
      EXPECT_NEAR(static_cast<double>(list[i]), static_cast<double>(ends[0][i]), 5500);
  }
}

// The arguments of a collective may be those of its operator only.
TEST_F(SynthMerge, AlignmentNeedsNoArgumentsOfKernels) {
  sweep("--clock-offset-us 4000");
  const std::string config = at("s/256thread");
  const auto clocks = [&] {
    EXPECT_EQ(run("merge " + config + " -o - --align collectives --no-cache"), 0) << err_;
    return err_.substr(0, err_.find(" against rank 0"));
  };
  const std::string with = clocks();
  std::size_t removed = 0;
  for (const auto& entry : fs::recursive_directory_iterator(config)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".json")
      continue;
    std::string text = bytes_of(entry.path().string());
    constexpr std::string_view kKernel = R"("cat": "kernel")", kArgument = "Collective name";
    for (std::size_t at = text.find(kKernel); at != std::string::npos;
         at = text.find(kKernel, at + 1)) {
      const std::size_t found = text.find(kArgument, at);
      if (found < text.find("\"ph\"", at)) {
        text.replace(found, kArgument.size(), "Removed");
        ++removed;
      }
    }
    std::ofstream(entry.path(), std::ios::binary) << text;
  }
  EXPECT_GT(removed, 20U);
  EXPECT_EQ(clocks(), with);
  EXPECT_NE(with.find("rank 1: clock "), std::string::npos) << with;
}

// The host runs 9 ms ahead, so most of the work of a step runs during the next one.
TEST_F(SynthMerge, AStepHasTheWorkThatItLaunched) {
  for (const bool annotated : {false, true}) {
    std::string events;
    int correlation = 0;
    for (int step = 0; step < 4; ++step) {
      const int begin = 1000 + step * 10'000;
      const std::string name = R"("name":"ProfilerStep#)" + std::to_string(step) + "\",";
      events += R"({"ph":"X","cat":"user_annotation",)" + name + R"("ts":)" +
                std::to_string(begin) + R"(,"dur":10000,"pid":1,"tid":1},)";
      if (annotated)
        events += R"({"ph":"X","cat":"gpu_user_annotation",)" + name + R"("ts":)" +
                  std::to_string(begin + 9000) + R"(,"dur":9990,"pid":0,"tid":7},)";
      for (int k = 0; k < 10; ++k) {
        const std::string args = R"("args":{"correlation":)" + std::to_string(++correlation);
        events += R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":)" +
                  std::to_string(begin + 100 + k * 100) + R"(,"dur":10,"pid":1,"tid":1,)" + args +
                  "}},";
        events += R"({"ph":"X","cat":"kernel","name":"of_step)" + std::to_string(step) +
                  R"(","ts":)" + std::to_string(begin + 9000 + k * 1000) +
                  R"(,"dur":990,"pid":0,"tid":7,)" + args + R"(,"device":0,"stream":7}},)";
      }
    }
    events.pop_back();
    const std::string trace = folder_.write(
        "ahead/rank0.json", R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,)"
                            R"("distributedInfo":{"rank":0,"world_size":1},"traceEvents":[)" +
                                events + "]}");
    ASSERT_EQ(run("merge " + trace + " -o - --step 2"), 0) << err_;
    const test::Merged merged = test::check_merged(out_);
    int kernels = 0;
    for (const test::MergedSlice& s : merged.slices)
      if (s.category == "kernel") {
        EXPECT_EQ(s.name, "[R0] of_step2");
        ++kernels;
      }
    EXPECT_EQ(kernels, 10) << annotated;
    std::size_t arrows = 0;
    for (std::size_t at = out_.find("ac2g"); at != std::string::npos;
         at = out_.find("ac2g", at + 1))
      ++arrows;
    EXPECT_EQ(arrows, 40U) << "category and name of two ends of each arrow";
  }
}

TEST_F(SynthMerge, OtherCommandsWarnOfAMergedTrace) {
  sweep();
  ASSERT_EQ(run("merge " + at("s/256thread") + " -o " + at("merged.json")), 0) << err_;
  EXPECT_EQ(run("top " + at("merged.json")), 0) << err_;
  EXPECT_NE(err_.find("merge made this trace for Perfetto"), std::string::npos) << err_;
}

TEST(MergeSamples, PowerAndClocksAreCounterTracks) {
  const TempFolder folder;
  const std::string trace =
      folder.write("rank0.json",
                   R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":1000,"dur":5,"args":{"correlation":9}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2000,"dur":3000,"args":{"device":0,"stream":7,"correlation":9}}
],"distributedInfo":{"rank":0}})");
  std::string rows = "t_unix_ns,gpu,power_w,sclk_mhz,vram_used_b\n";
  for (const int ms : {-50, 0, 2, 4, 6, 90}) // slices are from 1 to 5 ms
    rows += std::to_string(1700000000000000000 + ms * 1000000LL) + ",3," +
            std::to_string(300 + ms) + ",2100,2147483648\n";
  const std::string samples = folder.write("gpu_samples.csv", rows);
  const RunResult r =
      run_binary({"merge", trace, "--samples", samples, "-o", folder.path("m.json")});
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string merged = test::bytes_of(folder.path("m.json"));
  EXPECT_NE(merged.find(R"("args":{"name":"GPU samples"})"), std::string::npos) << merged;
  EXPECT_NE(merged.find("\"name\":\"GPU 3 power (W)\",\"pid\":900000000,\"ts\":"),
            std::string::npos)
      << merged;
  for (const int watts : {300, 302, 304, 306}) // one sample before and one after the slices
    EXPECT_NE(merged.find("\"value\":" + std::to_string(watts) + "}"), std::string::npos) << watts;
  EXPECT_NE(merged.find("GPU 3 clock (MHz)"), std::string::npos) << merged;
  EXPECT_NE(merged.find("\"args\":{\"value\":2}"), std::string::npos) << "GiB: " << merged;
  EXPECT_EQ(merged.find("\"value\":250}"), std::string::npos) << "long before: " << merged;
  EXPECT_EQ(merged.find("\"value\":390}"), std::string::npos) << "long after: " << merged;
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  EXPECT_EQ(parser.parse(merged).get(json), simdjson::SUCCESS);
  const std::string other =
      folder.write("other.csv", "t_unix_ns,gpu,power_w\n1000,0,5\n2000,0,5\n");
  const RunResult none =
      run_binary({"merge", trace, "--samples", other, "-o", folder.path("n.json")});
  EXPECT_NE(none.err.find("no sample was taken in the time range of the traces"), std::string::npos)
      << none.err;
  EXPECT_EQ(
      run_binary({"merge", trace, "--samples", folder.path("gone"), "-o", folder.path("x.json")})
          .code,
      3);
  EXPECT_FALSE(fs::exists(folder.path("x.json")));
}

} // namespace
} // namespace rankscope
