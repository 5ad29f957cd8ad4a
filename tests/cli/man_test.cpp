// Tests that manual pages and completions describe all options, and that `cmake --install` installs
// them.
#include "cli/command.h"
#include "cli/man_page.h"
#include "os/process.h"
#include "run_binary.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <regex>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

std::string unescaped(std::string roff) {
  for (const char* what : {"\\-", "\\e", "\\&"})
    for (std::size_t at = 0; (at = roff.find(what, at)) != std::string::npos;)
      roff.replace(at, 2, what[1] == '&' ? "" : what[1] == 'e' ? "\\" : "-");
  return roff;
}

TEST(Man, EscapesWhatRoffWouldTakeAsItsOwn) {
  EXPECT_EQ(roff_text(".B a\\b --c\n'x"), "\\&.B a\\eb \\-\\-c\n\\&'x");
  EXPECT_EQ(roff_text("a.b'c"), "a.b'c");
}

TEST(Man, EveryCommandHasAPageWithEachFlagOfItsHelp) {
  const test::TempFolder folder;
  ASSERT_EQ(test::run_binary({"man", "-o", folder.path("man1")}).code, 0);
  const std::regex flag("--[a-z][-a-z0-9]+");
  for (const Command* command : commands()) {
    const std::string page = unescaped(
        test::bytes_of(folder.path(std::string("man1/rankscope-") + command->name + ".1")));
    ASSERT_FALSE(page.empty()) << command->name;
    const std::string help = test::run_binary({command->name, "--help"}).out;
    for (std::sregex_iterator it(help.begin(), help.end(), flag), end; it != end; ++it)
      EXPECT_NE(page.find(it->str()), std::string::npos) << command->name << ' ' << it->str();
    EXPECT_NE(page.find(command->examples), std::string::npos) << command->name;
  }
  const std::string root = unescaped(test::bytes_of(folder.path("man1/rankscope.1")));
  for (const Command* command : commands())
    EXPECT_NE(root.find(std::string(".BR rankscope-") + command->name + " (1)"), std::string::npos);
  EXPECT_NE(root.find("130 interrupted"), std::string::npos);
}

TEST(Man, PrintsOnePageOrSaysThatThereIsNone) {
  EXPECT_EQ(test::run_binary({"man", "report"}).out.rfind(".TH rankscope\\-report 1", 0), 0U);
  EXPECT_EQ(test::run_binary({"man"}).out.rfind(".TH rankscope 1", 0), 0U);
  const test::RunResult none = test::run_binary({"man", "nothing"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("no command nothing"), std::string::npos);
}

TEST(Man, GroffHasNothingToSay) {
  const test::TempFolder folder;
  ASSERT_EQ(test::run_binary({"man", "-o", folder.path("man1")}).code, 0);
  for (const fs::directory_entry& page : fs::directory_iterator(folder.path("man1"))) {
    ProcessSpec spec;
    spec.argv = {"groff", "-man", "-ww", "-z", "-Tutf8", page.path().string()};
    spec.err = Stream::kCapture;
    const Result<ProcessEnd> end = run_process(std::move(spec));
    if (!end && end.error().code == ErrorCode::kMissingTool)
      GTEST_SKIP() << "groff is not installed";
    ASSERT_TRUE(end) << end.error().message();
    EXPECT_EQ(end->err, "") << page.path();
    EXPECT_TRUE(end->ok()) << page.path();
  }
}

class Completion : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Completion, ::testing::Values("bash", "zsh"));

TEST_P(Completion, FindsCommandsAndFlags) {
  const std::string shell = GetParam();
  const test::TempFolder folder;
  const std::string script = folder.write("script", test::run_binary({"completion", shell}).out);
  const auto words = [&](const std::string& line, const char* at,
                         const char* print = "echo \"${COMPREPLY[*]}\"") {
    ProcessSpec spec;
    spec.argv = {shell};
    spec.argv.emplace_back(shell == "zsh" ? "-f" : "--norc");
    const std::string before =
        shell == "zsh" ? "autoload -U compinit; compinit -D; setopt ksharrays; " : "";
    spec.argv.insert(spec.argv.end(),
                     {"-c", before + "source " + script + "; COMP_WORDS=(" + line +
                                ") COMP_CWORD=" + at + "; _rankscope_words; " + print});
    spec.out = spec.err = Stream::kCapture;
    const Result<ProcessEnd> end = run_process(std::move(spec));
    return end ? end->out + end->err : "";
  };
  const std::string commands = words("rankscope comple", "1");
  if (commands.empty())
    GTEST_SKIP() << shell << " is not installed";
  const std::string flags = words("rankscope report --gpu-ar", "2");
  if (shell == "bash") {
    EXPECT_EQ(commands, "completion\n");
    EXPECT_EQ(flags, "--gpu-arch\n");
    EXPECT_EQ(words("rankscope gemm var", "2"), "variance\n");
    EXPECT_EQ(words("rankscope baseline ''", "2"), "save check history\n");
    EXPECT_EQ(words("rankscope -j 4 synt", "3"), "synth\n");
    EXPECT_EQ(words("rankscope report --gpu-arch MI300", "3"), "MI300X\n");
    // HA-E25: a file name with a blank was completed as two words
    (void)folder.write("x y.json", "");
    const std::string files =
        words("rankscope report " + folder.path("x"), "2", "printf '%s\\n' \"${COMPREPLY[@]}\"");
    EXPECT_NE(files.find(folder.path("x y.json") + "\n"), std::string::npos) << files;
  } else { // the line editor of this shell leaves out words with another prefix
    EXPECT_NE(commands.find(" completion "), std::string::npos) << commands;
    EXPECT_NE(flags.find(" --gpu-arch "), std::string::npos) << flags;
    EXPECT_EQ(flags.find("analyze"), std::string::npos) << flags;
  }
}

TEST(Install, PutsTheProgramItsPagesAndCompletionsInPlace) {
  const test::TempFolder folder;
  const fs::path build = fs::path(test::binary()).parent_path();
  ProcessSpec spec;
  spec.argv = {"cmake", "--install", build.string(), "--prefix", folder.path("usr")};
  spec.err = Stream::kCapture;
  const Result<ProcessEnd> end = run_process(std::move(spec));
  if (!end && end.error().code == ErrorCode::kMissingTool)
    GTEST_SKIP() << "cmake is not installed";
  ASSERT_TRUE(end) << end.error().message();
  ASSERT_TRUE(end->ok()) << end->err;
  const test::RunResult version =
      test::run_program(folder.path("usr/bin/rankscope"), {"--version"});
  EXPECT_EQ(version.code, 0) << version.err;
  for (const char* file :
       {"share/man/man1/rankscope.1", "share/man/man1/rankscope-top.1",
        "share/bash-completion/completions/rankscope", "share/zsh/site-functions/_rankscope",
        "share/fish/vendor_completions.d/rankscope.fish", "share/doc/rankscope/copyright",
        "share/doc/rankscope/docs/top.md"})
    EXPECT_GT(fs::file_size(fs::path(folder.path("usr")) / file), 0U) << file;
}

} // namespace
} // namespace rankscope
