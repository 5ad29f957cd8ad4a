// Tests limits of the system and failures of tools: an error line, exit code 6, and no partial
// file.
#include "file_size_limit.h"
#include "run_binary.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::FileSizeLimit;
using test::run_binary;
using test::RunResult;

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      out.push_back(entry.path().string());
  return out;
}

class Limits : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(synth::generate(test::small_sweep(), sweep_, 2, nullptr));
    fs::create_directories(out_);
  }

  test::TempFolder folder_;
  std::string sweep_ = folder_.path("s"), out_ = folder_.path("out");
};

TEST_F(Limits, AFileBeyondUlimitIsAnErrorAndLeavesNothing) {
  const std::string trace =
      sweep_ + "/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json";
  ASSERT_TRUE(fs::exists(trace));
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"merge", sweep_, "-o", out_ + "/m.json"},
        {"report", trace, "-o", out_ + "/r.json", "--format", "json"},
        {"synth", out_ + "/s", "--ranks", "1", "--threads", "256", "--channels", "28"}}) {
    RunResult r;
    {
      // the limit also applies to the memory files that capture the output
      const FileSizeLimit limit(16384);
      r = run_binary(args);
    }
    EXPECT_EQ(r.code, 6) << args[0] << ": " << r.err;
    EXPECT_NE(r.err.find("File too large"), std::string::npos) << r.err;
    EXPECT_EQ(files_below(out_), std::vector<std::string>()) << args[0];
  }
}

TEST_F(Limits, APlotThatCannotBeWrittenIsAnError) {
  fs::create_directories(out_ + "/plots/abs_time_comparison.png/in_the_way");
  const RunResult r = run_binary({"compare", "--baseline", sweep_, "--test", sweep_, "--labels",
                                  "A,B", "--output", out_, "-q"});
  EXPECT_EQ(r.code, 6) << r.err;
  EXPECT_NE(r.err.find("abs_time_comparison.png"), std::string::npos) << r.err;
  EXPECT_FALSE(fs::exists(out_ + "/performance_analysis_report.html"));
  for (const std::string& file : files_below(out_))
    EXPECT_FALSE(file.ends_with(".tmp")) << file;
}

TEST_F(Limits, PlotsNeedNoOtherProgram) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder_.path("nothing").c_str(), 1);
  const RunResult compared =
      run_binary({"compare", "--baseline", sweep_, "--test", sweep_, "--labels", "A,B", "--output",
                  folder_.path("compared"), "-q"});
  const RunResult r = run_binary({"analyze", sweep_, "-o", out_, "-q", "--svg"});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(compared.code, 0) << compared.err;
  for (const char* plot : {"abs_time_comparison", "gpu_time_heatmap", "improvement_chart"})
    EXPECT_TRUE(fs::exists(folder_.path("compared/plots/") + plot + ".png")) << plot;
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  for (const char* plot : {"variance_by_ranks_boxplot", "variance_violin_combined"})
    for (const char* ending : {".png", ".svg"})
      EXPECT_TRUE(fs::exists(out_ + "/plots/" + plot + ending)) << plot << ending;
  EXPECT_NE(test::bytes_of(out_ + "/sweep_report.html").find("data:image/svg+xml"),
            std::string::npos);
}

} // namespace
} // namespace rankscope
