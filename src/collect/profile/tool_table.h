// The table of profiling tools: the command, environment, scripts and output files of each tool. It
// is built in (tools.json in this folder); other tables are merged over it. Accepted shape:
// {"tools": {NAME: {...}}} with the keys of ToolEntry.
#pragma once

#include "base/result.h"
#include "collect/profile/json_value.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

using EnvPairs = std::vector<std::pair<std::string, std::string>>;
/// Returns the value of a variable; "" when it is not set.
[[nodiscard]] std::string variable(const EnvPairs& environment, std::string_view name);

/// A script before or after the run.
struct ToolScript {
  std::string path;
  std::vector<std::string> arguments;
};

/// A file, or a pattern with * and **, that a tool writes.
struct ToolOutput {
  /// {out} is the tool's folder, {run} the run's folder. A relative pattern applies where the
  /// command runs; it matches only files that the run wrote, and they are copied.
  std::string path;
  std::string check;    ///< bytes, csv, json, sqlite, sqlite:TABLE, trace (by the file's ending)
  std::string legacy;   ///< name in the current folder with --compat-outputs; may be empty
  bool required = true; ///< its absence is a finding
  std::vector<std::string> without; ///< the output does not apply if cmd has one of these words
};

struct ToolEntry {
  std::string name;
  std::string about;
  std::vector<std::string> vendors;
  std::string family;                 ///< tools of the same family conflict
  std::string cmd;                    ///< prefix of the command
  std::vector<std::string> fallbacks; ///< other prefixes if the program of cmd is missing
  bool shell = false;                 ///< cmd is shell text; the inner command is its "$@"
  EnvPairs env_vars;                  ///< variables to set; lists of paths are prepended
  EnvPairs env_prepend;               ///< prepended to the present value, with ':'
  EnvPairs env_or;                    ///< bits, OR-ed with the present value
  EnvPairs env_list;                  ///< comma list, joined with the present value
  std::vector<std::string> env_unset;
  std::vector<ToolScript> pre, post;
  std::vector<ToolOutput> produces;
  std::vector<std::string> libraries; ///< libraries whose calls the tool records
  std::vector<std::string> conflicts; ///< names of tools
  std::vector<std::string> required;  ///< programs; "lib:NAME" a library, "file:PATH" a file
  std::vector<std::string> needs;     ///< capabilities of a container
  std::string native;     ///< built-in kind: sampler, library_trace, ...; empty = a program
  double timeout_s = 600; ///< limit for each of its scripts
  int passes = 1;         ///< number of times that the command runs
  EnvPairs files;         ///< files to write into the tool's folder before the run: name and text
};

class ToolTable {
public:
  /// Returns the built-in tools.
  static Result<ToolTable> builtin();
  /// Merges a table over this one, key by key. Relative paths of its scripts and commands start at
  /// its folder. A native tool stays native unless the entry says "native": false. Unknown keys go
  /// to `notes`. Errors: kUnreadable, kUsage with a JSON pointer.
  Result<void> merge_file(const std::string& path, std::vector<std::string>& notes);
  /// Merges a table that was read from `where` in `folder`, like merge_file().
  Result<void> merge(const Json& root, const std::string& where, const std::string& folder,
                     std::vector<std::string>& notes);
  /// Returns the entry after the user's keys ({"name", "cmd", "env_vars", ...}) are merged over it.
  /// Errors: kUsage for an unknown name (with the nearest name), a bad key or value.
  [[nodiscard]] Result<ToolEntry> entry(const Json& use, const std::string& where,
                                        std::vector<std::string>& notes) const;
  [[nodiscard]] std::vector<std::string> names() const;

private:
  Json tools_ = Json::object();
};

/// Splits a text like a POSIX shell: blanks, quotes, backslashes. Nothing is expanded. Errors:
/// kUsage for an open quote and for shell syntax (&&, |, >, ;, `, $(), unquoted).
Result<std::vector<std::string>> split_words(const std::string& text, const std::string& where);

/// Parses one --tool of the command line, NAME[:key=value,...], as an entry of "tools". Upper-case
/// keys are environment variables, `kernel=1` is an option of the tool, other keys are keys of the
/// entry.
Result<Json> tool_use(const std::string& text);

/// Returns whether the variable is a list of paths, to which a tool only adds.
[[nodiscard]] bool is_path_variable(const std::string& name);

} // namespace rankscope
