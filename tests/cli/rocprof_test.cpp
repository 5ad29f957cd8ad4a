// Tests databases of AMD's profilers with the program: output of info and report, and exit codes.
#include "rocprof_files.h"
#include "run_binary.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr const char* kEnvironment = R"({"RANK": "3", "API_TOKEN": "never-to-be-seen"})";

bool says_rocprof(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(RocprofRun, InfoNamesTheProducerAndWhatIsAbsent) {
  const test::TempFolder folder;
  const std::string path = folder.path("x_results.db");
  test::run_sql(path, test::rocpd_session(test::RocpdSchema::k300, "a", kEnvironment));
  test::run_sql(path, "DROP TABLE rocpd_memory_copy_a;");
  const test::RunResult r = test::run_binary({"info", path});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(says_rocprof(r.out, "producer")) << r.out;
  EXPECT_TRUE(says_rocprof(r.out, "CLOCK_BOOTTIME"));
  EXPECT_TRUE(says_rocprof(r.out, "memory copies (not traced, or did not occur)"));
  EXPECT_TRUE(says_rocprof(r.out, "ranges step N"));
  EXPECT_FALSE(says_rocprof(r.out + r.err, "never-to-be-seen"));
}

TEST(RocprofRun, ReportSaysWhichSheetsThereAreNot) {
  const test::TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, test::rocpd_session(test::RocpdSchema::k300, "a", kEnvironment));
  const test::RunResult r = test::run_binary({"report", path});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(says_rocprof(r.err, "contains no CPU operators")) << r.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path("x_perf_report.xlsx")));
}

TEST(RocprofRun, LostRowsExitWithFourAndNoDatabaseWithThree) {
  const test::TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, test::rocpd_session(test::RocpdSchema::k300, "a", kEnvironment));
  test::run_sql(path, "UPDATE rocpd_kernel_dispatch_a SET start = NULL WHERE id = 1;");
  const test::RunResult lost = test::run_binary({"info", path});
  EXPECT_EQ(lost.code, 4);
  EXPECT_TRUE(says_rocprof(lost.err, "lacks a usable start or end")) << lost.err;
  const test::RunResult none = test::run_binary(
      {"info", folder.write("y.db", std::string("SQLite format 3\0 rocpd_region_", 30))});
  EXPECT_EQ(none.code, 3);
  EXPECT_TRUE(says_rocprof(none.err, "is not a readable database")) << none.err;
}

} // namespace
} // namespace rankscope
