// Tests a run that gets a signal to end: no child, temporary file or scratch folder remains. The
// next run removes the files of a run that was killed.
#include "os/process.h"
#include "run_binary.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "waiting.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>
#include <thread>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::alive;
using test::TempFolder;

/// An nsys that never ends, ignores SIGTERM, and writes to the file of its export.
constexpr const char* kStubborn = R"(#!/bin/sh
trap '' TERM HUP INT
echo $$ >> PIDS
while [ "$1" != --output ]; do shift; done
while :; do echo more >> "$2"; sleep 0.05; done
)";

class Interrupt : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(synth::generate(test::small_sweep(), folder_.path("a"), 2, nullptr));
    std::string script = kStubborn;
    script.replace(script.find("PIDS"), 4, folder_.path("pids"));
    ::chmod(folder_.write("bin/nsys", script).c_str(), 0755);
    fs::create_directories(folder_.path("tmp"));
    path_ = std::getenv("PATH");
    ::setenv("PATH", (folder_.path("bin") + ":" + path_).c_str(), 1);
    ::setenv("TMPDIR", folder_.path("tmp").c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("TMPDIR");
  }

  /// Returns the process ids of the fake nsys, including ended ones.
  [[nodiscard]] std::vector<pid_t> exporting() const {
    std::vector<pid_t> out;
    std::istringstream in(test::bytes_of(folder_.path("pids")));
    for (pid_t pid = 0; in >> pid;)
      out.push_back(pid);
    return out;
  }
  [[nodiscard]] std::vector<std::string> unfinished() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      if (entry.path().filename().string().starts_with("tsan."))
        continue; // a file of the sanitizer
      else if (entry.path().string().find(".tmp") != std::string::npos ||
               entry.path().parent_path() == folder_.path("tmp"))
        out.push_back(entry.path().string());
    return out;
  }

  /// Runs until nsys exports, sends the signal, and checks what remains.
  void interrupt(const std::vector<std::string>& arguments, int signal) {
    fs::remove(folder_.path("pids"));
    ProcessSpec spec;
    spec.argv = {test::binary()};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.err = Stream::kCapture;
    spec.deadline = 60s;
    Result<Process> child = Process::start(std::move(spec));
    ASSERT_TRUE(child);
    for (int i = 0; i < 3000 && exporting().empty(); ++i)
      std::this_thread::sleep_for(10ms);
    ASSERT_FALSE(exporting().empty());
    std::this_thread::sleep_for(100ms); // nsys has started to write
    ::kill(child->pid(), signal);
    const Result<ProcessEnd> end = child->wait();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit_code, 130) << end->describe() << end->err;
    EXPECT_NE(end->err.find("interrupted"), std::string::npos) << end->err;
    std::this_thread::sleep_for(200ms); // a process that survived would write again
    for (const pid_t pid : exporting())
      EXPECT_FALSE(alive(pid)) << pid;
    for (const std::string& path : unfinished())
      ADD_FAILURE() << path;
  }

  TempFolder folder_;
  std::string path_;
};

TEST_F(Interrupt, NoChildNoTemporaryAndNoScratchFolderIsLeft) {
  const std::string report = folder_.write("r.nsys-rep", "binary");
  for (const int signal : {SIGTERM, SIGINT, SIGHUP})
    interrupt({"nsys", report, "--iters", "1", "-o", folder_.path("o.xlsx"), "-q"}, signal);
}

TEST_F(Interrupt, AnalyzeLeavesNoTemporary) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    ProcessSpec spec;
    spec.argv = {test::binary(), "analyze", folder_.path("a"), "-q", "-o", folder_.path("out")};
    spec.err = Stream::kCapture;
    spec.deadline = 60s;
    Result<Process> child = Process::start(std::move(spec));
    ASSERT_TRUE(child);
    for (int i = 0; i < 30000 && unfinished().empty(); ++i)
      std::this_thread::sleep_for(1ms);
    ::kill(child->pid(), signal);
    const Result<ProcessEnd> end = child->wait();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit_code, 130) << end->describe() << end->err;
    for (const std::string& path : unfinished())
      ADD_FAILURE() << path;
    fs::remove_all(folder_.path("out"));
  }
}

TEST_F(Interrupt, WhatAKilledRunLeftGoesWithTheNext) {
  // a process id that is not in use
  ProcessSpec spec;
  spec.argv = {"true"};
  Result<Process> gone = Process::start(std::move(spec));
  ASSERT_TRUE(gone);
  const pid_t pid = gone->pid();
  ASSERT_TRUE(gone->wait());
  // the name of a temporary file of a run on this machine
  std::string host;
  {
    ProcessSpec run;
    run.argv = {test::binary(), "analyze", folder_.path("a"),  "-q",
                "--no-merge",   "-o",      folder_.path("out")};
    run.deadline = 60s;
    Result<Process> child = Process::start(std::move(run));
    ASSERT_TRUE(child);
    for (int i = 0; i < 3000 && host.empty(); ++i) {
      std::this_thread::sleep_for(2ms);
      for (const std::string& path : unfinished())
        if (const std::size_t at = path.rfind(fmt::format("-{}-", child->pid()));
            at != std::string::npos && at > 8)
          host = path.substr(at - 8, 8);
    }
    ::kill(child->pid(), SIGKILL);
    ASSERT_TRUE(child->wait());
  }
  ASSERT_FALSE(host.empty());
  const std::string old = folder_.write(fmt::format("next/r.xlsx.{}-{}-0.tmp", host, pid), "x");
  const std::string fresh = folder_.write(fmt::format("next/s.xlsx.{}-{}-0.tmp", host, pid), "x");
  const std::string ours = folder_.write(fmt::format("next/t.xlsx.{}-1-0.tmp", host), "x");
  const std::string foreign = folder_.write(fmt::format("next/u.xlsx.00000000-{}-0.tmp", pid), "x");
  const std::string other = folder_.write("next/notes.tmp", "x");
  for (const std::string& path : {old, ours, foreign, other})
    fs::last_write_time(path, fs::file_time_type::clock::now() - 1h);
  const std::string trace =
      folder_.path("a") + "/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json";
  EXPECT_EQ(test::run_binary({"report", trace, "-q", "-o", folder_.path("next/r.xlsx")}).code, 0);
  EXPECT_FALSE(fs::exists(old));
  // modified less than a minute ago: a process may still write to it
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(ours)); // process 1 exists
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(fs::exists(other));
}

TEST(Threads, AbsurdNumbersAreBounded) {
  const TempFolder folder;
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 1;
  ASSERT_TRUE(synth::generate(o, folder.path("s"), 1, nullptr));
  for (const char* jobs : {"100000", "4000000000"}) {
    const test::RunResult r = test::run_binary({"analyze", folder.path("s"), "--no-plots", "-o",
                                                folder.path("out"), "--force", "-j", jobs});
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.err.find(fmt::format("-j {}: ", jobs)), std::string::npos) << r.err;
  }
}

} // namespace
} // namespace rankscope
