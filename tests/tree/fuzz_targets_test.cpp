// Tests that each reader and each row of the table in docs/testing.md has a fuzz target.
#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <string>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

const fs::path kFuzz = test::source_dir() / "tests" / "fuzz";

bool has_target(const std::string& name) {
  return fs::is_regular_file(kFuzz / (name + "_fuzz.cpp")) &&
         fs::is_directory(kFuzz / "corpus" / name);
}

TEST(FuzzTargets, EachReaderHasOne) {
  const std::string list =
      test::bytes_of((test::source_dir() / "src" / "readers" / "readers.def").string());
  const std::regex entry(R"re(RANKSCOPE_READER\((\w+)\))re");
  int readers = 0;
  for (std::sregex_iterator it(list.begin(), list.end(), entry), end; it != end; ++it, ++readers) {
    const std::string name = (*it)[1];
    EXPECT_TRUE(has_target(name == "kineto_json" ? "kineto" : name)) << name;
  }
  EXPECT_GE(readers, 5);
}

TEST(FuzzTargets, WhatIsParsedIsListedWithItsTarget) {
  const std::string page = test::bytes_of((test::source_dir() / "docs" / "testing.md").string());
  const std::size_t begin = page.find("\n## Foreign bytes");
  ASSERT_NE(begin, std::string::npos);
  const std::string table = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  const std::regex row(R"re(\n\| .* \| `([\w/.]+)` \| `(\w+)` \|)re");
  int rows = 0;
  for (std::sregex_iterator it(table.begin(), table.end(), row), end; it != end; ++it, ++rows) {
    EXPECT_TRUE(fs::exists(test::source_dir() / "src" / (*it)[1].str())) << (*it)[1];
    EXPECT_TRUE(has_target((*it)[2])) << (*it)[2];
  }
  EXPECT_GE(rows, 25);
}

} // namespace
} // namespace rankscope
