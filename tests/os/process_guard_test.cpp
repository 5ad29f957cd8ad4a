// Tests guarded children: no process of their tree remains after their end, their owner's end, or a
// kill.
#include "os/cleanup.h"
#include "os/process.h"
#include "temp_folder.h"
#include "waiting.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace rankscope {
namespace {

using namespace std::chrono_literals;
using test::alive;
using test::soon;

/// A tree of processes that run until they are killed: one in the child's group, one in a separate
/// session, one whose parent has ended, one that ignores SIGTERM. Each writes its process id into
/// the file.
class GuardedTree : public ::testing::Test {
protected:
  static constexpr std::size_t kTree = 5;

  [[nodiscard]] ProcessSpec tree(const std::string& last = "wait") const {
    const std::string live = "echo $$ >> " + pids_ + "; while :; do sleep 0.05; done";
    ProcessSpec spec;
    spec.argv = {"sh", "-c",
                 "echo $$ >> " + pids_ + "; sh -c '" + live + "' & setsid sh -c '" + live +
                     "' & (setsid sh -c '" + live +
                     "' &) ; setsid sh -c 'trap \"\" TERM HUP INT; " + live +
                     "' & while [ $(wc -l < " + pids_ + ") -lt 5 ]; do sleep 0.01; done; " + last};
    spec.guarded = true;
    spec.grace = 300ms;
    spec.deadline = 300s;
    return spec;
  }
  [[nodiscard]] std::vector<pid_t> processes() const {
    std::vector<pid_t> out;
    std::istringstream in(test::bytes_of(pids_));
    for (pid_t pid = 0; in >> pid;)
      out.push_back(pid);
    return out;
  }
  [[nodiscard]] bool is_complete() const { return processes().size() == kTree; }
  [[nodiscard]] bool none_lives() const {
    for (const pid_t pid : processes())
      if (alive(pid))
        return false;
    return true;
  }

  test::TempFolder folder_;
  std::string pids_ = folder_.path("pids");
};

TEST_F(GuardedTree, ExitCodeSignalAndPidAreTheChilds) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "echo $$; exit 7"};
  spec.out = Stream::kCapture;
  spec.guarded = true;
  Result<Process> child = Process::start(spec);
  ASSERT_TRUE(child);
  const pid_t pid = child->pid();
  Result<ProcessEnd> end = child->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 7);
  EXPECT_EQ(end->out, std::to_string(pid) + "\n");
  EXPECT_EQ(end->left_behind, 0);
  EXPECT_EQ(end->killed, 0);
  EXPECT_GT(end->seconds, 0);
  spec.argv = {"sh", "-c", "kill -SEGV $$"};
  end = run_process(spec);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGSEGV);
  spec.argv = {"rankscope-no-such-program"};
  end = run_process(spec);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kMissingTool);
  spec.argv = {"/etc/passwd"};
  end = run_process(spec);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kMissingTool);
}

TEST_F(GuardedTree, WhatTheChildLeavesBehindEndsAndIsCounted) {
  const Result<ProcessEnd> end = run_process(tree("exit 3"));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_TRUE(is_complete());
  EXPECT_TRUE(none_lives());
  // each of the four may have a sleep child at that moment
  EXPECT_GE(end->left_behind, 4);
  EXPECT_LE(end->left_behind, 8);
}

TEST_F(GuardedTree, TheDeadlineEndsAllOfIt) {
  ProcessSpec spec = tree();
  Result<Process> child = Process::start([&] {
    spec.deadline = 5s; // longer than a busy machine needs to start the tree
    return spec;
  }());
  ASSERT_TRUE(child);
  ASSERT_TRUE(soon([&] { return is_complete(); }));
  const Result<ProcessEnd> end = child->wait();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->timed_out);
  EXPECT_TRUE(none_lives());
}

TEST_F(GuardedTree, ATokenEndsAllOfIt) {
  ProcessSpec spec = tree();
  const CancelToken token;
  spec.cancel = token;
  Result<Process> child = Process::start(std::move(spec));
  ASSERT_TRUE(child);
  ASSERT_TRUE(soon([&] { return is_complete(); }));
  token.cancel();
  const Result<ProcessEnd> end = child->wait();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->cancelled);
  EXPECT_EQ(end->signal, SIGTERM);
  EXPECT_TRUE(none_lives());
  EXPECT_GE(end->killed, 1); // the process that ignores SIGTERM, and perhaps its sleep child
  EXPECT_LE(end->killed, 8);
}

TEST_F(GuardedTree, AForgottenOneEndsWithItsOwner) {
  {
    const Result<Process> child = Process::start(tree());
    ASSERT_TRUE(child);
    ASSERT_TRUE(soon([&] { return is_complete(); }));
  }
  EXPECT_TRUE(none_lives());
}

TEST_F(GuardedTree, OwnerThatIsKilledTakesItAlong) {
  for (const int signal : {SIGKILL, SIGTERM}) {
    std::filesystem::remove(pids_);
    const pid_t owner = ::fork();
    if (owner == 0) { // has a single thread, because the test program has only one here
      const Result<Process> child = Process::start(tree());
      for (;;)
        ::pause();
    }
    ASSERT_TRUE(soon([&] { return is_complete(); }));
    ::kill(owner, signal);
    ::waitpid(owner, nullptr, 0);
    EXPECT_TRUE(soon([&] { return none_lives(); }));
  }
}

TEST_F(GuardedTree, AnInterruptOfOursEndsItBeforeWeLeave) {
  const pid_t owner = ::fork();
  if (owner == 0) {
    const Result<Process> child = Process::start(tree());
    while (!is_complete())
      ::usleep(10'000);
    cleanup::end_everything();
    ::_exit(none_lives() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(owner, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(GuardedTree, TheChildEndsWithAGuardThatIsKilled) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "echo $PPID >> " + pids_ + "; while :; do sleep 0.05; done"};
  spec.guarded = true;
  Result<Process> child = Process::start(std::move(spec));
  ASSERT_TRUE(child);
  ASSERT_TRUE(soon([&] { return processes().size() == 1; }));
  const pid_t pid = child->pid();
  ::kill(processes().front(), SIGKILL);
  const Result<ProcessEnd> end = child->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGKILL);
  EXPECT_TRUE(soon([&] { return !alive(pid); }));
}

TEST_F(GuardedTree, ManyAtATimeDoNotHoldEachOthersPipes) {
  std::vector<Process> children;
  for (int i = 0; i < 8; ++i) {
    ProcessSpec spec;
    spec.argv = {"sh", "-c", "read x; exit " + std::to_string(i)};
    spec.input = "x\n";
    spec.guarded = true;
    spec.out = Stream::kPipe;
    Result<Process> child = Process::start(std::move(spec));
    ASSERT_TRUE(child) << child.error().message();
    children.push_back(std::move(*child));
  }
  for (int i = 8; i-- > 0;)
    EXPECT_EQ(children[static_cast<std::size_t>(i)].wait().value().exit_code, i);
}

TEST_F(GuardedTree, EndSignalIsTheOneAskedFor) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c",
               "trap 'exit 42' INT; echo $$ >> " + pids_ + "; while :; do sleep 0.02; done"};
  spec.guarded = true;
  spec.end_signal = SIGINT;
  const CancelToken token;
  spec.cancel = token;
  Result<Process> child = Process::start(std::move(spec));
  ASSERT_TRUE(child);
  ASSERT_TRUE(soon([&] { return processes().size() == 1; }));
  token.cancel();
  const Result<ProcessEnd> end = child->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 42);
  EXPECT_TRUE(end->cancelled);
}

} // namespace
} // namespace rankscope
