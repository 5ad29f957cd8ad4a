// Tests the manifests of examples/cluster without a cluster: runs the command of each pod with the
// variables that Kubernetes and the manifest set, and with the folders of the test as volumes.
#include "os/process.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <string>
#include <vector>

namespace rankscope {
namespace {

using test::bytes_of;
using test::TempFolder;

std::string manifest(const std::string& name) {
  return bytes_of((test::source_dir() / "examples/cluster" / name).string());
}

/// Returns the first group of the pattern in the text.
std::string found(const std::string& text, const std::string& pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern))) {
    ADD_FAILURE() << pattern << " is not in the manifest";
    return "";
  }
  return match[1];
}

/// Returns the command of a pod, with these folders for /traces and /parts.
std::vector<std::string> command_of(const std::string& text, const std::string& traces,
                                    const std::string& parts) {
  std::string line = found(text, R"re(command: \[sh, -c, "([^"]*)"\])re");
  line = std::regex_replace(line, std::regex("/traces"), traces);
  line = std::regex_replace(line, std::regex(" /parts"), " " + parts);
  line = std::regex_replace(line, std::regex("^rankscope "), test::binary() + " ");
  return {"sh", "-c", line};
}

ProcessEnd run(std::vector<std::string> argv, const EnvironmentChanges& environment = {}) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.set_env = environment;
  spec.out = spec.err = Stream::kCapture;
  const Result<ProcessEnd> end = run_process(std::move(spec));
  if (!end) {
    ADD_FAILURE() << end.error().message();
    return {};
  }
  return *end;
}

TEST(Kubernetes, ThePodsOfTheIndexedJobMakeOneRun) {
  const TempFolder folder;
  ASSERT_TRUE(run({test::binary(), "synth", folder.path("sweep"), "--threads", "256", "--channels",
                   "28", "--ranks", "5", "--layers", "2", "--steps", "2", "-q"})
                  .ok());
  const std::string traces = folder.path("sweep/256thread/nccl_28channels"),
                    parts = folder.path("parts");
  const std::string map = manifest("partial_job.yaml");
  const int pods = std::stoi(found(map, R"(\n  completions: (\d+)\n)"));
  const std::string completions = found(map, R"re(name: JOB_COMPLETIONS.*\n +value: "(\d+)")re");
  EXPECT_EQ(completions, std::to_string(pods)); // the manifest has the number twice
  for (int pod = pods - 1; pod >= 0; --pod) {
    const ProcessEnd end =
        run(command_of(map, traces, parts),
            {{"JOB_COMPLETION_INDEX", std::to_string(pod)}, {"JOB_COMPLETIONS", completions}});
    EXPECT_TRUE(end.ok()) << end.err;
    EXPECT_NE(end.err.find("(JOB_COMPLETION_INDEX)"), std::string::npos) << end.err;
  }
  // the index, which Kubernetes sets, is not enough without the number of pods
  const ProcessEnd half = run(command_of(map, traces, parts), {{"JOB_COMPLETION_INDEX", "0"}});
  EXPECT_EQ(half.exit_code, 2);
  EXPECT_NE(half.err.find("JOB_COMPLETIONS: not set"), std::string::npos) << half.err;

  // a trace that cannot be read: repeating the pod would not help, so the pod succeeds
  const std::string torn = folder.path("torn"), rest = folder.path("rest");
  folder.write("torn/rank0/trace.json", "{");
  std::filesystem::copy(traces + "/torch_profiler/rank1", torn + "/rank1",
                        std::filesystem::copy_options::recursive);
  const ProcessEnd lost =
      run(command_of(map, torn, rest), {{"JOB_COMPLETION_INDEX", "0"}, {"JOB_COMPLETIONS", "1"}});
  EXPECT_EQ(lost.exit_code, 0) << lost.err;
  EXPECT_NE(lost.err.find("1 lost"), std::string::npos) << lost.err;

  ASSERT_TRUE(run(command_of(manifest("reduce_job.yaml"), traces, parts)).ok());
  ASSERT_TRUE(run({test::binary(), "reduce", parts, "-o", folder.path("reduced.json")}).ok());
  ASSERT_TRUE(run({test::binary(), "collectives", traces, "-o", folder.path("one.json")}).ok());
  EXPECT_FALSE(bytes_of(parts + "/nccl.xlsx").empty());
  EXPECT_FALSE(bytes_of(folder.path("one.json")).empty());
  EXPECT_EQ(bytes_of(folder.path("reduced.json")), bytes_of(folder.path("one.json")));
}

} // namespace
} // namespace rankscope
