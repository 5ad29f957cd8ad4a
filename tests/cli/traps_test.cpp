// HA-E1, HA-E2: no command runs code from the current folder.
#include "cli/every_command.h"
#include "cli/run_binary.h"
#include "sanitized.h"

#include <cstdlib>
#include <sstream>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// The current folder and HOME are a folder with files that leave marks when they are run.
class Traps : public test::EveryCommand {
protected:
  void SetUp() override {
    EveryCommand::SetUp();
    for (const char* module : {"ast", "importlib", "json", "torch"})
      (void)traps_.write(std::string(module) + ".py",
                         "open('" + marks_.path(module) + "', 'w').close()\n");
    fs::create_directories(marks_.path("linker"));
    ::setenv("HOME", traps_.path().c_str(), 1);
    ::setenv("LD_DEBUG", "libs", 1);
    ::setenv("LD_DEBUG_OUTPUT", marks_.path("linker/log").c_str(), 1);
    fs::current_path(traps_.path());
  }
  void TearDown() override {
    ::unsetenv("LD_DEBUG");
    fs::current_path(before_);
  }

  /// Returns the libraries that this program and its children searched in the current folder: paths
  /// that are relative or below the folder. Removes the linker's logs.
  std::string libraries_from_here() {
    std::string found;
    for (const auto& log : fs::directory_iterator(marks_.path("linker"))) {
      std::ifstream in(log.path());
      for (std::string line; std::getline(in, line);)
        if (const std::size_t at = line.find("trying file="); at != std::string::npos) {
          ++tried_;
          const std::string file = line.substr(at + 12);
          if (!file.starts_with('/') || file.starts_with(traps_.path()))
            found += file + '\n';
        }
      fs::remove(log.path());
    }
    return found;
  }
  /// Returns the names of files in this folder that were run, one per line.
  std::string marks() const {
    std::string found;
    for (const auto& mark : fs::directory_iterator(marks_.path()))
      if (mark.path().filename() != "linker")
        found += mark.path().filename().string() + '\n';
    return found;
  }

  test::TempFolder traps_, marks_;
  fs::path before_ = fs::current_path();
  int tried_ = 0;
};

TEST_F(Traps, EveryCommandLeavesTheCurrentFolderAlone) {
  std::vector<Words> all = all_commands();
  (void)folder_.write("nsys/a_cuda_gpu_kern_sum.csv", "");
  for (const Words& words : {Words{"replay", trace_, "--runner", "pytorch", "--top", "1"},
                             {"watch", traces_, "--once"},
                             {"split", trace_, "-o", out("pieces")},
                             {"nsys", folder_.path("nsys")},
                             {"completion", "bash"},
                             {"man"}})
    all.push_back(words);
  std::set<std::string> missing = test::command_names();
  for (const Words& words : all)
    missing.erase(words[0]);
  EXPECT_EQ(missing, std::set<std::string>());
  if (test::sanitized_program()) // one start, and one with Python: the others take minutes
    std::erase_if(all,
                  [](const Words& words) { return words[0] != "info" && words[0] != "replay"; });
  for (const Words& words : all) {
    const test::RunResult r = test::run_binary(words);
    EXPECT_EQ(libraries_from_here(), "") << words[0] << ": " << r.err;
    EXPECT_EQ(marks(), "") << words[0];
  }
  EXPECT_GT(tried_, 0) << "the dynamic linker's log shows no library at all";
}

} // namespace
} // namespace rankscope
