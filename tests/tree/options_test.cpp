// Tests that a flag is declared only once (flags of several commands are in cli/options.h), and
// that every version of CLI11 accepts the names.
#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

/// Returns the text of each file with declarations of flags.
std::map<fs::path, std::string> texts_of_commands() {
  std::map<fs::path, std::string> out;
  for (const char* folder : {"src/cli", "src/mpi"})
    for (const auto& entry : fs::directory_iterator(test::source_dir() / folder))
      out.emplace(entry.path(), test::bytes_of(entry.path().string()));
  return out;
}

TEST(Options, NoFlagIsDeclaredTwice) {
  const std::regex declaration(
      R"re((?:\badd_option|\badd_flag|\badd_option_function|\boption|\balso)re"
      R"re(|(?:\bOption|Choice<\w+>) \w+)[({]\s*"([-\w,]+)")re");
  std::map<std::string, fs::path> first;
  for (const auto& [path, text] : texts_of_commands())
    for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it) {
      std::istringstream names((*it)[1].str());
      for (std::string name; std::getline(names, name, ',');) {
        if (name.rfind("--", 0) != 0)
          continue;
        const auto [at, fresh] = first.emplace(name, path);
        EXPECT_TRUE(fresh) << name << " is declared in " << at->second << " and " << path;
      }
    }
  EXPECT_GT(first.size(), 250U) << "the pattern finds what it looks for";
}

// CLI11 2.3 throws at the start of the command; Debian's version accepts such a name.
TEST(Options, NamesHaveNoBlanks) {
  const std::regex blank(R"re(\badd_(?:option|flag|option_function)\(\s*"[^"]* [^"]*")re");
  EXPECT_TRUE(std::regex_search("app.add_option(\"SQL TRACE\", value)", blank));
  for (const auto& [path, text] : texts_of_commands()) {
    std::smatch found;
    EXPECT_FALSE(std::regex_search(text, found, blank)) << path << ": " << found.str();
  }
}

} // namespace
} // namespace rankscope
