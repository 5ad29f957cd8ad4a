// A folder with fake tools and workloads: scripts that write to `order` what they do.
#pragma once

#include "os/process.h"
#include "run_binary.h"
#include "temp_folder.h"
#include "waiting.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace rankscope::test {

using Words = std::vector<std::string>;

class ProfileFixture : public ::testing::Test {
protected:
  void SetUp() override {
    old_folder_ = std::filesystem::current_path();
    // a tool that wraps the command
    script("wrap.sh", R"(#!/bin/sh
name=$1; shift
echo "cmd $name" >> order
"$@"
status=$?
echo "end $name" >> order
exit $status
)");
    script("step.sh", "#!/bin/sh\necho \"$*\" >> order\n");
    script("fail.sh", "#!/bin/sh\necho \"$*\" >> order\necho why it failed\nexit 3\n");
    script("app.sh",
           "#!/bin/sh\necho \"app $X\" >> order\necho to out\necho to err >&2\nexit $1\n");
    // a tracer that writes a row before the command and a row after it
    script("tracer.sh", R"(#!/bin/sh
echo "name,us" > "$TRACE_FILE"
echo "first,1" >> "$TRACE_FILE"
"$@"
status=$?
echo "last,2" >> "$TRACE_FILE"
exit $status
)");
    folder_.write("tools.json", R"({"tools": {
      "A": {"cmd": "./wrap.sh A", "env_vars": {"X": "1"},
            "pre_scripts": [{"path": "./step.sh", "args": "pre A"}],
            "post_scripts": [{"path": "./step.sh", "args": "post A"}]},
      "B": {"cmd": "./wrap.sh B", "env_vars": {"X": "2"},
            "pre_scripts": [{"path": "./step.sh", "args": "pre B"}],
            "post_scripts": [{"path": "./step.sh", "args": "post B"}]},
      "bad": {"pre_scripts": [{"path": "./fail.sh", "args": "pre bad"}],
              "post_scripts": [{"path": "./step.sh", "args": "post bad"}]},
      "tracer": {"cmd": "./tracer.sh", "env_vars": {"TRACE_FILE": "{out}/trace.csv"},
                 "produces": [{"path": "{out}/trace.csv", "check": "csv", "legacy": "old.csv"}]}}})");
    std::filesystem::current_path(folder_.path());
  }
  void TearDown() override { std::filesystem::current_path(old_folder_); }

  void script(const std::string& name, const std::string& text) const {
    ::chmod(folder_.write(name, text).c_str(), 0755);
  }
  [[nodiscard]] Words order() const {
    std::ifstream in(folder_.path("order"));
    Words out;
    for (std::string line; std::getline(in, line);)
      out.push_back(line);
    return out;
  }
  /// profile --out out --tools-config tools.json FLAGS -- COMMAND
  [[nodiscard]] Words arguments(const Words& flags, const Words& command) const {
    Words out = {"profile", "--out", "out", "--tools-config", "tools.json"};
    out.insert(out.end(), flags.begin(), flags.end());
    out.emplace_back("--");
    out.insert(out.end(), command.begin(), command.end());
    return out;
  }
  RunResult profile(const Words& flags, const Words& command) {
    std::filesystem::remove(folder_.path("order"));
    std::filesystem::remove_all(folder_.path("out"));
    return run_binary(arguments(flags, command));
  }
  [[nodiscard]] std::string manifest() const { return bytes_of(folder_.path("out/manifest.json")); }
  [[nodiscard]] bool has_code(const std::string& code) const {
    return manifest().find("\"rule\": \"" + code + "\"") != std::string::npos;
  }

  /// Starts a run whose command writes its process ids into `pids`, and waits for `count` of them.
  Result<Process> begin(const Words& flags, const Words& command, std::size_t count) {
    std::filesystem::remove(folder_.path("order"));
    std::filesystem::remove(folder_.path("pids"));
    std::filesystem::remove_all(folder_.path("out"));
    ProcessSpec spec;
    spec.argv = arguments(flags, command);
    spec.argv.insert(spec.argv.begin(), binary());
    spec.out = Stream::kCapture;
    spec.err = Stream::kCapture;
    spec.deadline = std::chrono::seconds(300);
    Result<Process> child = Process::start(std::move(spec));
    for (int i = 0; child && i < 6000 && pids().size() < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return child;
  }
  [[nodiscard]] std::vector<pid_t> pids() const {
    std::vector<pid_t> out;
    std::istringstream in(bytes_of(folder_.path("pids")));
    for (pid_t pid = 0; in >> pid;)
      out.push_back(pid);
    return out;
  }
  /// Expects that no process of a run remains; on a busy machine, this may take a while.
  void expect_no_orphan() const {
    for (const pid_t pid : pids()) {
      for (int i = 0; i < 3000 && alive(pid); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_FALSE(alive(pid)) << pid;
    }
  }

  TempFolder folder_;
  std::filesystem::path old_folder_;
};

} // namespace rankscope::test
