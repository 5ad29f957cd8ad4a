// Tests that the name of an output sets its format, and what is rejected before the work starts.
#include "run_binary.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;
using test::TempFolder;

std::string trace_path() {
  return (test::source_dir() / "tests/data/synth/amd/rank0.json.gz").string();
}

TEST(Outputs, TheEndingChoosesTheFormat) {
  const TempFolder folder;
  const auto write = [&](const std::string& name, const std::string& sheets) {
    const RunResult r =
        run_binary({"report", trace_path(), "-q", "-o", folder.path(name), "--sheets", sheets});
    EXPECT_EQ(r.code, 0) << name << ": " << r.err;
    return test::bytes_of(folder.path(name));
  };
  EXPECT_EQ(write("r.xlsx", "gpu_timeline,GEMM").substr(0, 2), "PK");
  EXPECT_EQ(write("r.json", "gpu_timeline,GEMM").front(), '{');
  const std::string markdown = write("r.md", "gpu_timeline,GEMM");
  EXPECT_EQ(markdown.rfind("## gpu_timeline\n\n| type | time ms | percent |\n", 0), 0U) << markdown;
  EXPECT_NE(markdown.find("\n## GEMM\n"), std::string::npos);
  EXPECT_EQ(write("r.csv", "gpu_timeline").rfind("type,time ms,percent\n", 0), 0U);
}

TEST(Outputs, AnEndingThatNamesNoFormatIsRefusedBeforeTheTraceIsRead) {
  const TempFolder folder;
  for (const char* name : {"r.txt", "r.html", "r", "r.xslx"}) {
    const RunResult r = run_binary({"report", folder.path("none.json"), "-o", folder.path(name)});
    EXPECT_EQ(r.code, 2) << name;
    EXPECT_NE(r.err.find("expected .xlsx, .json, .md"), std::string::npos) << r.err;
    EXPECT_FALSE(fs::exists(folder.path(name)));
  }
  EXPECT_EQ(
      run_binary({"report", trace_path(), "-q", "--format", "json", "-o", folder.path("r")}).code,
      0);
  const RunResult several = run_binary({"report", trace_path(), "-q", "-o", folder.path("r.csv")});
  EXPECT_EQ(several.code, 2);
  EXPECT_NE(several.err.find("a CSV file contains one sheet"), std::string::npos) << several.err;
}

// The inputs do not exist: a command that read them first would exit with 3.
TEST(Outputs, WhatCannotBeWrittenIsRefusedBeforeAnyInputIsRead) {
  const TempFolder folder;
  const std::string none = folder.path("none");
  fs::create_directories(folder.path("folder.xlsx"));
  const std::vector<std::vector<std::string>> commands{
      {"collectives", none}, {"report", none}, {"compare-reports", none, none + "2"}};
  for (std::vector<std::string> args : commands) {
    args.insert(args.end(), {"-o", ""});
    const auto refused = [&args](const std::string& output, int code, const char* words) {
      args.back() = output;
      const RunResult r = run_binary(args);
      EXPECT_EQ(r.code, code) << args[0] << " " << output << ": " << r.err;
      EXPECT_NE(r.err.find(words), std::string::npos) << args[0] << " " << output << ": " << r.err;
    };
    refused(folder.path("r.csv"), 2, "a CSV file contains one sheet, but the report has several");
    refused(folder.path("r.txt"), 2, "is not a known file ending");
    refused(folder.path("absent/r.xlsx"), 6, "No such file or directory");
    refused(folder.path("folder.xlsx"), 6, "Is a directory");
  }
  EXPECT_EQ(fs::directory_iterator(folder.path())->path().filename(), "folder.xlsx");
}

TEST(Outputs, ASheetThatNoReportHasIsNamedWithTheNearest) {
  const TempFolder folder;
  const RunResult r =
      run_binary({"report", folder.path("none.json"), "--sheets", "gpu_timeline,ops_sumary"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("'ops_sumary'; did you mean ops_summary?"), std::string::npos) << r.err;
}

TEST(Outputs, NothingToWriteLeavesWhatIsThere) {
  const TempFolder folder;
  const std::string kept = folder.write("kept.xlsx", "last week's");
  const RunResult r = run_binary({"report", trace_path(), "--sheets", "SSM_fwd", "-o", kept});
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.err.find("the trace has no data for sheet SSM_fwd"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("kept.xlsx: nothing to write"), std::string::npos) << r.err;
  EXPECT_EQ(test::bytes_of(kept), "last week's");
}

} // namespace
} // namespace rankscope
