// Tests the data of a release (scripts/shipped.py, scripts/release.sh): its version, its notes, and
// the oldest library versions that it supports.
#include "run_binary.h"
#include "sanitized.h"
#include "temp_folder.h"

#include <cstdlib>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>

namespace rankscope {
namespace {

test::RunResult run_shipped(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"python3", (test::source_dir() / "scripts/shipped.py").string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return test::run_program("/usr/bin/env", all);
}

std::vector<int> numbers_of(const std::string& version) {
  std::vector<int> out;
  std::istringstream parts(version);
  for (std::string part; std::getline(parts, part, '.');)
    out.push_back(std::stoi(part));
  return out;
}

TEST(Release, ThePagesAndTheChangelogHaveItsVersion) {
  const std::string version = RANKSCOPE_VERSION;
  const auto page = [](const char* name) {
    return test::bytes_of((test::source_dir() / name).string());
  };
  EXPECT_NE(page("CHANGELOG.md").find("\n## " + version + "\n"), std::string::npos);
  EXPECT_NE(page("docs/json.md").find("\"version\": \"" + version + "\""), std::string::npos);
  EXPECT_NE(page("docs/python.md").find("rankscope-" + version + "-py3"), std::string::npos);
}

TEST(Release, ItsNotesAreTheSectionOfTheChangelog) {
  if (std::system("command -v python3 >/dev/null") != 0)
    GTEST_SKIP() << "python3 is not installed";
  const test::RunResult notes = run_shipped({"changes", "0.1.0"});
  EXPECT_EQ(notes.code, 0) << notes.err;
  EXPECT_EQ(notes.out.rfind("First version: ", 0), 0U) << notes.out.substr(0, 80);
  EXPECT_EQ(notes.out.find("\n## "), std::string::npos);
  EXPECT_NE(run_shipped({"changes", "0.0.1"}).code, 0);
}

TEST(Release, TheProgramNeedsNoNewerLibrariesThanThePageStates) {
  if (std::system("command -v python3 >/dev/null && command -v objdump >/dev/null") != 0)
    GTEST_SKIP() << "python3 or objdump is not installed";
  if (test::sanitized_program())
    GTEST_SKIP() << "the libraries of sanitizers are newer";
  if (numbers_of(gnu_get_libc_version()) > numbers_of("2.36"))
    GTEST_SKIP() << "releases are made on Debian 12, which has an older C library";
  const test::RunResult floor = run_shipped({"floor", test::binary()});
  ASSERT_EQ(floor.code, 0) << floor.err;
  const std::string page = test::bytes_of((test::source_dir() / "docs/install.md").string());
  std::istringstream lines(floor.out);
  int known = 0;
  for (std::string prefix, version; lines >> prefix >> version; ++known) {
    std::smatch stated;
    ASSERT_TRUE(std::regex_search(page, stated, std::regex("`" + prefix + "_([0-9.]+)`")))
        << prefix;
    EXPECT_LE(numbers_of(version), numbers_of(stated[1])) << prefix;
  }
  EXPECT_EQ(known, 3) << floor.out;
}

} // namespace
} // namespace rankscope
