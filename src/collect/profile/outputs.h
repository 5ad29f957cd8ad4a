// Finds the files that tools wrote, copies them into the run's folder and counts their records.
#pragma once

#include "collect/profile/tool_table.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rankscope {

struct OutputFound {
  std::string path; ///< in the run's folder, absolute
  std::string legacy;
  std::uint64_t bytes = 0;
  std::uint64_t records = 0; ///< rows, events; 1 for a file that is only known not to be empty
  std::string hash;          ///< FNV-1a of its bytes, 16 digits
  bool empty = true;
};

struct ToolOutputs {
  std::vector<OutputFound> files;
  std::vector<std::string> missing;      ///< required patterns without a file
  std::vector<std::string> there_before; ///< of the files that match where the command ran: left
};

/// Files that match the tool's relative patterns in `folder`, where the command will run.
[[nodiscard]] std::vector<std::string> files_before(const ToolEntry& tool,
                                                    const std::string& folder);

/// Files that match the tool's patterns and were written since `since`. Those in `folder`, where
/// the command ran, are copied into `tool_folder` and stay; never one that is in `before`
/// (files_before(), sorted).
ToolOutputs collect_outputs(const ToolEntry& tool, const std::string& tool_folder,
                            const std::string& folder, std::filesystem::file_time_type since,
                            const std::vector<std::string>& before);

/// How many records the file has by `check` (see ToolOutput); 0 = it is empty or no such file.
[[nodiscard]] std::uint64_t count_records(const std::string& path, const std::string& check);

/// A path as a pattern that matches it alone.
[[nodiscard]] std::string escaped_pattern(std::string_view path);

/// Files that match a pattern with *, ?, [] and ** (any folders), sorted; a backslash takes the
/// meaning from the character behind it. "" and folders never match.
[[nodiscard]] std::vector<std::string> matching_files(const std::string& pattern);

} // namespace rankscope
