// Tests child processes: streams, exit codes, deadlines, and process groups that end completely.
#include "os/process.h"
#include "temp_folder.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace rankscope {
namespace {

using namespace std::chrono_literals;

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", script};
  spec.out = spec.err = Stream::kCapture;
  spec.grace = 100ms;
  return spec;
}

double seconds_of(const ProcessSpec& spec, Result<ProcessEnd>& end) {
  const auto begin = std::chrono::steady_clock::now();
  end = run_process(spec);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(Process, StreamsAreKeptApart) {
  ProcessSpec spec = shell("cat; echo oops >&2; exit 3");
  spec.input = "to be read\n";
  const auto end = run_process(spec);
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_FALSE(end->ok());
  EXPECT_EQ(end->out, "to be read\n");
  EXPECT_EQ(end->err, "oops\n");
  EXPECT_EQ(end->describe(), "exit code 3");
}

TEST(Process, ArgumentsAreNeverReadByAShell) {
  ProcessSpec spec;
  spec.argv = {"printf", "%s", "$(date) `id` ; | > \"x\" 'y' *"};
  spec.out = Stream::kCapture;
  const auto end = run_process(spec);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->out, "$(date) `id` ; | > \"x\" 'y' *");
}

TEST(Process, WithoutInputItReadsNothing) {
  const auto end = run_process(shell("cat"));
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->ok());
  EXPECT_EQ(end->out, "");
}

TEST(Process, FilesAsStreams) {
  const test::TempFolder folder;
  ProcessSpec spec = shell("cat");
  spec.input_file = folder.write("in", std::string(3'000'000, 'x'));
  spec.out = Stream::kFile;
  spec.out_file = folder.path("out");
  const auto end = run_process(spec);
  ASSERT_TRUE(end && end->ok());
  EXPECT_EQ(test::bytes_of(spec.out_file).size(), 3'000'000U);
}

TEST(Process, LargeInputAndOutputDoNotWaitForEachOther) {
  ProcessSpec spec = shell("cat; cat /dev/null");
  spec.input = std::string(5'000'000, 'y');
  spec.capture_limit = 1000;
  const auto end = run_process(spec);
  ASSERT_TRUE(end && end->ok());
  EXPECT_EQ(end->out, std::string(1000, 'y'));
}

TEST(Process, AMissingProgramIsNamed) {
  ProcessSpec spec;
  spec.argv = {"rankscope-no-such-program"};
  const auto end = run_process(spec);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kMissingTool);
  EXPECT_EQ(end.error().where, "rankscope-no-such-program");
}

TEST(Process, ASignalIsTold) {
  const auto end = run_process(shell("kill -9 $$"));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, -1);
  EXPECT_EQ(end->signal, SIGKILL);
  EXPECT_FALSE(end->timed_out);
}

TEST(Process, TheDeadlineEndsIt) {
  ProcessSpec spec = shell("echo begun; sleep 600");
  spec.deadline = 2s; // a busy machine may need this time to print "begun"
  Result<ProcessEnd> end = ProcessEnd{};
  EXPECT_LT(seconds_of(spec, end), 300);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->timed_out);
  EXPECT_EQ(end->out, "begun\n");
}

TEST(Process, WhoIgnoresSigtermIsKilledAfterTheGraceAndItsChildrenToo) {
  const test::TempFolder folder;
  ProcessSpec spec = shell("trap '' TERM; sh -c \"trap '' TERM; echo \\$\\$ > " +
                           folder.path("pid") + "; while :; do sleep 1; done\" & wait; wait");
  const CancelToken token; // a deadline could pass before the grandchild has started
  spec.cancel = token;
  std::thread other([&] {
    for (int i = 0; i < 6000 && test::bytes_of(folder.path("pid")).find('\n') == std::string::npos;
         ++i)
      std::this_thread::sleep_for(10ms);
    token.cancel();
  });
  const Result<ProcessEnd> end = run_process(spec);
  other.join();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->cancelled);
  EXPECT_EQ(end->signal, SIGKILL);
  const int grandchild = std::stoi(test::bytes_of(folder.path("pid")));
  // init is now its parent and reaps it later; a zombie does not run any more
  bool gone = false;
  for (int i = 0; i < 6000 && !gone; ++i) {
    const std::string stat = test::bytes_of("/proc/" + std::to_string(grandchild) + "/stat");
    gone = stat.empty() || stat.find(") Z ") != std::string::npos;
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(gone);
}

TEST(Process, ATokenEndsIt) {
  ProcessSpec spec = shell("sleep 600");
  const CancelToken token;
  spec.cancel = token;
  std::thread other([&] {
    std::this_thread::sleep_for(100ms);
    token.cancel();
  });
  Result<ProcessEnd> end = ProcessEnd{};
  EXPECT_LT(seconds_of(spec, end), 300);
  other.join();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->cancelled);
  EXPECT_FALSE(end->timed_out);
}

TEST(Process, OneThatIsForgottenEndsWithItsOwner) {
  pid_t pid = 0;
  {
    const Result<Process> child = Process::start(shell("sleep 30"));
    ASSERT_TRUE(child);
    pid = child->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(Process, ManyAtATime) {
  std::vector<Process> children;
  for (int i = 0; i < 20; ++i) {
    Result<Process> child = Process::start(shell("exit " + std::to_string(i)));
    ASSERT_TRUE(child);
    children.push_back(std::move(*child));
  }
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(children[static_cast<std::size_t>(i)].wait().value().exit_code, i);
}

} // namespace
} // namespace rankscope
