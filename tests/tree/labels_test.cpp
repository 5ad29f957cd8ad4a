// The label `threads` decides what ThreadSanitizer runs: a folder of tests that run threads has it.
#include "test_paths.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Folders with the label in tests/CMakeLists.txt, as `rs_tests(FOLDER "LABELS" ...)`.
std::set<std::string> labelled(const std::string& lists) {
  std::set<std::string> out;
  const std::regex call(R"re(rs_(?:layer_)?tests\((\w+) "\w+;threads")re");
  for (std::sregex_iterator it(lists.begin(), lists.end(), call), end; it != end; ++it)
    out.insert((*it)[1]);
  return out;
}

/// What starts threads, in tests: the standard library's, the project's, commands with workers.
bool runs_threads(const std::string& text) {
  static const std::regex uses(
      R"re(std::j?thread|std::async|TaskPool|TaskGroup|\bthreads = |load_each|run_ranks|generate\(|run_binary)re");
  return std::regex_search(text, uses);
}

TEST(Labels, FoldersWhoseTestsRunThreadsAreLabelled) {
  const fs::path tests = test::source_dir() / "tests";
  const std::set<std::string> threads = labelled(text_of(tests / "CMakeLists.txt"));
  EXPECT_GE(threads.size(), 5U);
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(tests)) {
    const std::string folder = fs::relative(entry.path(), tests).begin()->string();
    // golden: the same loads as property, on files too large for a sanitizer; tree: this file
    if (folder == "golden" || folder == "tree" || folder == "fuzz" ||
        entry.path().extension() != ".cpp" || !runs_threads(text_of(entry.path())))
      continue;
    found.insert(folder);
    EXPECT_TRUE(threads.count(folder)) << entry.path() << ": its folder lacks the label `threads`";
  }
  EXPECT_TRUE(found.count("readers"));
  EXPECT_TRUE(found.count("property"));
}

// Its defines change the layout of its classes: what sees the header links the target, or both
// layouts stand in one program.
TEST(Labels, TestsThatSeeSimdjsonLinkItsTarget) {
  const fs::path tests = test::source_dir() / "tests";
  const std::string lists = text_of(tests / "CMakeLists.txt");
  for (const auto& folder : fs::directory_iterator(tests)) {
    if (!folder.is_directory())
      continue;
    bool sees = false;
    for (const auto& file : fs::directory_iterator(folder))
      sees = sees || (file.is_regular_file() &&
                      text_of(file.path()).find("\n#include <simdjson.h>\n") != std::string::npos);
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
