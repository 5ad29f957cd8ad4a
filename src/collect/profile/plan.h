// What a profiling run will do: its steps in order, its command, its environment. Made before
// anything starts; the same plan is printed by --dry-run and run.
#pragma once

#include "collect/profile/context.h"
#include "collect/profile/tool_table.h"
#include "core/profile_fact.h"

#include <string>
#include <vector>

namespace rankscope {

/// A script, in the order in which it runs.
struct PlanStep {
  std::string tool; ///< empty: of the context
  std::vector<std::string> argv;
  double timeout_s = 600;
  std::size_t layer = 0; ///< of the tool in Plan::tools; its number for the context's
};

/// A change of the environment.
struct EnvChange {
  std::string name, value; ///< as the command will see it
  std::string from;        ///< the tool, or "context"
  bool unset = false;
};

struct Plan {
  std::vector<ToolEntry> tools;       ///< the first is the innermost; {out} is resolved
  std::vector<std::string> folders;   ///< of each tool, below the run's folder
  std::vector<PlanStep> pre, post;    ///< in the order of running
  std::vector<std::string> command;   ///< as given
  std::vector<std::string> argv;      ///< with the tools around it
  std::vector<EnvChange> env;         ///< one per variable, in order of first mention
  std::vector<std::string> conflicts; ///< of the environment: who wins
  std::vector<ProfileFact> facts;     ///< to be reported with those of the run
};

struct PlanRequest {
  std::vector<ToolEntry> tools; ///< the first is the innermost
  ProfileContext context;
  EnvPairs more_env; ///< of a model: below the context's
  std::vector<std::string> command;
  std::string out_folder; ///< absolute
  bool force = false;     ///< conflicting tools are a warning
  /// The environment that is changed: name to value.
  EnvPairs environment;
};

/// Stacks the tools: commands around the command from the first to the last, scripts before it from
/// the last to the first and behind it from the first to the last, the same command once. Errors:
/// kUsage, for a command that cannot be split and for tools that do not go together.
Result<Plan> make_plan(const PlanRequest& request);

/// Every step for people: order, argv with quotes, environment.
[[nodiscard]] std::string plan_text(const Plan& plan, bool explain);
[[nodiscard]] Json plan_json(const Plan& plan);

/// Returns argv as text for a shell: words with special characters are in quotes.
[[nodiscard]] std::string quoted_command(const std::vector<std::string>& argv);

/// This process's environment.
[[nodiscard]] EnvPairs current_environment();

} // namespace rankscope
