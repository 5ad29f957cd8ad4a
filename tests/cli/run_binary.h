// Runs the built program with an argument list, without a shell.
#pragma once

#include "test_paths.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace rankscope::test {

struct RunResult {
  int code = -1; ///< exit status, or 128 + signal
  std::string out, err;
};

/// Returns whether a command failed because ECharts or DuckDB is missing. scripts/web_parts.sh
/// fetches both.
inline bool lacks_web_parts(const RunResult& result) {
  return result.code == 7 && (result.err.find("ECharts") != std::string::npos ||
                              result.err.find("DuckDB") != std::string::npos);
}

inline std::string drain(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t n = ::read(fd, buffer.data(), buffer.size()); n > 0;
       n = ::read(fd, buffer.data(), buffer.size()))
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(fd);
  return text;
}

/// `signal_after_ms` > 0 sends SIGINT after that time. Standard output is written to a file, so
/// that no pipe can fill up while the other one is read.
inline RunResult run_program(const std::string& program, const std::vector<std::string>& args,
                             int signal_after_ms = 0, const std::string& stdout_path = "") {
  std::vector<char*> argv;
  std::vector<std::string> all{program};
  all.insert(all.end(), args.begin(), args.end());
  for (std::string& a : all)
    argv.push_back(a.data());
  argv.push_back(nullptr);
  const int out = ::memfd_create("out", 0);
  const int err = ::memfd_create("err", 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int target = stdout_path.empty() ? out : ::open(stdout_path.c_str(), O_WRONLY);
    ::dup2(target, 1);
    ::dup2(err, 2);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  if (signal_after_ms > 0) {
    ::usleep(static_cast<useconds_t>(signal_after_ms) * 1000);
    ::kill(pid, SIGINT);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  RunResult r;
  r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ::lseek(out, 0, SEEK_SET);
  ::lseek(err, 0, SEEK_SET);
  r.out = drain(out);
  r.err = drain(err);
  return r;
}

inline RunResult run_binary(const std::vector<std::string>& args, int signal_after_ms = 0,
                            const std::string& stdout_path = "") {
  return run_program(binary(), args, signal_after_ms, stdout_path);
}

} // namespace rankscope::test
