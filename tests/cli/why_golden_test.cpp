// Tests the output of `rankscope why` for recorded traces, word for word. Each sentence was checked
// against its trace. RANKSCOPE_REBASE=1 writes the pages again; differences must then be read and
// checked.
#include "golden/golden_data.h"
#include "job_answers.h"
#include "run_binary.h"
#include "temp_folder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

struct ExpectedPage {
  const char* name; ///< name of the text in tests/data/why
  const char* path; ///< path below the reference data; "causes/...": below tests/data
  int code = 0;     ///< 4: some ranks of the run are missing
};

class WhyPages : public testing::TestWithParam<ExpectedPage> {
protected:
  void SetUp() override { ::setenv("LC_ALL", "C.UTF-8", 1); }
  void TearDown() override { ::unsetenv("LC_ALL"); }

  /// Returns the trace, or a folder of traces; empty if the reference data is missing.
  std::string input() {
    const std::string path = GetParam().path;
    if (path.starts_with("causes/"))
      return (golden::tree_root() / path).string();
    if (golden::root().empty())
      return {};
    const fs::path found = golden::root() / path;
    if (path.ends_with(".tar.gz")) {
      EXPECT_TRUE(golden::unpack_tar(found, folder_.path()));
      return folder_.path();
    }
    if (!path.ends_with("*"))
      return found.string();
    // two ranks of a run, from a folder with other traces
    for (const char* rank : {"0", "1"}) {
      const std::string file = std::string("sampled_rank-") + rank + ".json.gz";
      fs::copy_file(golden::root() / "hta" / file, fs::path(folder_.path()) / file);
    }
    return folder_.path();
  }
  test::TempFolder folder_;
};

/// Returns the page from the line after the title, which contains the name of the input.
std::string below_title(const std::string& page) {
  for (std::size_t at = 0; at < page.size(); at = page.find('\n', at) + 1)
    for (const char* unit : {" ms per step", " ms in all"})
      if (page.substr(at, page.find('\n', at) - at).find(unit) != std::string::npos)
        return page.substr(at);
  return page;
}

TEST_P(WhyPages, AreAsExpected) {
  const std::string trace = input();
  if (trace.empty())
    GTEST_SKIP() << golden::kAbsent;
  const test::RunResult run =
      test::run_binary({"why", trace, "--no-cache", "--width", "100", "--color", "never"});
  ASSERT_EQ(run.code, GetParam().code) << run.err;
  const fs::path page = golden::tree_root() / "why" / (std::string(GetParam().name) + ".txt");
  if (std::getenv("RANKSCOPE_REBASE") != nullptr)
    std::ofstream(page) << below_title(run.out);
  EXPECT_EQ(below_title(run.out), golden::unpacked(page.string())) << page;
}

// The replay of the unchanged graph equals the trace to 0 ns, and the pieces of the critical path
// sum to the time of a step.
TEST_P(WhyPages, TheGraphIsExact) {
  const std::string trace = input();
  if (trace.empty())
    GTEST_SKIP() << golden::kAbsent;
  for (const char* edit : {"kernels x 1", "delays x 1"}) {
    const test::JobAnswer same("whatif", {trace, "--edit", edit}, GetParam().code);
    EXPECT_EQ(same.number("changes", 0, "change_ms"), 0) << edit;
  }
  const test::JobAnswer why("why", {trace}, GetParam().code);
  double sum_ms = 0;
  for (std::size_t row = 0; row < why.rows("critical_path"); ++row)
    sum_ms += why.number("critical_path", row, "ms");
  EXPECT_NEAR(sum_ms, why.number("why_run", 0, "step_ms"), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, WhyPages,
    testing::Values(
        ExpectedPage{"h100_nsfw", "h100/Falconsai_nsfw_image_detection__1016002.json.gz"},
        ExpectedPage{"h100_qwen", "h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"},
        ExpectedPage{"h100_bert", "h100/gaunernst_bert-small-uncased__1016001.json.gz"},
        ExpectedPage{"mi300_nsfw", "mi300/Falconsai_nsfw_image_detection__1016002.json.gz"},
        ExpectedPage{"mi300_qwen", "mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"},
        ExpectedPage{"mi300_bert", "mi300/gaunernst_bert-small-uncased__1016001.json.gz"},
        ExpectedPage{"mi300_resnet", "mi300/resnet_act_checkpoint.json.gz"},
        ExpectedPage{"mi355_minimal", "mi300/mi355_minimal.pt.trace.json"},
        ExpectedPage{"triton", "triton/trace.json.gz"},
        ExpectedPage{"minitoy", "hta/mi250_minitoy_train_ROCm6_2_kineto.json.gz"},
        ExpectedPage{"nccl_data", "hta/nccl_data.json.gz"},
        ExpectedPage{"ns_resolution", "hta/ns_resolution.json.gz"},
        ExpectedPage{"sampled_rank_0", "hta/sampled_rank-0.json.gz"},
        ExpectedPage{"sampled_rank_1", "hta/sampled_rank-1.json.gz"},
        ExpectedPage{"sampled_ranks", "hta/sampled_rank-*", 4},
        ExpectedPage{"dlrm", "dlrm/dlrm_kineto.tar.gz"},
        ExpectedPage{"mi210_gpu_only", "mi210/gpu_only_trace/gpu_only_trace.json.gz"},
        ExpectedPage{"sglang",
                     "inference/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz"},
        ExpectedPage{"vllm", "inference/vllm_decode_full/graph_execution.json.gz"},
        ExpectedPage{"vllm_capture", "inference/vllm_decode_full/capture_traces/"
                                     "graph_capture_rank_0.1773709742341309550.pt.trace.json.gz"},
        ExpectedPage{"rocprof_908", "rocprof/908_results.json.gz"},
        ExpectedPage{"rpd_matmul", "formats/rpd/matmul_result.rpd"},
        ExpectedPage{"rpd_mytrace", "formats/rpd/mytrace.rpd.gz"},
        ExpectedPage{"rocpd", "formats/rocpd/synthetic_3.0.db"},
        ExpectedPage{"profiles", "batch/profiles", 4}, ExpectedPage{"synth_amd", "synth/amd"},
        ExpectedPage{"synth_nv", "synth/nv"}, ExpectedPage{"base", "causes/base.json.zst"},
        ExpectedPage{"host_stall", "causes/host_stall.json.zst"},
        ExpectedPage{"loader", "causes/loader.json.zst"},
        ExpectedPage{"readback", "causes/readback.json.zst"},
        ExpectedPage{"launch_bound", "causes/launch_bound.json.zst"},
        ExpectedPage{"pageable", "causes/pageable.json.zst"}),
    [](const auto& instance) { return instance.param.name; });

} // namespace
} // namespace rankscope
