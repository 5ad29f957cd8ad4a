// Tests the folder in which the processes of a job have their temporary folders. A process that is
// ended waits until all processes have removed their folders, because the end of the first may be a
// SIGKILL for the others.
#include "os/scratch_folder.h"

#include "os/cleanup.h"
#include "os/temporary_name.h"
#include "temp_folder.h"
#include "waiting.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Starts a process that creates a folder in the shared folder and is then ended.
pid_t begin_and_end(const std::string& shared) {
  const pid_t child = ::fork();
  if (child != 0)
    return child;
  const SharedScratch here = SharedScratch::enter(shared);
  const auto scratch = ScratchFolder::create();
  const bool inside = scratch && fs::path(scratch->path()).parent_path() == shared;
  cleanup::end_everything();
  ::_exit(inside && !fs::exists(scratch->path()) ? 0 : 1);
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
    const auto scratch = ScratchFolder::create();
    ASSERT_TRUE(scratch);
    EXPECT_EQ(fs::path(scratch->path()).parent_path(), shared);
  }
  EXPECT_TRUE(fs::exists(shared + "/other"));
  fs::remove(shared + "/other");
  { const SharedScratch here = SharedScratch::enter(shared); }
  EXPECT_FALSE(fs::exists(shared));
  const auto later = ScratchFolder::create(); // in the system's temporary folder again
  ASSERT_TRUE(later);
  EXPECT_NE(fs::path(later->path()).parent_path(), shared);
}

TEST(SharedScratch, OneThatIsNotThereForThisProcessIsDoneWithout) {
  const test::TempFolder folder;
  const SharedScratch here = SharedScratch::enter(folder.path("of another machine"));
  EXPECT_TRUE(ScratchFolder::create());
}

/// A process that creates a folder in TMPDIR, or in the job's folder there, and is killed on
/// request.
class Killed {
public:
  explicit Killed(bool in_job, const std::string& names) {
    child_ = ::fork();
    if (child_ != 0)
      return;
    const SharedScratch job = SharedScratch::enter(in_job ? SharedScratch::make() : "");
    const auto scratch = ScratchFolder::create();
    std::ofstream(scratch->path() + "/big") << "x";
    std::ofstream(names) << scratch->path() << "\n"; // closed: the complete line is written
    for (;;)
      ::pause();
  }
  Killed(const Killed&) = delete;
  Killed& operator=(const Killed&) = delete;
  ~Killed() { kill(); }
  void kill() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    child_ = -1;
  }

private:
  pid_t child_ = -1;
};

// HA-E15: the parts of workbooks are written to such a folder in memory.
TEST(ScratchFolder, InAnotherFolderTooWhatAKilledProcessLeftIsRemoved) {
  const test::TempFolder folder;
  fs::create_directories(folder.path("first"));
  const auto first = ScratchFolder::create(folder.path("first"));
  ASSERT_TRUE(first);
  const std::string name = fs::path(first->path()).filename();
  const std::string left = folder.path("second/" + name.substr(0, name.size() - 6) + "abcdef");
  fs::create_directories(left);
  fs::last_write_time(left, fs::file_time_type::clock::now() - 1h);
  const auto second = ScratchFolder::create(folder.path("second"));
  ASSERT_TRUE(second);
  EXPECT_EQ(fs::path(second->path()).parent_path(), folder.path("second"));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(first->path()));
}

TEST(ScratchFolder, WhatAKilledProcessLeftIsRemovedByTheNext) {
  const test::TempFolder folder;
  const auto name_in = [](const std::string& file) {
    std::string name;
    std::ifstream in(file);
    std::getline(in, name);
    return in.eof() ? std::string() : name;
  };
  for (const bool in_job : {false, true}) {
    // another TMPDIR each time, because a folder is searched only once
    const std::string temporary = folder.path(in_job ? "job" : "own");
    fs::create_directories(temporary);
    ::setenv("TMPDIR", temporary.c_str(), 1);
    Killed gone(in_job, folder.path("gone"));
    Killed fresh(in_job, folder.path("fresh"));
    const Killed living(in_job, folder.path("living"));
    const auto top = [&](const std::string& file) { // the folder directly in TMPDIR
      const fs::path name = name_in(folder.path(file));
      return in_job ? name.parent_path() : name;
    };
    for (const char* file : {"gone", "fresh", "living"})
      ASSERT_TRUE(test::soon([&] { return !name_in(folder.path(file)).empty(); }));
    const fs::path foreign = temporary + "/rankscope-" +
                             (machine_tag() == "00000000" ? "00000001" : "00000000") + "-abcdef";
    const fs::path somebodys = temporary + "/rankscope-golden";
    const fs::path longer = top("gone").string() + "7";
    const std::vector<fs::path> others = {foreign, somebodys, longer};
    for (const fs::path& path : others)
      fs::create_directories(path);
    gone.kill();
    fresh.kill();
    for (const fs::path& path : {top("gone"), top("living"), foreign, somebodys, longer})
      fs::last_write_time(path, fs::file_time_type::clock::now() - 1h);
    fs::last_write_time(top("fresh"), fs::file_time_type::clock::now());
    const auto next = ScratchFolder::create();
    ASSERT_TRUE(next);
    EXPECT_FALSE(fs::exists(top("gone")));
    EXPECT_TRUE(fs::exists(top("fresh"))); // modified less than a minute ago
    EXPECT_TRUE(fs::exists(name_in(folder.path("living")) + "/big"));
    for (const fs::path& path : others)
      EXPECT_TRUE(fs::exists(path)) << path;
    for (const char* file : {"gone", "fresh", "living"})
      fs::remove(folder.path(file));
  }
  ::unsetenv("TMPDIR");
}

} // namespace
} // namespace rankscope
