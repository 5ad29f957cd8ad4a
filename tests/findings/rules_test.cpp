// Tests the list of rules: stable ids, and the table of docs/findings.md.
#include "findings/rules.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>

namespace rankscope {
namespace {

TEST(FindingRules, IdsAreDistinctWordsWithHyphens) {
  std::set<std::string_view> ids;
  for (const FindingRule& rule : finding_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_TRUE(std::regex_match(std::string(rule.id), std::regex("[a-z]+(-[a-z]+)*"))) << rule.id;
    EXPECT_FALSE(rule.meaning.empty()) << rule.id;
    EXPECT_LE(rule.meaning.size(), kHeadlineWidth) << rule.id;
  }
  EXPECT_GT(ids.size(), 20U);
}

// A rule without a finding would be documented, but not implemented.
TEST(FindingRules, EveryRuleIsUsed) {
  std::string sources;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_dir() / "src/findings"))
    if (entry.path().extension() == ".cpp")
      sources += test::bytes_of(entry.path());
  std::set<std::string> used = {
#define RANKSCOPE_CAUSE(rule, finding, ...) #finding,
#include "analyses/job/causes.def"
#undef RANKSCOPE_CAUSE
  };
  const std::regex rule("rules::(\\w+)");
  for (std::sregex_iterator it(sources.begin(), sources.end(), rule), end; it != end; ++it)
    used.insert((*it)[1]);
#define RANKSCOPE_RULE(name, id, kind, meaning) EXPECT_TRUE(used.contains(#name)) << id;
#include "findings/rules.def"
#undef RANKSCOPE_RULE
}

TEST(FindingRules, TheDocsHaveTheirTable) {
  const std::string page = test::bytes_of(test::source_dir() / "docs/findings.md");
  std::string rows = "| rule | kind | meaning |\n|---|---|---|\n";
  for (const FindingRule& rule : finding_rules())
    rows +=
        fmt::format("| `{}` | {} | {} |\n", rule.id, finding_kind_name(rule.kind), rule.meaning);
  EXPECT_NE(page.find(rows), std::string::npos) << "docs/findings.md needs:\n" << rows;
}

TEST(FindingRules, TheDocsNameEveryField) {
  const std::string page = test::bytes_of(test::source_dir() / "docs/findings.md");
  for (const AnyField& field : finding_schema().fields())
    EXPECT_NE(page.find("`" + field.id + "`"), std::string::npos) << field.id;
}

} // namespace
} // namespace rankscope
