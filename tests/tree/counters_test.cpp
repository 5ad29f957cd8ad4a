// Tests that each counter in the list is used, and that each key has a counter with its name.
#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <string>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

std::set<std::string> words_in(const std::string& text, const std::regex& pattern) {
  std::set<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    out.insert((*it)[1]);
  return out;
}

TEST(Counters, EachIsUsedAndEachKeyIsOne) {
  const fs::path source = test::source_dir() / "src";
  const std::string rows = test::bytes_of(source / "base/counters.def");
  const auto plain = words_in(rows, std::regex(R"re(RS_COUNTER\((\w+))re"));
  const auto forms = words_in(rows, std::regex(R"re(RS_COUNTER_AS\((\w+))re"));
  const auto keys = words_in(rows, std::regex(R"re(RS_COUNTER_AS\(\w+, (\w+))re"));
  EXPECT_GT(plain.size(), 80U) << "the pattern finds what it looks for";
  std::set<std::string> used;
  for (const auto& entry : fs::recursive_directory_iterator(source))
    if (entry.is_regular_file())
      used.merge(words_in(test::bytes_of(entry.path()), std::regex(R"re(counters::(\w+))re")));
  for (const auto* names : {&plain, &forms})
    for (const std::string& name : *names)
      EXPECT_TRUE(used.contains(name)) << name << " is used nowhere";
  for (const std::string& key : keys)
    EXPECT_TRUE(plain.contains(key)) << key << " is no counter";
}

} // namespace
} // namespace rankscope
