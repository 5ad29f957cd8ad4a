// Checks before a run whether programs, scripts, libraries and devices exist where the command will
// run (on this host or in a container's image).
#pragma once

#include "collect/profile/plan.h"

#include <map>
#include <string>
#include <vector>

namespace rankscope {

struct PreflightTarget {
  std::string root;               ///< "" = this system; tests use a folder that imitates one
  std::string path;               ///< PATH of the command
  std::string folder;             ///< where the command runs; "" = here
  std::vector<std::string> image; ///< argv that runs a shell in the image; empty = this host
  std::string image_name;
  /// Folders where tools are installed without being in PATH.
  std::vector<std::string> places = {"/opt/rocm/bin", "/opt/rocm-*/bin", "/usr/local/cuda/bin",
                                     "/opt/nvidia/nsight-systems/*/bin",
                                     "/opt/nvidia/nsight-compute/*"};
};

/// Returns the path of each name; "" = not found. The container is started once for all names.
/// Errors: kMissingTool when the container cannot be started.
Result<std::map<std::string, std::string>> find_programs(const PreflightTarget& target,
                                                         const std::vector<std::string>& names);

/// Replaces a tool's command by its first fallback whose program exists, if the tool's own program
/// is missing. `notes` names the replacement. Call before make_plan().
Result<void> choose_fallbacks(const PreflightTarget& target, std::vector<ToolEntry>& tools,
                              std::vector<std::string>& notes);

/// Returns facts about missing parts and about conditions that may make the run fail. `table` names
/// possible replacements.
Result<std::vector<ProfileFact>> preflight(const Plan& plan, const PreflightTarget& target,
                                           const ToolTable& table, const EnvPairs& environment);

/// Returns whether the tool records work of a vendor's GPUs while this host has no driver of that
/// vendor. Returns false for a container's image, whose devices are unknown.
[[nodiscard]] bool lacks_gpu(const ToolEntry& tool, const PreflightTarget& target);

/// Returns the place where programs are searched for: "PATH=..." or "the image's PATH".
[[nodiscard]] std::string searched_path(const PreflightTarget& target);

/// Returns the files and folders that match a shell's pattern, sorted.
[[nodiscard]] std::vector<std::string> expanded_paths(const std::string& pattern);

/// Returns the program of a tool's command; "" without a command or if its text is for a shell.
[[nodiscard]] std::string program_of(const ToolEntry& tool);

} // namespace rankscope
