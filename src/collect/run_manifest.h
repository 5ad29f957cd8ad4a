// manifest.json of a run and of a sweep: the request, the machine and folder, and the result. Also
// the mark by which a later sweep recognizes a finished run.
#pragma once

#include "base/json_writer.h"
#include "base/result.h"
#include "collect/clock_anchor.h"
#include "collect/machine_facts.h"
#include "os/environment.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Facts about the machine and the working tree, read once per sweep.
struct HostFacts : MachineFacts {
  std::string git_commit, git_branch; ///< of the working folder; "" = no repository
  std::int64_t git_changed = 0;       ///< files that differ from the commit
  std::string folder;
};
[[nodiscard]] HostFacts read_host_facts();
void write_host(JsonWriter& json, const HostFacts& host);

/// Writes NAME=VALUE entries as an object, secrets as "***".
void write_environment(JsonWriter& json, std::string_view key,
                       const std::vector<std::string>& environment);
void write_clocks(JsonWriter& json, std::string_view key, const ClockAnchor& clocks);

/// Sampled energy of a run; unknown values are empty.
struct SampledEnergy {
  std::optional<double> joules;      ///< energy of all sampled GPUs
  std::optional<double> host_joules; ///< energy of processors and memory, from RAPL
};

/// A run as its manifest on disk describes it.
struct SavedRun {
  std::string status; ///< "" = there is no manifest
  std::string mark;
  double seconds = 0;
  std::int64_t exit_code = 0;
  std::vector<std::string> findings;
  bool took_effect = true;
  std::string lost_output; ///< why run_output.log is incomplete; "" = it is complete
  SampledEnergy energy;
  std::map<std::string, std::string> parameters;
  std::vector<std::string> argv;                            ///< secrets masked
  std::map<std::string, std::string> set;                   ///< variables, secrets masked
  std::optional<std::map<std::string, std::string>> inputs; ///< see read_run_inputs()
  std::vector<std::string> traces;                          ///< relative paths
};
/// Reads a manifest; an unreadable one counts as missing.
[[nodiscard]] SavedRun read_run_manifest(const std::string& path);

} // namespace rankscope
