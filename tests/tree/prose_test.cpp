// Tests that no sentence has a term of the old style (scripts/prose.sh), and that the script finds
// terms only in sentences.
#include "temp_folder.h"
#include "test_paths.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>

namespace rankscope {
namespace {

struct ProseRun {
  int exit_code = -1;
  std::string output;
};

ProseRun run_prose(const std::string& arguments) {
  const std::string command =
      "'" + (test::source_dir() / "scripts/prose.sh").string() + "' " + arguments + " 2>&1";
  ProseRun run;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr)
    return run;
  std::array<char, 4096> block{};
  for (std::size_t n = 0; (n = fread(block.data(), 1, block.size(), pipe)) > 0;)
    run.output.append(block.data(), n);
  const int status = pclose(pipe);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

class Prose : public ::testing::Test {
protected:
  void SetUp() override {
    if (std::system("command -v python3 >/dev/null") != 0)
      GTEST_SKIP() << "python3 is not installed";
  }
};

TEST_F(Prose, NoSentenceHasATermOfTheOldStyle) {
  const ProseRun run = run_prose("");
  EXPECT_EQ(run.exit_code, 0) << run.output;
}

TEST_F(Prose, TermsAreFoundInSentencesOnly) {
  const test::TempFolder folder;
  const auto list = [&](const char* name, const std::string& text) {
    const std::string path = folder.write(name, text);
    std::string out = run_prose("'" + path + "'").output;
    for (std::size_t at = 0; (at = out.find(path + ":")) != std::string::npos;)
      out.erase(at, path.size() + 1);
    return out;
  };
  EXPECT_EQ(list("code.cpp", "// Comes\n"
                             "// late, as a whole.\n"
                             "const int twin = 'n'; /* a twin */\n"
                             "const auto* text = \"the ranks come \" // beside\n"
                             "                   \"late\";\n"
                             "const auto* joined = \"they come \"\n"
                             "                     \"late\\n\";\n"
                             "const auto* raw = R\"(nobody\nis told)\";\n"
                             "const auto* name = \"whole\"; // `whole`\n"),
            "1: Comes late -> starts late\n"
            "3: twin -> counterpart, duplicate\n"
            "4: beside -> overlapping, next to, at the same time as\n"
            "6: come late -> starts late\n"
            "8: nobody -> the caller, no command\n"
            "9: told -> significant, reported, named\n");
  EXPECT_EQ(list("page.md", "The run is no\nrun. `whole`\n\n```\ntold\n```\n[told](whole.md)\n"),
            "1: is no -> is not a, is not\n"
            "7: told -> significant, reported, named\n");
  EXPECT_EQ(list("page.js", "const at = /told'/.test(told); // told\n"
                            "RS.el('p', `of ${told} ranks: told ${n}`);\n"),
            "1: told -> significant, reported, named\n"
            "2: told -> significant, reported, named\n");
  EXPECT_EQ(list("plain.md", "Rank 3 starts late in 4 of 5 steps.\n"), "");
}

} // namespace
} // namespace rankscope
