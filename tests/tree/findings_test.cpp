// Tests that sentences of findings are composed only in src/findings.
#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

const fs::path kFindingsSource = test::source_dir() / "src";

std::size_t matches(const std::string& text, const std::regex& pattern) {
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), pattern), {}));
}

/// Returns the files of src that match, as paths below src, without the layers and files in `but`.
std::set<std::string> files_with(const std::regex& pattern, const std::set<std::string>& but) {
  std::set<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(kFindingsSource)) {
    const std::string name = fs::relative(entry.path(), kFindingsSource).string();
    const std::string layer = name.substr(0, name.find('/'));
    if (entry.is_regular_file() && but.count(layer) + but.count(name) == 0 &&
        matches(test::bytes_of(entry.path()), pattern) > 0)
      out.insert(name);
  }
  return out;
}

// The texts of a finding are set only by the templates of src/findings and the functions of
// compose.h.
TEST(Findings, AreComposedInOneLayer) {
  const std::regex composes(
      R"re([.>]headline\s*\+?=[^=]|\bset_headline\(|\bfinding_of\(|"findings/rules\.h")re");
  std::size_t in_layer = 0;
  for (const auto& entry : fs::directory_iterator(kFindingsSource / "findings"))
    in_layer += matches(test::bytes_of(entry.path()), composes);
  EXPECT_GT(in_layer, 60U) << "the pattern finds what it looks for";
  EXPECT_EQ(files_with(composes, {"findings"}), std::set<std::string>());
}

// A finding is a record, not a sentence in a list. Only collect, which has no analyses, has such
// lists for the runs that it starts.
TEST(Findings, AreNotListsOfSentences) {
  const std::regex list(R"re(vector<std::string>&?>?\s+\w*[fF]indings\b)re");
  EXPECT_FALSE(files_with(list, {}).empty()) << "the pattern finds what it looks for";
  EXPECT_EQ(files_with(list, {"collect"}), std::set<std::string>());
}

// Runs of a sweep return facts (core/run_check.h). Only profile, whose codes are in its manifest,
// composes its findings where it detects them.
TEST(Findings, OfRunsOfASweepAreFactsInCollect) {
  const std::regex appends(R"re([.>]findings\.(push_back|emplace_back)\()re");
  std::set<std::string> found;
  for (const std::string& name : files_with(appends, {"findings"}))
    if (name.rfind("collect/", 0) == 0 && name.rfind("collect/profile/", 0) != 0)
      found.insert(name);
  EXPECT_EQ(found, std::set<std::string>());
}

} // namespace
} // namespace rankscope
