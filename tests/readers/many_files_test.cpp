// Tests discovery of 10,000 ranks: each folder is listed once and each entry is checked once. The
// calls are counted, so the result does not depend on the speed of the machine.
#include "readers/discovery.h"
#include "temp_folder.h"

#include <atomic>
#include <dirent.h>
#include <dlfcn.h>
#include <filesystem>
#include <gtest/gtest.h>

namespace {

std::atomic<std::uint64_t> g_folders{0};
std::atomic<std::uint64_t> g_entries{0};

template <class Function> Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

} // namespace

// functions that some version of the standard library calls
extern "C" DIR* opendir(const char* path) {
  static const auto real = next<DIR* (*)(const char*)>("opendir");
  ++g_folders;
  return real(path);
}
extern "C" DIR* fdopendir(int fd) {
  static const auto real = next<DIR* (*)(int)>("fdopendir");
  ++g_folders;
  return real(fd);
}
extern "C" dirent* readdir(DIR* folder) {
  static const auto real = next<dirent* (*)(DIR*)>("readdir");
  ++g_entries;
  return real(folder);
}

namespace rankscope {
namespace {

struct Reads {
  std::uint64_t folders = 0, entries = 0;
};

/// Returns the number of calls for the discovery of `ranks` ranks.
Reads reads_of(std::size_t ranks, bool folder_each) {
  const test::TempFolder folder;
  folder.write("one.json", "{}");
  std::filesystem::create_directory(folder.path("run"));
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::string rank = folder.path("run/rank" + std::to_string(r));
    if (folder_each)
      std::filesystem::create_directory(rank);
    std::filesystem::create_hard_link(folder.path("one.json"),
                                      rank + (folder_each ? "/trace.json" : ".json"));
  }
  DiscoverOptions options;
  options.check_header_rank = false;
  Diagnostics diagnostics;
  g_folders = 0;
  g_entries = 0;
  const Result<RunPlan> plan = discover_run({folder.path("run")}, options, diagnostics);
  const Reads out{g_folders, g_entries};
  EXPECT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->ranks.size(), ranks);
  EXPECT_TRUE(diagnostics.empty());
  return out;
}

TEST(ManyFiles, AFolderOfTenThousandIsListedOnce) {
  const Reads reads = reads_of(10'000, false);
  EXPECT_EQ(reads.folders, 1U);
  EXPECT_GE(reads.entries, 10'000U); // the hook is active
  EXPECT_LE(reads.entries, 10'003U); // plus ".", "..", and the end
}

TEST(ManyFiles, FoldersAreListedOnceEach) {
  const Reads reads = reads_of(2000, true);
  EXPECT_EQ(reads.folders, 2001U);
  EXPECT_GE(reads.entries, 4000U);
  EXPECT_LE(reads.entries, 2003U + 2000U * 4);
}

TEST(ManyFiles, MissingRanksAreASentence) {
  const test::TempFolder folder;
  for (const int r : {0, 1, 2, 9999})
    folder.write("run/rank" + std::to_string(r) + ".json", "{}");
  DiscoverOptions options;
  options.check_header_rank = false;
  Diagnostics diagnostics;
  ASSERT_TRUE(discover_run({folder.path("run")}, options, diagnostics));
  ASSERT_EQ(diagnostics.problems().size(), 1U);
  EXPECT_EQ(diagnostics.problems()[0].sentence, "ranks 3-9998 have no trace");
  EXPECT_EQ(missing_ranks_text({1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35}),
            "ranks 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, ... (18 in all) have "
            "no trace");
}

} // namespace
} // namespace rankscope
