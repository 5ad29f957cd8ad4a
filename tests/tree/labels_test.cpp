// Tests that the labels of tests (tests/labels.cmake) name existing suites.
#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

/// Returns FOLDER/SUITE of each pattern in tests/labels.cmake that names suites, and its label.
std::vector<std::pair<std::string, std::string>> labelled_suites() {
  const std::string text = test::bytes_of(test::source_dir() / "tests/labels.cmake");
  const std::regex pattern(
      // a list, or a pattern in a list
      R"re(set\(label_([\w-]+)|"(\w+)/(?:\(([\w|]+)\)|(\w+))\[\.\])re");
  std::vector<std::pair<std::string, std::string>> out;
  std::string label;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    if ((*it)[1].matched) {
      label = (*it)[1];
      continue;
    }
    std::istringstream suites((*it)[3].matched ? (*it)[3].str() : (*it)[4].str());
    for (std::string suite; std::getline(suites, suite, '|');)
      out.emplace_back((*it)[2].str() + "/" + suite, label);
  }
  return out;
}

TEST(Labels, EachLabelledSuiteIsThere) {
  std::set<std::string> there;
  const std::regex test(R"re(\nTEST(?:_F|_P)?\((\w+),)re");
  const fs::path tests = test::source_dir() / "tests";
  for (const auto& entry : fs::recursive_directory_iterator(tests)) {
    if (entry.path().extension() != ".cpp")
      continue;
    const std::string text = test::bytes_of(entry.path());
    const std::string folder = fs::relative(entry.path(), tests).begin()->string();
    for (std::sregex_iterator it(text.begin(), text.end(), test), end; it != end; ++it)
      there.insert(folder + "/" + (*it)[1].str());
  }
  const auto labelled = labelled_suites();
  EXPECT_GE(labelled.size(), 30U);
  for (const auto& [suite, label] : labelled)
    EXPECT_TRUE(there.count(suite)) << suite << ", label " << label << ": there is no such suite";
}

// The executables in this list are built with ThreadSanitizer. The command-line tests are not in
// it, because they run the program.
TEST(Labels, ExecutablesWithThreadsAreBuiltForThreadSanitizer) {
  const std::string lists = test::bytes_of(test::source_dir() / "tests/CMakeLists.txt");
  const std::regex loop(
      R"re(foreach\(folder ([\w ]+)\)\n  if\(TARGET rs_\$\{folder\}_tests\)\n    add_dependencies\(rs_threads_tests)re");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(lists, found, loop));
  const std::string folders = " " + found[1].str() + " ";
  for (const auto& [suite, label] : labelled_suites()) {
    const std::string folder = suite.substr(0, suite.find('/'));
    if (label == "threads" && folder != "cli") {
      EXPECT_NE(folders.find(" " + folder + " "), std::string::npos) << suite;
    }
  }
}

// The target of simdjson has definitions that change the layout of its classes. A test that
// includes the header must link the target; otherwise one program contains both layouts.
TEST(Labels, TestsThatSeeSimdjsonLinkItsTarget) {
  const fs::path tests = test::source_dir() / "tests";
  const std::string lists = test::bytes_of(tests / "CMakeLists.txt");
  for (const auto& folder : fs::directory_iterator(tests)) {
    if (!folder.is_directory())
      continue;
    bool sees = false;
    for (const auto& file : fs::directory_iterator(folder))
      sees = sees ||
             (file.is_regular_file() &&
              test::bytes_of(file.path()).find("\n#include <simdjson.h>\n") != std::string::npos);
    const std::string name = folder.path().filename().string();
    const std::size_t at = lists.find("tests(" + name + " ");
    if (!sees || at == std::string::npos)
      continue;
    const std::string call = lists.substr(at, lists.find(')', at) - at);
    EXPECT_NE(call.find("simdjson::simdjson"), std::string::npos) << name;
  }
}

} // namespace
} // namespace rankscope
