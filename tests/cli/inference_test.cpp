// Tests inference reports with the program: both spellings of options, exit codes, messages.
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
    EXPECT_TRUE(says(r.err, "kernels of graph launches have operators from the capture")) << r.err;
    EXPECT_TRUE(says(test::bytes_of(folder_.path("out/ops_summary.csv")), "op::mm"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path("captures/execution_details.json")));
}

// A note about missing rows of requests appears only for serving traces.
TEST_F(InferenceRun, StepsWithoutListsOfRequestsAreSaid) {
  constexpr const char* kNote =
      "the step annotations contain neither names nor lengths of requests";
  const auto with = [this](const std::string& step) {
    folder_.write("replay.json", test::trace_text(test::replay_events(step, {{"a", "b"}})));
    const test::RunResult r = report({});
    EXPECT_EQ(r.code, 0) << r.err;
    return r.err;
  };
  EXPECT_TRUE(says(with(test::decode_step(4)), kNote));
  EXPECT_TRUE(std::filesystem::exists(folder_.path("out/serving_steps.csv")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("out/serving_requests.csv")));
  EXPECT_FALSE(says(with("prefill[bs=2 tok=40 ctx=[30, 10] sqsq=1000 sqsk=1000 sk=40]"), kNote));
  EXPECT_TRUE(std::filesystem::exists(folder_.path("out/serving_requests.csv")));
  EXPECT_FALSE(says(with("ProfilerStep#1"), kNote)); // not a server
}

TEST_F(InferenceRun, ACaptureThatDoesNotMatchIsSaid) {
  replay({"mm", "add"});
  capture({"p", "q"});
  const test::RunResult r = report({"--capture-folder", folder_.path("captures")});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(says(r.err, "have no operator from the captures")) << r.err;
}

TEST_F(InferenceRun, TwoTracesEachWithItsCaptures) {
  replay({"mm", "add"});
  capture({"mm", "add"});
  const std::string other = folder_.write(
      "other.json", test::trace_text(test::replay_events(test::decode_step(4), {{"mm", "mm"}})));
  folder_.write("others/c.json", test::trace_text(test::capture_events({{"mm", "mm"}}, 4)));
  const test::RunResult r =
      report({"--capture-folder", folder_.path("captures"), "--comparison_json_path", other,
              "--comparison_capture_folder", folder_.path("others")});
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string both = test::bytes_of(folder_.path("out/comparison/ops_summary.csv"));
  EXPECT_TRUE(says(both, "op::mm")) << r.out << both;
  EXPECT_TRUE(says(both, "replay.json::")) << both;
  const test::RunResult none = report({"--comparison_capture_folder", folder_.path("others")});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(says(none.err, "--comparison-json-path")) << none.err;
}

TEST_F(InferenceRun, StepsAndWindowsCutOut) {
  replay({"mm", "add"});
  const test::RunResult r = test::run_binary({"split", folder_.path("replay.json"), "-o",
                                              folder_.path("pieces"), "--store_single_iteration"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(says(r.out, "1 piece of 1 step")) << r.out;
  EXPECT_TRUE(std::filesystem::exists(folder_.path("pieces/execution_details.csv")));
  const test::RunResult nothing =
      test::run_binary({"split", folder_.path("replay.json"), "-o", folder_.path("pieces")});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_TRUE(says(nothing.err, "needs steps to cut out")) << nothing.err;
}

// The report of a piece equals the report of its steps.
TEST_F(InferenceRun, APieceOfARealTraceHasItsReport) {
  const std::filesystem::path golden =
      test::golden_dir() / "inference/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz";
  if (!std::filesystem::exists(golden))
    GTEST_SKIP() << "no golden data";
  const test::RunResult split =
      test::run_binary({"split", golden.string(), "-o", folder_.path("pieces"), "-i", "0"});
  ASSERT_EQ(split.code, 0) << split.err;
  std::string piece;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path("pieces")))
    if (entry.path().extension() == ".gz")
      piece = entry.path().string();
  test::run_binary(
      {"report", golden.string(), "--iterations", "0", "--csv-dir", folder_.path("a")});
  test::run_binary({"report", piece, "--csv-dir", folder_.path("b")});
  for (const char* sheet : {"gpu_timeline", "ops_summary", "kernel_summary", "unified_perf_summary",
                            "GEMM", "InferenceAttention_fwd", "serving_steps"}) {
    const std::string want = test::bytes_of(folder_.path(std::string("a/") + sheet + ".csv"));
    EXPECT_FALSE(want.empty()) << sheet;
    EXPECT_EQ(test::bytes_of(folder_.path(std::string("b/") + sheet + ".csv")), want) << sheet;
  }
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

// With one graph launch and no eager step to compare with, each command reports this first.
TEST_F(InferenceRun, ATraceInOneGraphWithoutATwinSaysSoFirst) {
  const char* const said =
      "100.0 % of GPU time; attributed: nothing, NOT attributed 100.0 %; operators unknown";
  replay({"mm", "add", "mm"});
  const std::string trace = folder_.path("replay.json");
  const auto line = [](const std::string& text, std::size_t number) {
    std::size_t at = 0;
    for (; number > 0 && at != std::string::npos; --number)
      at = text.find('\n', at) + 1;
    return text.substr(at, text.find('\n', at) - at);
  };
  const test::RunResult complete = report({});
  EXPECT_TRUE(says(line(complete.out, 0), said)) << complete.out;
  EXPECT_TRUE(says(line(complete.err, 0), said)) << complete.err;
  const test::RunResult info = test::run_binary({"info", trace});
  // the line after the header
  EXPECT_EQ(line(info.out, 1).substr(0, 14), "graph launches") << info.out;
  EXPECT_TRUE(says(line(info.err, 0), said)) << info.err;
  const test::RunResult top = test::run_binary({"top", trace});
  EXPECT_EQ(line(top.out, 3), "WARNINGS") << top.out;
  EXPECT_TRUE(says(line(top.out, 4), "graph launches: 1 (1 graph)")) << top.out;
  EXPECT_TRUE(says(line(top.err, 0), said)) << top.err;
  const std::string rank = "sweep/256thread/nccl_28channels/torch_profiler/rank0/t.json";
  std::string alone = test::bytes_of(trace);
  alone.replace(alone.find("\"world_size\":8"), 14, "\"world_size\":1"); // so no rank is missing
  folder_.write(rank, alone);
  const test::RunResult analyze = test::run_binary(
      {"analyze", folder_.path("sweep"), "-o", folder_.path("analyzed"), "--no-plots"});
  EXPECT_TRUE(says(line(analyze.err, 0), said)) << analyze.err;
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
