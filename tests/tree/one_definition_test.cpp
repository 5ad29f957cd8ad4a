// Tests that no namespace has two types of the same name. If no file includes both, the compiler
// does not report them, and the linker keeps only one of their destructors.
#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <string>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

TEST(OneDefinition, TypesOfHeadersHaveNamesOfTheirOwn) {
  const std::regex space(R"re(\nnamespace (rankscope[\w:]*) \{)re");
  const std::regex type(R"re(\n(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;{]*)? \{)re");
  std::map<std::string, fs::path> first;
  for (const auto& entry : fs::recursive_directory_iterator(test::source_dir() / "src")) {
    if (entry.path().extension() != ".h")
      continue;
    const std::string text = test::bytes_of(entry.path());
    std::smatch where;
    if (!std::regex_search(text, where, space))
      continue;
    for (std::sregex_iterator it(text.begin(), text.end(), type), end; it != end; ++it) {
      const auto [at, fresh] = first.emplace(where[1].str() + "::" + (*it)[1].str(), entry.path());
      EXPECT_TRUE(fresh) << at->first << " stands in " << at->second << " and " << entry.path();
    }
  }
  EXPECT_GT(first.size(), 300U);
}

} // namespace
} // namespace rankscope
