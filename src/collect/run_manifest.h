// manifest.json of a run and of a sweep: what was asked, where and on what it ran, how it ended.
// Also the mark by which a later sweep knows a finished run.
#pragma once

#include "base/json_writer.h"
#include "base/result.h"
#include "collect/clock_anchor.h"
#include "os/environment.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// What the machine and the working tree are, found once per sweep.
struct HostFacts {
  std::string host, kernel, machine;
  std::string cpu;
  std::int64_t processors = 0, memory_bytes = 0;
  std::string nvidia_driver, amdgpu_driver, rocm; ///< "" = not there
  std::string git_commit, git_branch;             ///< of the working folder; "" = no repository
  std::int64_t git_changed = 0;                   ///< files that differ from the commit
  std::string folder;
};
[[nodiscard]] HostFacts read_host_facts();
void write_host(JsonWriter& json, const HostFacts& host);

/// A variable whose value belongs to nobody else: tokens, keys, passwords, addresses with a login.
[[nodiscard]] bool is_secret(std::string_view name, std::string_view value);
/// NAME=VALUE as an object, secrets as "***".
void write_environment(JsonWriter& json, std::string_view key,
                       const std::vector<std::string>& environment);
/// An argument with the secrets of NAME=VALUE in it masked.
[[nodiscard]] std::string masked_argument(const std::string& argument);

void write_clocks(JsonWriter& json, std::string_view key, const ClockAnchor& clocks);
/// "2026-02-03T04:05:06Z".
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point time);

/// How a run that is on disk stands.
struct SavedRun {
  std::string status; ///< "" = there is no manifest
  std::string mark;
  double seconds = 0;
  std::int64_t exit_code = 0;
  std::vector<std::string> findings;
};
/// An unreadable manifest counts as none.
[[nodiscard]] SavedRun read_run_manifest(const std::string& path);

} // namespace rankscope
