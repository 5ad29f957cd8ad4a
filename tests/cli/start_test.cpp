// Tests the start of the program: which libraries every command loads, and the start time (printed,
// not checked). Libraries that few commands use are opened only by those, and a defect of such a
// library affects only those.
#include "run_binary.h"
#include "temp_folder.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;
using test::TempFolder;

class Variable {
public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

private:
  const char* name_;
};

RunResult report(const std::string& output) {
  const fs::path trace = test::source_dir() / "tests/data/synth/amd/rank0.json.gz";
  return run_binary({"report", trace.string(), "-q", "-o", output});
}

TEST(Start, TakesFewLibraries) {
#if !defined(RANKSCOPE_XLSXWRITER_SONAME) || !defined(RANKSCOPE_LIBZIP_SONAME)
  GTEST_SKIP() << "this build links libzip and libxlsxwriter (RANKSCOPE_OPEN_LATE)";
#else
  const Variable list("LD_TRACE_LOADED_OBJECTS", "1"); // the loader prints the libraries and ends
  const RunResult r = run_binary({"--version"});
  ASSERT_NE(r.out.find("libc.so"), std::string::npos) << r.out;
  for (const char* name : {"libcrypto", RANKSCOPE_XLSXWRITER_SONAME, RANKSCOPE_LIBZIP_SONAME})
    EXPECT_EQ(r.out.find(name), std::string::npos) << r.out;
#endif
}

TEST(Start, TimeIsPrinted) {
  std::vector<double> ms;
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(run_binary({"--version"}).code, 0);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    ms.push_back(took.count());
  }
  std::sort(ms.begin(), ms.end());
  std::fputs(fmt::format("rankscope --version: median {:.2f} ms, least {:.2f} ms\n",
                         ms[ms.size() / 2], ms.front())
                 .c_str(),
             stdout);
}

#ifdef RANKSCOPE_XLSXWRITER_SONAME

TEST(Start, ALibraryThatCannotBeOpenedStopsWorkbooksOnly) {
  const TempFolder folder;
  folder.write(RANKSCOPE_XLSXWRITER_SONAME, "no library");
  const Variable first("LD_LIBRARY_PATH", folder.path());
  const RunResult bad = report(folder.path("r.xlsx"));
  EXPECT_EQ(bad.code, 7);
  EXPECT_NE(bad.err.find(RANKSCOPE_XLSXWRITER_SONAME), std::string::npos) << bad.err;
  EXPECT_NE(bad.err.find("install libxlsxwriter"), std::string::npos) << bad.err;
  EXPECT_FALSE(fs::exists(folder.path("r.xlsx")));
  EXPECT_EQ(report(folder.path("r.json")).code, 0);
}

TEST(Start, ALibraryWithoutAFunctionIsNamedWithIt) {
  const TempFolder folder;
  fs::path other; // any library that this test has loaded
  for (const char* at : {"/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/x86_64-linux-gnu/libm.so.6",
                         "/lib64/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6"})
    if (other.empty() && fs::exists(at))
      other = at;
  if (other.empty())
    GTEST_SKIP() << "no libm.so.6 where it is looked for";
  fs::copy_file(fs::canonical(other), folder.path(RANKSCOPE_XLSXWRITER_SONAME));
  const Variable first("LD_LIBRARY_PATH", folder.path());
  const RunResult bad = report(folder.path("r.xlsx"));
  EXPECT_EQ(bad.code, 7);
  EXPECT_NE(bad.err.find("has no "), std::string::npos) << bad.err;
}

#endif

#ifdef RANKSCOPE_LIBZIP_SONAME

TEST(Start, ALibraryThatCannotBeOpenedStopsTheReadingOfWorkbooksOnly) {
  const TempFolder folder;
  ASSERT_EQ(report(folder.path("r.xlsx")).code, 0);
  folder.write(RANKSCOPE_LIBZIP_SONAME, "no library");
  const Variable first("LD_LIBRARY_PATH", folder.path());
  const RunResult bad = run_binary({"compare-reports", folder.path("r.xlsx"), folder.path("r.xlsx"),
                                    "-o", folder.path("c.json")});
  EXPECT_EQ(bad.code, 7) << bad.err;
  EXPECT_NE(bad.err.find("install libzip"), std::string::npos) << bad.err;
}

#endif

} // namespace
} // namespace rankscope
