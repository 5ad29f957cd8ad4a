// Checks before a run: whether programs, scripts, libraries and devices exist where it will run (on
// this host, or in a container's image).
#pragma once

#include "collect/profile/plan.h"

#include <map>
#include <string>
#include <vector>

namespace rankscope {

struct PreflightTarget {
  std::string root;               ///< "" = this system; tests imitate one below a folder
  std::string path;               ///< PATH of the command
  std::string folder;             ///< where the command runs; "" = here
  std::vector<std::string> image; ///< argv that runs its shell in the image; empty = this host
  std::string image_name;
  /// Where tools are installed without being on PATH.
  std::vector<std::string> places = {"/opt/rocm/bin", "/opt/rocm-*/bin", "/usr/local/cuda/bin",
                                     "/opt/nvidia/nsight-systems/*/bin",
                                     "/opt/nvidia/nsight-compute/*"};
};

/// Returns name to path; "" = not found. One start of the container for all. Errors: kMissingTool
/// when the container cannot be started.
Result<std::map<std::string, std::string>> find_programs(const PreflightTarget& target,
                                                         const std::vector<std::string>& names);

/// Where a tool's own program is absent and that of a fallback is there, the fallback becomes its
/// command; `notes` says so. To be called before make_plan().
Result<void> choose_fallbacks(const PreflightTarget& target, std::vector<ToolEntry>& tools,
                              std::vector<std::string>& notes);

/// What is missing, and what may make the run fail. `table` names possible replacements.
Result<std::vector<ProfileFact>> preflight(const Plan& plan, const PreflightTarget& target,
                                           const ToolTable& table, const EnvPairs& environment);

/// Whether the tool records work of a vendor's GPUs and this host has no driver of that vendor.
/// False for a container's image, whose devices are not known.
[[nodiscard]] bool lacks_gpu(const ToolEntry& tool, const PreflightTarget& target);

/// Where programs are looked for: "PATH=...", or "the image's PATH".
[[nodiscard]] std::string searched_path(const PreflightTarget& target);

/// Returns the files and folders that match a shell's pattern, sorted.
[[nodiscard]] std::vector<std::string> expanded_paths(const std::string& pattern);

/// Returns the program of a tool's command; "" without a command or if its text is for a shell.
[[nodiscard]] std::string program_of(const ToolEntry& tool);

} // namespace rankscope
