// Tests that pages which comments and pages cite exist, and that they contain the cited numbered
// sections.
#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

const fs::path kTop = test::source_dir();

std::vector<fs::path> files_below(const char* folder, const std::set<std::string>& endings) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(kTop / folder))
    if (endings.count(entry.path().extension().string()) > 0)
      out.push_back(entry.path());
  return out;
}

/// Returns the text of all // comments, joined so that a citation may continue on the next line.
std::string comments_of(const std::string& source) {
  std::string out;
  for (std::size_t at = source.find("//"); at != std::string::npos; at = source.find("//", at)) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    std::size_t from = source.find_first_not_of("/<", at);
    from = std::min(from, end);
    out += source.substr(from, end - from) + " ";
    at = end;
  }
  return out;
}

TEST(Citations, PagesAndSectionsThatCommentsCiteExist) {
  // a page, and the number of a section if the citation has one: "docs/reference/report-rules.md 3"
  const std::regex citation(R"re(([\w./-]*\w\.md)(?:\s+(\d+)\b)?)re");
  // a file that commands write, and a page of another project (nccl-tests)
  const std::set<std::string> others = {"summary.md", "PERFORMANCE.md"};
  int pages = 0;
  int sections = 0;
  for (const char* folder : {"src", "tests", "include", "examples"})
    for (const fs::path& file : files_below(folder, {".cpp", ".h", ".def"})) {
      if (file.filename() == "citations_test.cpp")
        continue;
      const std::string text = comments_of(test::bytes_of(file));
      for (std::sregex_iterator it(text.begin(), text.end(), citation), end; it != end; ++it) {
        const std::string page = (*it)[1];
        if (others.count(page) > 0 || page == "docs/NAME.md")
          continue;
        ++pages;
        ASSERT_TRUE(fs::is_regular_file(kTop / page)) << file << " cites " << page;
        if ((*it)[2].matched && page.starts_with("docs/reference/")) {
          ++sections;
          EXPECT_NE(test::bytes_of(kTop / page).find("\n## " + (*it)[2].str() + ". "),
                    std::string::npos)
              << file << " cites section " << (*it)[2] << " of " << page;
        }
      }
    }
  EXPECT_GT(pages, 20);
  EXPECT_GT(sections, 10);
}

TEST(Citations, FilesThatTheTourNamesExist) {
  const std::regex source(
      R"re(\b((?:base|os|core|model|readers|analyses|writers|sql|synth|collect|engine|pages|app|cli|api)/[a-z0-9_/]+\.(?:cpp|h|def)))re");
  int files = 0;
  for (const char* page : {"docs/architecture.md", "HACKING.md"}) {
    const std::string text = test::bytes_of(kTop / page);
    for (std::sregex_iterator it(text.begin(), text.end(), source), end; it != end; ++it, ++files)
      EXPECT_TRUE(fs::is_regular_file(kTop / "src" / (*it)[1].str()))
          << page << " names " << (*it)[1];
  }
  EXPECT_GT(files, 30);
}

TEST(Citations, LinksBetweenPagesLeadSomewhere) {
  const std::regex link(R"re(\]\(([\w./-]+\.md)(?:#[\w-]*)?\))re");
  std::vector<fs::path> pages = files_below("docs", {".md"});
  for (const auto& entry : fs::directory_iterator(kTop))
    if (entry.path().extension() == ".md")
      pages.push_back(entry.path());
  int links = 0;
  for (const fs::path& page : pages) {
    const std::string text = test::bytes_of(page);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it, ++links)
      EXPECT_TRUE(fs::is_regular_file(page.parent_path() / (*it)[1].str()))
          << page << " links to " << (*it)[1];
  }
  EXPECT_GT(links, 20);
}

/// Returns FOLDER/Suite.Test for all tests, and FOLDER/Suite.* for all suites.
std::set<std::string> names_of_tests() {
  const std::regex test(R"re(TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))re");
  std::set<std::string> out;
  for (const fs::path& file : files_below("tests", {".cpp"})) {
    const std::string folder = file.parent_path().filename().string();
    const std::string text = test::bytes_of(file);
    for (std::sregex_iterator it(text.begin(), text.end(), test), end; it != end; ++it) {
      out.insert(folder + "/" + (*it)[1].str() + "." + (*it)[2].str());
      out.insert(folder + "/" + (*it)[1].str() + ".*");
    }
  }
  return out;
}

TEST(Citations, TestsInTheTableOfDefectsExist) {
  const std::set<std::string> tests = names_of_tests();
  const std::string page = test::bytes_of(kTop / "docs/reference/hardening.md");
  const std::regex cited(R"re(`([a-z]+/[A-Z]\w*\.(?:\w+|\*))`)re");
  int found = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), cited), end; it != end; ++it, ++found)
    EXPECT_TRUE(tests.contains((*it)[1].str())) << "no test " << (*it)[1].str();
  EXPECT_GT(found, 40);
}

} // namespace
} // namespace rankscope
