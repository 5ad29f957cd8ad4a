// The folder that processes share for their temporary ones: whoever is told to end waits until all
// have removed theirs, as the first one's end may be the others' SIGKILL.
#include "os/scratch_folder.h"

#include "os/cleanup.h"
#include "temp_folder.h"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A process in the shared folder that is told to end when it has a folder of its own in it.
pid_t begin_and_end(const std::string& shared) {
  const pid_t child = ::fork();
  if (child != 0)
    return child;
  const SharedScratch here = SharedScratch::enter(shared);
  const auto own = ScratchFolder::create();
  const bool inside = own && fs::path(own->path()).parent_path() == shared;
  cleanup::end_everything();
  ::_exit(inside && !fs::exists(own->path()) ? 0 : 1);
}

bool ends_within(pid_t child, std::chrono::milliseconds time, int& status) {
  const auto until = std::chrono::steady_clock::now() + time;
  do {
    if (::waitpid(child, &status, WNOHANG) == child)
      return true;
    std::this_thread::sleep_for(5ms);
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

TEST(SharedScratch, AnEndedProcessLeavesWhenTheOthersHaveRemovedTheirs) {
  const test::TempFolder folder;
  const std::string shared = folder.path("job");
  fs::create_directories(shared + "/other");
  const pid_t child = begin_and_end(shared);
  ASSERT_GT(child, 0);
  int status = -1;
  EXPECT_FALSE(ends_within(child, 300ms, status));
  fs::remove(shared + "/other");
  ASSERT_TRUE(ends_within(child, 60s, status));
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists(shared));
}

TEST(SharedScratch, WhatNobodyRemovesIsRemovedAfterAWhile) {
  const test::TempFolder folder;
  const std::string shared = folder.path("job");
  fs::create_directories(shared + "/of/a/killed/one");
  const pid_t child = begin_and_end(shared);
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_TRUE(ends_within(child, 60s, status));
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists(shared));
}

TEST(SharedScratch, TheLastToLeaveRemovesIt) {
  const test::TempFolder folder;
  const std::string shared = folder.path("job");
  fs::create_directories(shared + "/other");
  {
    const SharedScratch here = SharedScratch::enter(shared);
    const auto own = ScratchFolder::create();
    ASSERT_TRUE(own);
    EXPECT_EQ(fs::path(own->path()).parent_path(), shared);
  }
  EXPECT_TRUE(fs::exists(shared + "/other"));
  fs::remove(shared + "/other");
  { const SharedScratch here = SharedScratch::enter(shared); }
  EXPECT_FALSE(fs::exists(shared));
  const auto later = ScratchFolder::create(); // in the system's again
  ASSERT_TRUE(later);
  EXPECT_NE(fs::path(later->path()).parent_path(), shared);
}

TEST(SharedScratch, OneThatIsNotThereForThisProcessIsDoneWithout) {
  const test::TempFolder folder;
  const SharedScratch here = SharedScratch::enter(folder.path("of another machine"));
  EXPECT_TRUE(ScratchFolder::create());
}

} // namespace
} // namespace rankscope
