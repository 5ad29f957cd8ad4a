// Tests that the sources have only one way for some tasks: worker threads come from the pool, and a
// table is not copied while it is shared.
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

std::set<std::string> files_with(const std::regex& text) {
  const fs::path source = test::source_dir() / "src";
  std::set<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(source))
    if ((entry.path().extension() == ".cpp" || entry.path().extension() == ".h") &&
        std::regex_search(test::bytes_of(entry.path().string()), text))
      out.insert(fs::relative(entry.path(), source).string());
  return out;
}

TEST(OneWay, WorkRunsInThePool) {
  // the pool, and files with threads that wait for something while others work: signals, a pipe, a
  // clock, a key
  const std::set<std::string> wait = {"os/tasks.cpp",
                                      "os/tasks.h",
                                      "os/signals.cpp",
                                      "os/stream_pump.cpp",
                                      "os/stream_pump.h",
                                      "collect/samplers/sampler.cpp",
                                      "collect/profile/library_watch.cpp",
                                      "collect/profile/library_watch.h",
                                      "cli/progress.cpp",
                                      "cli/progress.h",
                                      "cli/query_prompt.cpp"};
  for (const std::string& file : files_with(std::regex(R"(std::(thread|jthread|async)\b(?!::id))")))
    EXPECT_TRUE(wait.count(file)) << file << " starts threads of its own";
}

TEST(OneWay, NobodyAsksWhoElseHoldsAnObject) {
  EXPECT_EQ(files_with(std::regex(R"(\buse_count\()")), std::set<std::string>{});
}

} // namespace
} // namespace rankscope
