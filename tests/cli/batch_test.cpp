// Tests rankscope batch: folders, names, messages, exit codes.
#include "batch_trace.h"
#include "cli/run_binary.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace rankscope {
namespace {

using test::run_binary;
using test::RunResult;
using test::TempFolder;

std::string rank_trace() {
  test::BatchTrace t;
  t.op("aten::mm", 0, 5, "[[10,20],[20,30]]", R"(["float","float"])")
      .kernel("Cijk_Ailk_Bljk_SB_MT64x64x8", 1, 10, 4)
      .collective("allreduce", 100, 10, "0");
  return t.text();
}

bool there(const std::string& path) {
  return std::filesystem::exists(path);
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Writes traces of ranks 0, 1, 2 and 10 for step 8 to FOLDER/run.
void write_run(const TempFolder& folder, const std::string& run = "run") {
  for (const char* rank : {"0", "1", "2", "10"})
    (void)folder.write(run + "/traces_rank_" + rank + "_step_8.json", rank_trace());
}

TEST(Batch, MakesAWorkbookBesideTheTraces) {
  const TempFolder folder;
  write_run(folder);
  const RunResult r = run_binary({"batch", "-b", folder.path(), "-f", "step_8"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(there(folder.path("run/run_step_8_performance_report.xlsx"))) << r.out;
  EXPECT_TRUE(has(r.out, "4 ranks")) << r.out;
  EXPECT_TRUE(has(r.err, "7 ranks between 0 and 10 have no trace")) << r.err;
  // the default filter selects only rank 0
  const RunResult batch = run_binary({"batch", "-b", folder.path()});
  EXPECT_EQ(batch.code, 0) << batch.err;
  EXPECT_TRUE(there(folder.path("run/run_rank_0_performance_report.xlsx")));
  EXPECT_TRUE(has(batch.out, "1 rank\n")) << batch.out;
}

TEST(Batch, ADryRunWritesNothing) {
  const TempFolder folder;
  write_run(folder);
  const RunResult r = run_binary({"batch", "-b", folder.path(), "-f", "rank_1", "step_8", "-d"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(has(r.out, "Creating performance report")) << r.out;
  EXPECT_TRUE(has(r.out, "Excel file: run_rank_1_step_8_performance_report.xlsx")) << r.out;
  EXPECT_TRUE(has(r.out, "Filters: rank_1, step_8")) << r.out;
  EXPECT_TRUE(has(r.out, "traces_rank_10_step_8.json")) << "a filter is a plain text";
  EXPECT_TRUE(has(r.err, "also selects traces_rank_10_step_8.json")) << r.err;
  EXPECT_TRUE(has(r.out, "End of dry run"));
  EXPECT_FALSE(there(folder.path("run/run_rank_1_step_8_performance_report.xlsx")));
}

TEST(Batch, AReportThatIsThereIsKept) {
  const TempFolder folder;
  write_run(folder);
  const std::string out = folder.write("kept.xlsx", "mine");
  const RunResult r = run_binary({"batch", "-b", folder.path(), "-f", "step_8", "-o", out});
  EXPECT_EQ(r.code, 6) << r.err;
  EXPECT_TRUE(has(r.err, "exists already")) << r.err;
  EXPECT_EQ(test::bytes_of(out), "mine");
  EXPECT_EQ(
      run_binary({"batch", "-b", folder.path(), "-f", "step_8", "-o", out, "--overwrite"}).code, 0);
  EXPECT_NE(test::bytes_of(out), "mine");
}

TEST(Batch, SeveralFoldersOneOfWhichFails) {
  const TempFolder folder;
  write_run(folder, "a");
  (void)folder.write("b/traces_rank_0_step_8.json", "{\"traceEvents\": [");
  write_run(folder, "c");
  const RunResult r = run_binary({"batch", "-b", folder.path(), "-f", "step_8"});
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_TRUE(there(folder.path("a/a_step_8_performance_report.xlsx")));
  EXPECT_TRUE(there(folder.path("c/c_step_8_performance_report.xlsx")));
  const RunResult output =
      run_binary({"batch", "-b", folder.path(), "-f", "step_8", "-o", folder.path("o.xlsx")});
  EXPECT_EQ(output.code, 2) << output.err;
  EXPECT_TRUE(has(output.err, "3 folders with traces found")) << output.err;
  EXPECT_FALSE(there(folder.path("o.xlsx")));
}

TEST(Batch, ATruncatedTraceCostsItself) {
  const TempFolder folder;
  write_run(folder);
  const std::string text = rank_trace();
  (void)folder.write("run/traces_rank_1_step_8.json", "not a trace");
  const RunResult r = run_binary({"batch", "-b", folder.path(), "-f", "step_8"});
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_TRUE(has(r.err, "3 of 4 ranks could be read")) << r.err;
  EXPECT_TRUE(there(folder.path("run/run_step_8_performance_report.xlsx")));
  (void)folder.write("run/traces_rank_1_step_8.json", text.substr(0, text.size() / 2));
  const RunResult cut = run_binary({"batch", "-b", folder.path(), "-f", "step_8", "--overwrite"});
  EXPECT_EQ(cut.code, 4) << cut.err;
  EXPECT_TRUE(has(cut.err, "traces_rank_1_step_8.json")) << cut.err;
}

TEST(Batch, WrongUse) {
  const TempFolder folder;
  write_run(folder);
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> args{"batch", "-b", folder.path()};
    args.insert(args.end(), more.begin(), more.end());
    return run_binary(args);
  };
  EXPECT_EQ(run_binary({"batch"}).code, 2);
  const RunResult extension = run({"-e", "txt"});
  EXPECT_EQ(extension.code, 2);
  EXPECT_TRUE(has(extension.err, "invalid extension txt, json and gz are supported"));
  const RunResult pattern = run({"-p", "rank_(", "-f", "step_8"});
  EXPECT_EQ(pattern.code, 2);
  EXPECT_TRUE(has(pattern.err, "'rank_(' is not a regular expression")) << pattern.err;
  const RunResult none = run({"-f", "step_9"});
  EXPECT_EQ(none.code, 3);
  EXPECT_TRUE(has(none.err, "no json files found, check filters and filepaths")) << none.err;
  EXPECT_TRUE(has(none.err, "4 json files exist, but no path contains all of these texts: step_9"))
      << none.err;
  const RunResult gz = run({"-e", "gz"});
  EXPECT_EQ(gz.code, 3);
  EXPECT_TRUE(has(gz.err, "--extension json")) << gz.err;
  const RunResult absent = run_binary({"batch", "-b", "/nowhere/at/all"});
  EXPECT_EQ(absent.code, 3);
  EXPECT_TRUE(has(absent.err, "there is no such folder")) << absent.err;
  const RunResult unmatched = run({"-p", "gpu", "-f", "step_8"});
  EXPECT_EQ(unmatched.code, 3);
  EXPECT_TRUE(has(unmatched.err, "no rank number after 'gpu'")) << unmatched.err;
}

TEST(Batch, APatternWithGroups) {
  const TempFolder folder;
  (void)folder.write("r/gpu3.json", rank_trace());
  (void)folder.write("r/device4.json", rank_trace());
  const RunResult r = run_binary({"batch", "-b", folder.path(), "-p", "(gpu|device)", "-f", "r/",
                                  "-o", folder.path("o.json")});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(has(test::bytes_of(folder.path("o.json")), "time_ms_4"));
}

TEST(Batch, TwoTracesOfOneRank) {
  const TempFolder folder;
  write_run(folder);
  (void)folder.write("run/traces_rank_0_step_9.json", rank_trace());
  const RunResult r = run_binary({"batch", "-b", folder.path(), "-f", "rank_0"});
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_TRUE(has(r.err, "two traces of rank 0")) << r.err;
}

TEST(Batch, AFolderThatCannotBeRead) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "root reads every folder";
  const TempFolder folder;
  write_run(folder, "a");
  write_run(folder, "locked");
  ::chmod(folder.path("locked").c_str(), 0);
  const RunResult r = run_binary({"batch", "-b", folder.path(), "-f", "step_8"});
  ::chmod(folder.path("locked").c_str(), 0755);
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_TRUE(has(r.err, "folder cannot be read")) << r.err;
  EXPECT_TRUE(there(folder.path("a/a_step_8_performance_report.xlsx")));
}

TEST(Batch, LinksToAFolderAboveEnd) {
  const TempFolder folder;
  write_run(folder);
  std::filesystem::create_directory_symlink(folder.path(), folder.path("run/again"));
  (void)folder.write(".hidden/traces_rank_0_step_8.json", rank_trace());
  const RunResult r = run_binary({"batch", "-b", folder.path(), "-f", "step_8", "-d"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.find("Creating"), r.out.rfind("Creating")) << r.out;
}

TEST(Batch, EveryKernelAndGroupsThatAreMissing) {
  const TempFolder folder;
  write_run(folder);
  const RunResult r =
      run_binary({"batch", "-b", folder.path(), "-f", "step_8", "-a", "-o", folder.path("o.json")});
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string json = test::bytes_of(folder.path("o.json"));
  EXPECT_TRUE(has(json, "kernels_10")) << json.substr(0, 300);
  EXPECT_TRUE(has(r.err, ": no events with shapes on rank 0, 1, 2, 10")) << r.err;
  EXPECT_TRUE(has(r.err, "[rank0] Parent: aten::mm UID: 0, Duration: 0.005 ms")) << r.err;
}

// HA-M6: three folders of two ranks caused 69 lines of notes and warnings.
TEST(Batch, LinesOfSeveralFoldersArePrintedOnce) {
  const TempFolder folder;
  for (const char* run : {"a", "b", "c"})
    for (const char* rank : {"0", "1"})
      (void)folder.write(std::string(run) + "/traces_rank_" + rank + "_step_8.json", rank_trace());
  const RunResult r = run_binary({"batch", "-b", folder.path(), "-f", "step_8"});
  EXPECT_EQ(r.code, 0) << r.err;
  std::size_t lines = 0; // number of notes and warnings; the other lines are progress
  for (std::size_t at = r.err.find("rankscope: "); at != std::string::npos;
       at = r.err.find("rankscope: ", at + 1))
    ++lines;
  EXPECT_LE(lines, 5U) << r.err;
  EXPECT_TRUE(has(r.err, "note: all 3 folders: ")) << r.err;
  EXPECT_FALSE(has(r.err, folder.path("a"))) << r.err;
  // a note about only one folder has the name of the folder
  (void)folder.write("b/traces_rank_2_step_8.json", rank_trace());
  const RunResult more = run_binary({"batch", "-b", folder.path(), "-f", "step_8", "--overwrite"});
  EXPECT_TRUE(has(more.err, "note: 2 of 3 folders: ")) << more.err;
  EXPECT_TRUE(has(more.err, folder.path("b") + ": ")) << more.err;
}

TEST(Batch, JsonSaysWhatBecameOfEachFolder) {
  const TempFolder folder;
  write_run(folder);
  const RunResult r = run_binary({"--json", "batch", "-b", folder.path(), "-f", "step_8"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(has(r.out, "\"rankscope/1\"")) << r.out;
  EXPECT_TRUE(has(r.out, ".xlsx\",4,")) << r.out; // number of ranks
}

} // namespace
} // namespace rankscope
