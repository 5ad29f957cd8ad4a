// Tests profiling runs that are ended by signals to the workload, to the tool, and to rankscope: no
// process remains, the status is correct, and outputs written until then remain.
#include "profile_fixture.h"

#include <csignal>

namespace rankscope {
namespace {

using namespace std::chrono_literals;
using test::Words;

/// A workload with a child in its process group and a child in another session, both long-running.
constexpr const char* kTree = R"(#!/bin/sh
echo $$ >> pids
sleep 100 &
echo $! >> pids
setsid sleep 100 &
echo $! >> pids
echo started
wait
)";

class ProfileEnd : public test::ProfileFixture {
protected:
  void SetUp() override {
    ProfileFixture::SetUp();
    script("tree.sh", kTree);
    // a tool that writes its process id first
    script("tell.sh", "#!/bin/sh\necho $$ >> tool_pid\n\"$@\"\nstatus=$?\nexit $status\n");
    folder_.write("tell.json", R"({"tools": {"tell": {"cmd": "./tell.sh",
        "post_scripts": [{"path": "./step.sh", "args": "post tell"}]}}})");
  }
  [[nodiscard]] Words stack() const {
    return {"--tools-config", "tell.json", "--grace", "2",      "--tool",
            "tracer",         "--tool",    "tell",    "--tool", "A"};
  }
  /// Waits until the first output of the command and of the tracer is in the files.
  void wait_for_output() const {
    std::this_thread::sleep_for(50ms); // files of the previous run may still exist
    for (int i = 0; i < 500 && !written(); ++i)
      std::this_thread::sleep_for(20ms);
  }
  [[nodiscard]] bool written() const {
    return test::bytes_of(folder_.path("out/run.log")).find("out started") != std::string::npos &&
           test::bytes_of(folder_.path("out/tracer/trace.csv")).starts_with("name,us\nfirst,1\n");
  }
  /// Checks the tear-down steps, and the output that was written before.
  void expect_kept() const {
    const Words steps = order();
    ASSERT_GE(steps.size(), 2U);
    EXPECT_EQ(steps[steps.size() - 2], "post tell");
    EXPECT_EQ(steps.back(), "post A");
    EXPECT_EQ(test::bytes_of(folder_.path("out/tracer/trace.csv")).rfind("name,us\nfirst,1\n", 0),
              0U);
    EXPECT_NE(test::bytes_of(folder_.path("out/run.log")).find("out started"), std::string::npos);
    EXPECT_NE(manifest().find("\"status\": \"failure\""), std::string::npos);
  }
};

TEST_F(ProfileEnd, SignalsToRankscopeReachTheCommandAndTheTearDownRuns) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Result<Process> run = begin(stack(), {"./tree.sh"}, 3);
    ASSERT_TRUE(run);
    wait_for_output();
    ::kill(run->pid(), signal);
    const Result<ProcessEnd> end = run->wait();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit_code, 128 + signal) << end->err;
    expect_kept();
    expect_no_orphan();
  }
}

TEST_F(ProfileEnd, SignalsToTheWorkloadAreItsStatus) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    Result<Process> run =
        begin({"--tools-config", "tell.json", "--tool", "tracer", "--tool", "tell", "--tool", "A"},
              {"./tree.sh"}, 3);
    ASSERT_TRUE(run);
    wait_for_output();
    ::kill(pids().front(), signal);
    const Result<ProcessEnd> end = run->wait();
    ASSERT_TRUE(end);
    // a shell that waited for the command reports 128 + signal, and so does rankscope
    EXPECT_EQ(end->exit_code, 128 + signal) << end->err;
    expect_kept();
    EXPECT_TRUE(has_code("processes-left"));
    expect_no_orphan();
  }
}

TEST_F(ProfileEnd, AToolThatIsKilledTakesTheCommandAlong) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    std::filesystem::remove(folder_.path("tool_pid"));
    Result<Process> run = begin(stack(), {"./tree.sh"}, 3);
    ASSERT_TRUE(run);
    wait_for_output();
    ::kill(std::stoi(test::bytes_of(folder_.path("tool_pid"))), signal);
    if (signal == SIGINT) // a shell that gets SIGINT waits for its child before it ends
      ::kill(pids().front(), SIGINT);
    const Result<ProcessEnd> end = run->wait();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit_code, 128 + signal) << end->err;
    expect_kept();
    expect_no_orphan();
  }
}

TEST_F(ProfileEnd, CopiesOnSeveralGpusEndWithTheRun) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    Result<Process> run =
        begin({"--replicate-per-gcd", "--devices", "0,1", "--grace", "2", "--tool", "A"},
              {"./tree.sh"}, 6);
    ASSERT_TRUE(run);
    ::kill(run->pid(), signal);
    const Result<ProcessEnd> end = run->wait();
    ASSERT_TRUE(end);
    EXPECT_TRUE(signal == SIGKILL ? end->signal == SIGKILL : end->exit_code == 128 + signal)
        << end->describe() << end->err;
    expect_no_orphan();
    if (signal != SIGKILL) {
      EXPECT_EQ(order().back(), "post A");
    }
  }
}

TEST_F(ProfileEnd, ARankscopeThatIsKilledLeavesNothingRunning) {
  Result<Process> run = begin(stack(), {"./tree.sh"}, 3);
  ASSERT_TRUE(run);
  wait_for_output();
  ::kill(run->pid(), SIGKILL);
  ASSERT_TRUE(run->wait());
  expect_no_orphan();
  EXPECT_NE(test::bytes_of(folder_.path("out/run.log")), "") << "what came before is there";
  EXPECT_EQ(test::bytes_of(folder_.path("out/tracer/trace.csv")).rfind("name,us\nfirst,1\n", 0),
            0U);
}

