// Facts about a profiling run: what was missing before the run, what happened during the run, and
// which outputs the tools did not write. findings/profile_findings.h makes a finding of each fact.
#pragma once

#include "core/energy_doubt.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rankscope {

/// Each type in this namespace is one kind of fact.
namespace profile {

using Texts = std::vector<std::string>;

// Facts before the run.
struct MissingTool {
  std::string name;     ///< the program's name or absolute path
  std::string searched; ///< "PATH=..."; "" for an absolute path
  std::string image;    ///< image of the container that was searched; "" = this host
  std::string place;    ///< folder that contains the tool although PATH does not contain the
                        ///< folder; "" = not found
  Texts alternatives;   ///< installed tools of the same family
};
struct MissingLibrary {
  std::string name;
};
struct MissingScript {
  std::string path, searched;
};
struct MissingCommand {
  std::string name, searched, image;
};
struct ConflictingTool {
  std::string other;
  std::string family; ///< family of both tools; "" = one of the tools lists the other one as
                      ///< conflicting
};
struct MissingGpu {
  bool amd = false; ///< false: NVIDIA
  std::string device;
};
struct ClosedGpu {
  bool amd = false;
  std::string device;
  std::uint32_t user = 0;
};
struct OtherTracer {
  std::string variable, value;
};
struct ClosedCounters {};
struct ClosedCpuSamples {
  int level = 0; ///< kernel.perf_event_paranoid
};

// Facts about the run.
struct ToolNotStarted {
  std::string problem;
};
struct FailedScript {
  bool set_up = true; ///< false: tear-down
  std::string status, last_lines, log;
};
struct FailedBaseline {
  std::string ended;
};
struct Timeout {
  double limit_s = 0;
};
struct KilledProcesses {
  std::size_t count = 0;
  double grace_s = 0;
};
struct LeftProcesses {
  std::size_t count = 0; ///< 0: a script left processes; their number is unknown
};
struct UnfinishedTool {
  std::string problem;
};
struct IncompleteLog {
  std::string file;
};
struct SteppedAside {};
struct MissedSamples {
  std::size_t missed = 0, ticks = 0;
  double read_us = 0;
};
struct IdleDevices {
  Texts idle, busy; ///< indices of GPUs
};
struct EnergyOfGpu {
  EnergyDoubt doubt;
};
struct DamagedLines {
  std::string library;
  std::uint64_t damaged = 0, lines = 0;
  std::string first;
};
struct OtherRocm {
  Texts searched;
};

// Facts about the outputs of the run.
struct MissingOutput {
  Texts patterns;
};
struct EmptyOutput {
  Texts patterns;
  std::string file;                 ///< file without records; "" = no file was written
  Texts old_files;                  ///< files that match the patterns but existed before the run
  std::optional<std::string> ended; ///< how the command ended (exit code, signal), if it failed
  std::string last_lines;           ///< last lines of the command's log
};
struct ShortRun {
  double run_s = 0, period_s = 0;
};
struct UnusedLibrary {
  Texts libraries;
};
struct SilentLibrary {
  std::string library;
  /// Variables of the tool that had another value in the process; nullopt = not set in the process.
  std::vector<std::pair<std::string, std::optional<std::string>>> changed;
};
struct Overhead {
  double baseline_s = 0, run_s = 0;
  std::size_t baselines = 0, tools = 0;            ///< numbers of runs without tools, and of tools
  std::vector<std::pair<std::string, int>> passes; ///< tools that run the command several times
  std::string frequent;                            ///< tool with a sampling period below 0.1 s
  std::string heavy;                               ///< tool for which there is a variant with less
                                                   ///< overhead
};
struct FailureInLog {
  std::uint64_t line = 0;
  std::string text;
};
struct MissingMetric {
  std::string table; ///< "" = another rank writes the row
};

// Facts about several ranks.
struct UnreadableRank {
  std::string folder, problem;
};
struct MissingRanks {
  Texts ranks;
};
struct PartialEnergy {
  std::string folder, gpu;
  std::optional<double> covered; ///< fraction of the run that was measured; nullopt = only the
                                 ///< range below is known
  double lowest_j = 0, highest_j = 0;
};

} // namespace profile

struct ProfileFact {
  std::string tool; ///< name of the tool; "" = the fact is about the complete run
  std::variant<
      profile::MissingTool, profile::MissingLibrary, profile::MissingScript,
      profile::MissingCommand, profile::ToolNotStarted, profile::ConflictingTool,
      profile::MissingGpu, profile::ClosedGpu, profile::OtherTracer, profile::ClosedCounters,
      profile::ClosedCpuSamples, profile::FailedScript, profile::FailedBaseline, profile::Timeout,
      profile::KilledProcesses, profile::LeftProcesses, profile::UnfinishedTool,
      profile::IncompleteLog, profile::SteppedAside, profile::MissedSamples, profile::IdleDevices,
      profile::EnergyOfGpu, profile::DamagedLines, profile::OtherRocm, profile::MissingOutput,
      profile::EmptyOutput, profile::ShortRun, profile::UnusedLibrary, profile::SilentLibrary,
      profile::Overhead, profile::FailureInLog, profile::MissingMetric, profile::UnreadableRank,
      profile::MissingRanks, profile::PartialEnergy>
      what;

  template <class T> [[nodiscard]] bool is() const { return std::holds_alternative<T>(what); }
  /// Returns whether the fact makes the run impossible.
  [[nodiscard]] bool stops() const {
    return is<profile::MissingTool>() || is<profile::MissingLibrary>() ||
           is<profile::MissingScript>() || is<profile::MissingCommand>() ||
           is<profile::ToolNotStarted>();
  }
};

} // namespace rankscope
