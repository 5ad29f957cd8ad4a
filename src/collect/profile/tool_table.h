// The table of profiling tools: what each adds around a command, to its environment, before and
// after the run, and which files it writes. Built in (tools.json in this folder), with other tables
// merged over it. Accepted shape: {"tools": {NAME: {...}}} with the keys of ToolEntry.
#pragma once

#include "base/result.h"
#include "collect/profile/json_value.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

using EnvPairs = std::vector<std::pair<std::string, std::string>>;
/// "" where it is not set.
[[nodiscard]] std::string variable(const EnvPairs& environment, std::string_view name);

/// A script before or behind the run.
struct ToolScript {
  std::string path;
  std::vector<std::string> arguments;
};

/// A file, or a pattern with * and **, that a tool writes.
struct ToolOutput {
  /// {out} is the tool's folder, {run} the run's. A relative one is looked for where the command
  /// runs: of those only files that the run made, which are copied.
  std::string path;
  std::string check;    ///< bytes, csv, json, sqlite, sqlite:TABLE, trace (by the file's ending)
  std::string legacy;   ///< name in the current folder with --compat-outputs; may be empty
  bool required = true; ///< its absence is a finding
  std::vector<std::string> without; ///< words of cmd with which it does not apply
};

struct ToolEntry {
  std::string name;
  std::string about;
  std::vector<std::string> vendors;
  std::string family;                 ///< two tools of one family do not go together
  std::string cmd;                    ///< prefix of the command
  std::vector<std::string> fallbacks; ///< other prefixes, where the program of cmd is absent
  bool shell = false;                 ///< cmd is shell text; the inner command is its "$@"
  EnvPairs env_vars;                  ///< set; for lists of paths put in front
  EnvPairs env_prepend;               ///< put in front of what is there, with ':'
  EnvPairs env_or;                    ///< bits, OR-ed with what is there
  EnvPairs env_list;                  ///< comma list, joined with what is there
  std::vector<std::string> env_unset;
  std::vector<ToolScript> pre, post;
  std::vector<ToolOutput> produces;
  std::vector<std::string> libraries; ///< whose calls it sees
  std::vector<std::string> conflicts; ///< names of tools
  std::vector<std::string> required;  ///< programs; "lib:NAME" a library, "file:PATH" a file
  std::vector<std::string> needs;     ///< capabilities of a container
  std::string native;                 ///< made here: sampler, library_trace, ...; empty = a program
  double timeout_s = 600;             ///< of each of its scripts
  int passes = 1;                     ///< times that the command runs
  EnvPairs files; ///< name in the tool's folder and text, written before anything runs
};

class ToolTable {
public:
  /// The built-in tools.
  static Result<ToolTable> builtin();
  /// Merges a table over this one, key by key; relative paths of its scripts and commands are meant
  /// from its folder. A tool that is made here keeps being so unless the entry says "native":
  /// false. Unknown keys go to `notes`. Errors: kUnreadable, kUsage with a JSON pointer.
  Result<void> merge_file(const std::string& path, std::vector<std::string>& notes);
  /// As merge_file() for a table that was read from `where` in `folder`.
  Result<void> merge(const Json& root, const std::string& where, const std::string& folder,
                     std::vector<std::string>& notes);
  /// The entry with the user's keys over it ({"name", "cmd", "env_vars", ...}). Errors: kUsage for
  /// a name that is not there (with the nearest), a bad key or value.
  [[nodiscard]] Result<ToolEntry> entry(const Json& use, const std::string& where,
                                        std::vector<std::string>& notes) const;
  [[nodiscard]] std::vector<std::string> names() const;

private:
  Json tools_ = Json::object();
};

/// Splits as a POSIX shell does: blanks, quotes, backslashes. Nothing is expanded. Errors: kUsage
/// for an open quote, and for what only a shell could do (&&, |, >, ;, `, $(), unquoted).
Result<std::vector<std::string>> split_words(const std::string& text, const std::string& where);

/// One --tool of the command line, NAME[:key=value,...], as an entry of "tools": upper-case keys
/// are environment variables, `kernel=1` an option of the tool, others keys of the entry.
Result<Json> tool_use(const std::string& text);

/// Returns whether the variable is a list of paths, to which a tool only adds.
[[nodiscard]] bool is_path_variable(const std::string& name);

} // namespace rankscope
