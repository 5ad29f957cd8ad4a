// Tests that the examples do what their first lines say.
#include "cli/run_binary.h"
#include "sanitized.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

test::RunResult run(const std::string& example, const std::vector<std::string>& args) {
  return test::run_program(std::string(RANKSCOPE_EXAMPLES) + "/" + example, args);
}
std::string trace() {
  return (test::source_dir() / "tests" / "data" / "synth" / "amd" / "rank0.json.gz").string();
}

TEST(Examples, TopKernels) {
  const auto r = run("top_kernels", {trace(), "3"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 3);
  EXPECT_NE(r.out.find("Cijk_"), std::string::npos) << r.out;
  EXPECT_EQ(run("top_kernels", {}).code, 2);
  EXPECT_EQ(run("top_kernels", {"/no/such/file"}).code, 3);
}

TEST(Examples, SheetCsvIsTheReportsOwn) {
  const auto r = run("sheet_csv", {trace(), "gpu_timeline"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.substr(0, r.out.find('\n')), "type,time ms,percent");
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 9);
  EXPECT_NE(run("sheet_csv", {trace(), "CONV_fwd"}).code, 0);
}

TEST(Examples, TablesByTheCInterface) {
  if (test::kAddressSanitized || test::kThreadSanitized)
    GTEST_SKIP() << "a program in C is not linked with the runtime that the library needs then";
  const auto r = run("tables", {(test::source_dir() / "tests/data/synth/amd").string()});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_NE(r.out.find("ranks: 2 x "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("table_columns: "), std::string::npos) << r.out;
  EXPECT_EQ(run("tables", {}).code, 2);
  EXPECT_EQ(run("tables", {"/no/such/file"}).code, 3);
}

} // namespace
} // namespace rankscope
