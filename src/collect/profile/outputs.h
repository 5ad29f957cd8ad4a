// Finds the files that tools wrote, copies them into the run's folder and counts their records.
#pragma once

#include "collect/profile/tool_table.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct OutputFound {
  std::string path; ///< in the run's folder, absolute
  std::string legacy;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> records; ///< see count_records()
  std::string hash;                     ///< FNV-1a of its bytes, 16 digits
  [[nodiscard]] bool empty() const { return bytes == 0 || records == 0U; }
};

struct ToolOutputs {
  std::vector<OutputFound> files;
  std::vector<std::string> missing;      ///< required patterns without a file
  std::vector<std::string> there_before; ///< matching files from before the run; not copied

  [[nodiscard]] std::uint64_t bytes() const;
  /// Returns the sum over the files with counted records; nullopt if there is no such file.
  [[nodiscard]] std::optional<std::uint64_t> records() const;
  /// Returns whether the tool recorded nothing: files without counted records decide only if no
  /// other file exists.
  [[nodiscard]] bool empty() const;
};

/// Returns the files that match the tool's relative patterns in `folder`, where the command will
/// run.
[[nodiscard]] std::vector<std::string> files_before(const ToolEntry& tool,
                                                    const std::string& folder);

/// Finds files that match the tool's patterns and were written since `since`. Files in `folder`,
/// where the command ran, are copied into `tool_folder`; the originals remain. Files in `before`
/// (from files_before(), sorted) are never copied.
ToolOutputs collect_outputs(const ToolEntry& tool, const std::string& tool_folder,
                            const std::string& folder, std::filesystem::file_time_type since,
                            const std::vector<std::string>& before);

/// Returns the number of records (rows, events) in the file, counted by `check` (see ToolOutput): 0
/// = empty or missing file, 1 = larger or other than what is counted. nullopt for "bytes", and with
/// "trace" for files of unknown endings and files that describe the machine.
[[nodiscard]] std::optional<std::uint64_t> count_records(const std::string& path,
                                                         const std::string& check);

/// Returns a pattern that matches only `path`.
[[nodiscard]] std::string escaped_pattern(std::string_view path);

/// Returns the files that match a pattern with *, ?, [] and ** (any folders), sorted. A backslash
/// makes the next character literal. "" and folders never match.
[[nodiscard]] std::vector<std::string> matching_files(const std::string& pattern);

} // namespace rankscope
