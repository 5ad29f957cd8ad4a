// Profiling runs: run tools around a command, or around the commands of tagged models, and report
// the tools' output at once.
#pragma once

#include "app/step_energy.h"
#include "collect/profile/manifest.h"
#include "collect/profile/models.h"
#include "collect/profile/preflight.h"
#include "collect/profile/run.h"
#include "collect/profile/targeted.h"
#include "core/table.h"
#include "engine/session.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct ProfileRequest {
  std::vector<std::string> command; ///< the command to run; else `models`
  ModelSearch models;               ///< selected by tags
  std::vector<std::string> tools;   ///< NAME[:key=value,...]; the first tool is the innermost
  std::vector<std::string> tables, context_files, contexts;
  std::string docker;                           ///< image; "" = run without a container
  std::string container_tool;                   ///< docker or podman; "" = the installed one
  std::vector<std::string> container_arguments; ///< additional options of docker run
  std::string devices, sample_rate;             ///< options of the samplers
  std::string sysfs_root = "/sys";
  bool dual_gcd = false;
  bool replicate = false; ///< run a copy on each of `devices`, or on both dies of a package
  std::string out;        ///< "" = ./profile_<run id>
  std::string perf_csv;   ///< file to append a row to; "" = none
  bool compat_outputs = false, keep_going = false, force = false, to_error = false;
  bool hide_trace_lines = false; ///< hide trace lines of libraries in the displayed output
  int baseline = 0;
  double timeout_s = 0, grace_s = 10;
  TargetedCollection targets;
};

/// One run that is ready to start.
struct PreparedRun {
  RunIdentity identity;
  RunRequest run;
  PreflightTarget target;
  std::shared_ptr<const ToolTable> table; ///< empty if no tool is requested
  std::vector<std::string> keeper;        ///< argv of the container; empty = no container
  std::optional<Model> model;             ///< the model, for a run selected by tag
};

struct ProfileOutcome {
  RunIdentity identity;
  RunResult result;
  std::vector<Finding> findings; ///< from the facts of plan and result
  std::string out;
  struct Report {
    std::string trace;          ///< trace file
    std::string output;         ///< workbook
    std::string why;            ///< why the workbook was not written; empty if it was
    bool no_gpu_events = false; ///< true: there is no timeline
    Table timeline, kernels;
    TracedSteps steps;
  };
  std::vector<Report> reports; ///< one per trace file that the tools wrote
  Table step_energy;           ///< set if power was sampled and a trace has steps
};

/// Returns the runs of the request: one run, or one run per model. Errors: kUsage, kUnreadable.
Result<std::vector<PreparedRun>> prepare_profile(Session& session, const ProfileRequest& request);

/// Returns the facts of the pre-flight check. A fact for which stops() is true makes the run
/// impossible.
Result<std::vector<ProfileFact>> check_prepared(const PreparedRun& prepared);

/// Returns the facts of check_prepared(), and whether the samplers find a GPU to read. A run checks
/// the samplers when it begins.
Result<std::vector<ProfileFact>> examine_prepared(const PreparedRun& prepared,
                                                  const ProfileRequest& request);

/// Runs the prepared command, writes manifest and summary, and reports the traces. Errors: kOutput,
/// kMissingTool.
Result<ProfileOutcome> run_prepared(Session& session, PreparedRun& prepared,
                                    const ProfileRequest& request);

/// Returns the default table of tools, overridden by the request's tables.
Result<ToolTable> tool_table(const ProfileRequest& request, std::vector<std::string>& notes);

} // namespace rankscope
