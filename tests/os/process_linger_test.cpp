// Tests a child that lingers: the processes that it left behind run until they are asked to end.
#include "os/process.h"
#include "temp_folder.h"
#include "waiting.h"

#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

namespace rankscope {
namespace {

using namespace std::chrono_literals;
using test::alive;
using test::TempFolder;

pid_t pid_in(const std::string& file) {
  pid_t pid = 0;
  for (int i = 0; i < 6000 && pid == 0; ++i) {
    std::ifstream(file) >> pid;
    if (pid == 0)
      std::this_thread::sleep_for(10ms);
  }
  return pid;
}

TEST(ProcessLinger, ABackgroundProcessOutlivesItsStarterUntilItIsEnded) {
  const TempFolder folder;
  const std::string file = folder.path("pid");
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "setsid sleep 100 & echo $! > \"$0\"; exit 3", file};
  spec.guarded = true;
  spec.lingers = true;
  Result<Process> child = Process::start(std::move(spec));
  ASSERT_TRUE(child);
  const Result<ProcessEnd> child_end = child->wait_child();
  ASSERT_TRUE(child_end);
  EXPECT_EQ(child_end->exit_code, 3);
  const pid_t left = pid_in(file);
  // longer than the grace period of a child that does not linger
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(alive(left));
  const Result<ProcessEnd> end = child->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_EQ(end->left_behind, 1);
  EXPECT_FALSE(alive(left));
}

TEST(ProcessLinger, ADeadlineEndsTheChildAndWhatItBegan) {
  const TempFolder folder;
  const std::string file = folder.path("pid");
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "sleep 100 & echo $! > \"$0\"; wait", file};
  spec.guarded = true;
  spec.lingers = true;
  spec.deadline = 2s; // longer than a busy machine needs to start the child
  Result<Process> child = Process::start(std::move(spec));
  ASSERT_TRUE(child);
  const Result<ProcessEnd> child_end = child->wait_child();
  ASSERT_TRUE(child_end);
  EXPECT_TRUE(child_end->timed_out);
  EXPECT_FALSE(alive(pid_in(file)));
  EXPECT_TRUE(child->wait());
}

} // namespace
} // namespace rankscope
