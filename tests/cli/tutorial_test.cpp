// Follows docs/tutorial.md word by word: runs every block of commands and every command in a
// sentence or a table, in one folder and in the order of the page, and checks that the output
// contains the lines that the page shows. Runs the answers of README.md and docs/why.md too.
#include "run_binary.h"
#include "temp_folder.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>
#include <string_view>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

struct TutorialPiece {
  enum Kind { kCommands, kOutput, kPython } kind;
  std::string text;
};

bool tutorial_needs_gpu(const std::string& command) {
  return command.find("torchrun") != std::string::npos;
}

/// Returns the blocks of the page and the commands between them, in order.
std::vector<TutorialPiece> pieces_of(const std::string& page) {
  static const std::regex inline_command("`(rankscope [^`]+)`");
  std::vector<TutorialPiece> out;
  std::istringstream lines(page);
  std::string text; // a paragraph or a table; a command may continue on the next line
  const auto between = [&] {
    for (std::sregex_iterator it(text.begin(), text.end(), inline_command), end; it != end; ++it)
      out.push_back(
          {TutorialPiece::kCommands, std::regex_replace((*it)[1].str(), std::regex("\n"), " ")});
    text.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("```", 0) != 0) {
      text += line + "\n";
      continue;
    }
    between();
    const std::string language = line.substr(3);
    std::string block;
    while (std::getline(lines, line) && line != "```")
      block += line + "\n";
    if (language == "python")
      out.push_back({TutorialPiece::kPython, block});
    else if (language == "text")
      out.push_back({TutorialPiece::kOutput, block});
    else {
      EXPECT_EQ(language == "sh", !tutorial_needs_gpu(block)) << block;
      out.push_back({TutorialPiece::kCommands, block});
    }
  }
  between();
  return out;
}

/// Makes the folders work, and bin with the program.
void make_folders(const TempFolder& folder) {
  fs::create_directories(folder.path("work"));
  fs::create_directories(folder.path("bin"));
  fs::create_symlink(test::binary(), folder.path("bin/rankscope"));
}

/// Runs a script in the folder work, with the program on PATH.
test::RunResult run_in_shell(const TempFolder& folder, const std::string& script) {
  return test::run_program("/bin/bash", {"-euo", "pipefail", "-c",
                                         "cd '" + folder.path("work") + "'; export PATH='" +
                                             folder.path("bin") + "':\"$PATH\"\n" + script});
}

void expect_lines(const std::string& shown, const std::string& printed) {
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);)
    EXPECT_NE(("\n" + printed).find("\n" + line + "\n"), std::string::npos) << line << "\nnot in\n"
                                                                            << printed;
}

void follow_tutorial(std::string_view vendor, bool compare_output) {
  if (std::getenv("RANKSCOPE_SANITIZED") != nullptr)
    GTEST_SKIP() << "its commands are those of other tests";
  const TempFolder folder;
  make_folders(folder);
  std::string last;
  int commands = 0;
  for (const TutorialPiece& piece :
       pieces_of(test::bytes_of((test::source_dir() / "docs/tutorial.md").string()))) {
    if (piece.kind == TutorialPiece::kPython) {
      folder.write("work/train.py", piece.text);
      if (std::system("command -v python3 >/dev/null") == 0) {
        EXPECT_EQ(run_in_shell(folder, "python3 -m py_compile train.py").code, 0);
      }
    } else if (piece.kind == TutorialPiece::kOutput) {
      if (compare_output)
        expect_lines(piece.text, last);
    } else if (!tutorial_needs_gpu(piece.text)) {
      std::string text = piece.text;
      if (const std::size_t at = text.find("rankscope synth "); at != std::string::npos)
        text.insert(at + 16, "--vendor " + std::string(vendor) + " ");
      if (text.find("--watch") != std::string::npos) // runs until Ctrl-C
        text = "timeout -s INT 2 " + text + " || [ $? -eq 124 ] || [ $? -eq 130 ]";
      const test::RunResult run = run_in_shell(folder, text);
      EXPECT_EQ(run.code, 0) << text << "\n" << run.out << run.err;
      last = run.out;
      ++commands;
    }
  }
  EXPECT_GE(commands, 15);
  for (const char* file : {"run.html", "compare.html", "merged.json.gz", "ops.csv", "verdict"})
    EXPECT_TRUE(fs::exists(folder.path(std::string("work/") + file))) << file;
}

TEST(Tutorial, EveryCommandRunsAndPrintsWhatThePageShows) {
  follow_tutorial("amd", true);
}

// Each block that begins with "$ rankscope why FILE" shows lines of its output; "..." are others.
TEST(Tutorial, AnswersOnRecordedStepsAreThoseOfThePages) {
  if (std::getenv("RANKSCOPE_SANITIZED") != nullptr)
    GTEST_SKIP() << "its commands are those of other tests";
  const TempFolder folder;
  make_folders(folder);
  const fs::path causes = test::source_dir() / "tests/data/causes";
  fs::create_directories(folder.path("work/tests/data"));
  fs::create_symlink(causes, folder.path("work/tests/data/causes"));
  for (const fs::directory_entry& file : fs::directory_iterator(causes))
    fs::create_symlink(file.path(), folder.path("work/" + file.path().filename().string()));
  static const std::regex block("\n```\n\\$ (rankscope why [^\n]+)\n([^`]+)```\n");
  int answers = 0;
  for (const char* page : {"README.md", "docs/why.md"}) {
    const std::string text = test::bytes_of((test::source_dir() / page).string());
    for (std::sregex_iterator it(text.begin(), text.end(), block), end; it != end; ++it) {
      const test::RunResult run = run_in_shell(folder, (*it)[1]);
      EXPECT_EQ(run.code, 0) << (*it)[1] << "\n" << run.err;
      expect_lines(std::regex_replace((*it)[2].str(), std::regex("\n\\.\\.\\."), ""), run.out);
      ++answers;
    }
  }
  EXPECT_EQ(answers, 7);
}

TEST(Tutorial, TheOtherVendorNeedsNoOtherCommand) {
  follow_tutorial("nvidia", false);
}

} // namespace
} // namespace rankscope
