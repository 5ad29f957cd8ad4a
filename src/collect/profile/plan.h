// The plan of a profiling run: its steps in order, its command, its environment. It is made before
// anything starts; --dry-run prints the same plan that is run.
#pragma once

#include "collect/profile/context.h"
#include "collect/profile/tool_table.h"
#include "core/profile_fact.h"

#include <string>
#include <vector>

namespace rankscope {

/// A script that a plan runs.
struct PlanStep {
  std::string tool; ///< "" = the script belongs to the context
  std::vector<std::string> argv;
  double timeout_s = 600;
  std::size_t layer = 0; ///< index of the tool in Plan::tools; for the context, the number of tools
};

/// A change of the environment.
struct EnvChange {
  std::string name, value; ///< as the command will see it
  std::string from;        ///< the tool, or "context"
  bool unset = false;
};

struct Plan {
  std::vector<ToolEntry> tools;       ///< the first is the innermost; {out} is resolved
  std::vector<std::string> folders;   ///< folder of each tool, below the run's folder
  std::vector<PlanStep> pre, post;    ///< in the order in which they run
  std::vector<std::string> command;   ///< as given
  std::vector<std::string> argv;      ///< the command with the tools around it
  std::vector<EnvChange> env;         ///< one per variable, in order of first mention
  std::vector<std::string> conflicts; ///< conflicting variables, and which value wins
  std::vector<ProfileFact> facts;     ///< to be reported with those of the run
};

struct PlanRequest {
  std::vector<ToolEntry> tools; ///< the first is the innermost
  ProfileContext context;
  EnvPairs more_env; ///< variables of a model; the context overrides them
  std::vector<std::string> command;
  std::string out_folder; ///< absolute
  bool force = false;     ///< conflicting tools are a warning
  /// The environment before the changes, name to value.
  EnvPairs environment;
};

/// Wraps the command in the tools' commands, from the first tool to the last; a command that
/// several tools have is inserted only once. Scripts before the command run from the last tool to
/// the first, scripts after it from the first to the last. Errors: kUsage for a command that cannot
/// be split and for conflicting tools.
Result<Plan> make_plan(const PlanRequest& request);

/// Returns every step as text for people: order, argv with quotes, environment.
[[nodiscard]] std::string plan_text(const Plan& plan, bool explain);
[[nodiscard]] Json plan_json(const Plan& plan);

/// Returns argv as text for a shell: words with special characters are in quotes.
[[nodiscard]] std::string quoted_command(const std::vector<std::string>& argv);

/// Returns the environment of this process.
[[nodiscard]] EnvPairs current_environment();

} // namespace rankscope
