// Tests that commands only convert flags to requests and print: their files are short and build no
// table, page or plot.
#include "temp_folder.h"
#include "test_paths.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

TEST(CliFiles, CommandsAreShort) {
  constexpr std::ptrdiff_t kLines = 160; // HACKING.md recommends 150
  int commands = 0;
  for (const auto& entry : fs::directory_iterator(test::source_dir() / "src" / "cli")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("cmd_"))
      continue;
    ++commands;
    const std::string text = test::bytes_of(entry.path().string());
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kLines) << name;
  }
  EXPECT_GT(commands, 20);
}

TEST(CliFiles, NoTablesPagesOrPlotsAreMadeInThem) {
  constexpr std::array kMakers{"Table(",    "Schema<",   "add_row(",
                               "html_page", "Drawing::", "draw_plots"};
  for (const auto& entry : fs::directory_iterator(test::source_dir() / "src" / "cli")) {
    const std::string text = test::bytes_of(entry.path().string());
    for (const char* maker : kMakers)
      EXPECT_EQ(text.find(maker), std::string::npos) << entry.path() << " has " << maker;
  }
}

} // namespace
} // namespace rankscope
