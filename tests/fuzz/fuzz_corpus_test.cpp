// Replays the fuzz seeds and old crashers, so that they run where libFuzzer is absent.
#include "fuzz/fuzz_one.h"
#include "test_paths.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace rankscope {
namespace {

TEST(FuzzCorpus, ReaderSurvivesEverySeed) {
  std::size_t seeds = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           test::source_dir() / "tests" / "fuzz" / "corpus")) {
    if (!entry.is_regular_file())
      continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    fuzz_one(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    ++seeds;
  }
  EXPECT_GE(seeds, 5U);
}

} // namespace
} // namespace rankscope
