// Input of a profiling run in addition to its flags: --additional-context, as text and as files.
#pragma once

#include "collect/profile/tool_table.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct ProfileContext {
  std::vector<Json> tools;  ///< entries of "tools", in order: the first is the innermost
  EnvPairs env_vars;        ///< override the variables of tools
  EnvPairs docker_env_vars; ///< override env_vars
  std::vector<ToolScript> pre, post;
  std::vector<std::string> docker_mounts; ///< HOST:CONTAINER
  std::string docker_gpus;                ///< "", "all" or a list of indices, ranges resolved
  std::optional<double> timeout_s;
  std::string gpu_vendor, guest_os; ///< upper case; empty = not given
  std::vector<std::string> notes;   ///< warnings: accepted text that is not JSON, unknown keys
};

/// Reads the files, then the texts. Each one is merged over the previous ones: objects are merged
/// deeply, lists replace, "tools+" appends. Errors: kUnreadable; kUsage with a JSON pointer for a
/// wrong type.
Result<ProfileContext> read_context(const std::vector<std::string>& files,
                                    const std::vector<std::string>& texts);

/// Parses "0,2" and "0-3" as indices. Errors: kUsage.
Result<std::vector<int>> gpu_indices(const std::string& text, const std::string& where);

} // namespace rankscope