TEST_F(ProfileEnd, ACommandThatIgnoresTheRequestIsKilledAfterTheGrace) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Result<Process> run =
        begin({"--grace", "0.3", "--tool", "A"},
              {"sh", "-c", "trap '' TERM INT; echo $$ >> pids; while :; do sleep 0.05; done"}, 1);
    ASSERT_TRUE(run);
    ::kill(run->pid(), signal);
    const Result<ProcessEnd> end = run->wait();
    ASSERT_TRUE(end);
    // after a request to end, the exit code is 128 + signal, however long it takes
    EXPECT_EQ(end->exit_code, 128 + signal) << end->err;
    EXPECT_NE(end->err.find("killed-processes"), std::string::npos) << end->err;
    EXPECT_TRUE(has_code("killed-processes"));
    expect_no_orphan();
    EXPECT_EQ(order().back(), "post A");
  }
  const test::RunResult r = profile({"--grace", "0.3", "--timeout", "0.5", "--tool", "A"},
                                    {"sh", "-c", "trap '' TERM INT; while :; do sleep 0.05; done"});
  EXPECT_EQ(r.code, 124) << r.err;
  EXPECT_TRUE(has_code("command-timeout"));
  EXPECT_TRUE(has_code("killed-processes"));
}

// timeout(1) signals its child and then its group: this counts as one request to end.
TEST_F(ProfileEnd, TheSameSignalTwiceAtOnceIsOne) {
  Result<Process> run = begin(stack(), {"./tree.sh"}, 3);
  ASSERT_TRUE(run);
  wait_for_output();
  ::kill(run->pid(), SIGTERM);
  std::this_thread::sleep_for(5ms); // the first signal is handled
  ::kill(run->pid(), SIGTERM);
  const Result<ProcessEnd> end = run->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 128 + SIGTERM) << end->err;
  expect_kept();
  expect_no_orphan();
}

// HA-B17: the second signal kills the command; the tear-down steps run.
TEST_F(ProfileEnd, TheSecondSignalKillsTheCommandAndTheTearDownRuns) {
  Result<Process> run =
      begin({"--grace", "60", "--tool", "A"},
            {"sh", "-c", "trap '' TERM INT; echo $$ >> pids; while :; do sleep 0.05; done"}, 1);
  ASSERT_TRUE(run);
  const auto began = std::chrono::steady_clock::now();
  ::kill(run->pid(), SIGINT);
  std::this_thread::sleep_for(500ms); // so late that it is not a repetition of the first one
  ::kill(run->pid(), SIGINT);
  const Result<ProcessEnd> end = run->wait();
  ASSERT_TRUE(end);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 30s) << "not after the grace";
  EXPECT_EQ(end->exit_code, 130) << end->err;
  EXPECT_TRUE(has_code("killed-processes"));
  EXPECT_EQ(order().back(), "post A");
  EXPECT_NE(manifest().find("\"status\": \"failure\""), std::string::npos);
  expect_no_orphan();
}

TEST_F(ProfileEnd, ACommandThatEndsWellOnASignalWasInterruptedAllTheSame) {
  Result<Process> run = begin(
      {}, {"sh", "-c", "trap 'exit 0' TERM; echo $$ >> pids; while :; do sleep 0.05; done"}, 1);
  ASSERT_TRUE(run);
  ::kill(run->pid(), SIGTERM);
  const Result<ProcessEnd> end = run->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 143) << end->err;
}

TEST_F(ProfileEnd, AnInterruptDuringTheSetUpTearsDownAndRunsNothing) {
  script("slow.sh", "#!/bin/sh\necho $$ >> pids\nexec sleep 100\n");
  folder_.write("slow.json", R"({"tools": {"slow": {"pre_scripts": [{"path": "./slow.sh"}],
      "post_scripts": [{"path": "./step.sh", "args": "post slow"}]}}})");
  Result<Process> run =
      begin({"--tools-config", "slow.json", "--tool", "slow", "--tool", "A"}, {"./app.sh", "0"}, 1);
  ASSERT_TRUE(run);
  ::kill(run->pid(), SIGINT);
  const Result<ProcessEnd> end = run->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 130) << end->err;
  EXPECT_EQ(order(), (Words{"pre A", "post slow", "post A"}));
  expect_no_orphan();
}

TEST_F(ProfileEnd, ASamplerThatASetUpStartsLivesUntilItsTearDown) {
  // as in the documented scripts: started in the background, stopped by its process id
  script("start.sh", "#!/bin/sh\nsh -c 'while :; do echo s >> samples; sleep 0.02; done' &\n"
                     "echo $! > sampler_pid\necho $! >> pids\n");
  script("stop.sh", "#!/bin/sh\nkill $(cat sampler_pid) && echo stopped >> order\n");
  folder_.write("s.json", R"({"tools": {"s": {"pre_scripts": [{"path": "./start.sh"}],
      "post_scripts": [{"path": "./stop.sh"}]}}})");
  const test::RunResult r = profile({"--tools-config", "s.json", "--tool", "s"}, {"sleep", "0.5"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(order(), (Words{"stopped"}));
  EXPECT_GT(test::bytes_of(folder_.path("samples")).size(), 16U);
  expect_no_orphan();
  // a process that is not stopped is ended, and a finding reports this
  folder_.write("t.json", R"({"tools": {"s": {"pre_scripts": [{"path": "./start.sh"}]}}})");
  const test::RunResult left = profile({"--tools-config", "t.json", "--tool", "s"}, {"true"});
  EXPECT_EQ(left.code, 0) << left.err;
  EXPECT_TRUE(has_code("processes-left"));
  expect_no_orphan();
}

} // namespace
} // namespace rankscope
