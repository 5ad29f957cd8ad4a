// Tests that a flag is declared only once (flags of several commands are in cli/options.h), and
// that every version of CLI11 accepts the names.
#include "test_paths.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

TEST(Options, NoFlagIsDeclaredTwice) {
  const std::regex declaration(
      R"re((?:\badd_option|\badd_flag|\badd_option_function|\boption|\balso)re"
      R"re(|(?:\bOption|Choice<\w+>) \w+)[({]\s*"([-\w,]+)")re");
  std::map<std::string, fs::path> first;
  for (const char* folder : {"src/cli", "src/mpi"})
    for (const auto& entry : fs::directory_iterator(test::source_dir() / folder)) {
      std::ifstream in(entry.path());
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it) {
        std::istringstream names((*it)[1].str());
        for (std::string name; std::getline(names, name, ',');) {
          if (name.rfind("--", 0) != 0)
            continue;
          const auto [at, fresh] = first.emplace(name, entry.path());
          EXPECT_TRUE(fresh) << name << " is declared in " << at->second << " and " << entry.path();
        }
      }
    }
  EXPECT_GT(first.size(), 250U) << "the pattern finds what it looks for";
}

// CLI11 2.3 throws at the start of the command; Debian's version accepts such a name.
TEST(Options, NamesHaveNoBlanks) {
  const std::regex blank(R"re(\badd_(?:option|flag|option_function)\(\s*"[^"]* [^"]*")re");
  for (const auto& entry : fs::directory_iterator(test::source_dir() / "src/cli")) {
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::smatch found;
    EXPECT_FALSE(std::regex_search(text, found, blank)) << entry.path() << ": " << found.str();
  }
}

} // namespace
} // namespace rankscope
