// Runs a plan: set-up scripts, the command with its tools, tear-down scripts (also after a
// failure), and the collection of outputs.
#pragma once

#include "collect/clock_anchor.h"
#include "collect/profile/native_tool.h"
#include "collect/profile/outputs.h"
#include "collect/profile/plan.h"
#include "os/process.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct StepResult {
  std::string phase; ///< pre, post
  std::string tool;  ///< "" = the context
  std::vector<std::string> argv;
  std::string status; ///< "ok", "exit code 3", ...
  bool ok = false;
  double seconds = 0;
  std::string log; ///< file
};

struct ToolResult {
  std::string name;
  std::string status; ///< ok, empty, failed, not run
  ToolOutputs outputs;
};

struct RunRequest {
  Plan plan;
  std::string out;    ///< the run's folder, absolute; created if it is missing
  std::string folder; ///< where the command runs; "" = the current folder
  std::vector<std::unique_ptr<NativeTool>> natives;
  /// Words in front of every program (docker exec ...); the environment and the container's name
  /// follow them.
  std::vector<std::string> container;
  std::string container_name;
  double timeout_s = 0;    ///< limit for the command, 0 = no limit
  double grace_s = 10;     ///< time between the request to end and the kill
  int baseline = 0;        ///< number of runs without tools before the profiled run
  bool keep_going = false; ///< run the command even if a tool could not be set up
  bool to_error = false;   ///< the command's output goes to our standard error
  std::optional<CancelToken> cancel;
};

struct RunResult {
  bool launched = false; ///< the command was started
  int exit_status = 0;   ///< exit code of the command; 128 + signal; 124 at a time-out
  std::string ended;     ///< "exit code 0", "signal 9", "it did not end in time"
  double seconds = 0;    ///< duration of the command with its tools
  std::vector<double> baseline_s;
  bool tool_failed = false; ///< a tool could not be set up or ended, or wrote nothing
  std::vector<StepResult> steps;
  std::vector<ToolResult> tools;  ///< in the plan's order
  std::vector<ProfileFact> facts; ///< to be reported
  Json metrics = Json::object();  ///< values of native tools
  ClockAnchor begin, end;         ///< of the command
};

/// Runs the plan, including the tear-down. Errors: kOutput when the folder cannot be made or
/// written, kMissingTool when the command cannot be started. The result reports all other failures.
Result<RunResult> run_plan(RunRequest& request);

} // namespace rankscope
