// Inference reports through the program: options by either spelling, exit codes, what is said.
#include "graph_traces.h"
#include "run_binary.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

class InferenceRun : public ::testing::Test {
protected:
  std::string replay(const test::Names& kernels) {
    return folder_.write("replay.json",
                         test::trace_text(test::replay_events(test::decode_step(4), {kernels})));
  }
  void capture(const test::Names& kernels) {
    folder_.write("captures/c.json", test::trace_text(test::capture_events({kernels}, 4)));
  }
  test::RunResult report(const test::Names& more) {
    test::Names args = {"report", folder_.path("replay.json"), "--csv-dir", folder_.path("out")};
    args.insert(args.end(), more.begin(), more.end());
    return test::run_binary(args);
  }
  test::TempFolder folder_;
};

TEST_F(InferenceRun, TheCapturesOperatorsByEitherSpelling) {
  replay({"mm", "add"});
  capture({"mm", "add"});
  for (const char* option : {"--capture-folder", "--capture_folder"}) {
    const test::RunResult r = report({option, folder_.path("captures"), "--enable_pseudo_ops"});
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(says(r.out, "0.0 % without an operator")) << r.out;
    EXPECT_TRUE(says(r.err, "graph launches have the operators of their capture")) << r.err;
    EXPECT_TRUE(says(test::bytes_of(folder_.path("out/ops_summary.csv")), "op::mm"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path("captures/execution_details.json")));
}

TEST_F(InferenceRun, ACaptureThatDoesNotMatchIsSaid) {
  replay({"mm", "add"});
  capture({"p", "q"});
  const test::RunResult r = report({"--capture-folder", folder_.path("captures")});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(says(r.err, "have no operator from the captures")) << r.err;
}

TEST_F(InferenceRun, FoldersAndStepsThatAreNone) {
  replay({"mm"});
  EXPECT_EQ(report({"--capture-folder", folder_.path("none")}).code, 3);
  std::filesystem::create_directory(folder_.path("captures"));
  const test::RunResult empty = report({"--capture-folder", folder_.path("captures")});
  EXPECT_EQ(empty.code, 3);
  EXPECT_TRUE(says(empty.err, "no trace in this folder")) << empty.err;
  const test::RunResult none = report({"--phase", "prefill"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(says(none.err, "0 prefill, 0 mixed, 1 decode")) << none.err;
  EXPECT_EQ(report({"--phase", "half"}).code, 2);
  EXPECT_EQ(report({"--iterations", "1:0"}).code, 2);
  EXPECT_EQ(report({"--phase", "decode", "--find-steady-state", "--num_steps", "4"}).code, 0);
}

TEST_F(InferenceRun, StepsAndCapturesTogether) {
  replay({"mm"});
  capture({"mm"});
  const test::RunResult r = report({"--phase", "decode", "--capture-folder",
                                    folder_.path("captures"), "--group-by-parent-module"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(says(test::bytes_of(folder_.path("out/ops_summary.csv")), "parent_module"));
  EXPECT_TRUE(says(test::bytes_of(folder_.path("out/ops_summary.csv")), "op::mm"));
}

} // namespace
} // namespace rankscope
