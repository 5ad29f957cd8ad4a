// Profiling runs: tools around a command, or around the commands of tagged models, and what the
// tools wrote, reported at once.
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
  std::vector<std::string> command; ///< or:
  ModelSearch models;               ///< with tags
  std::vector<std::string> tools;   ///< NAME[:key=value,...], the first is the innermost
  std::vector<std::string> tables, context_files, contexts;
  std::string docker;                           ///< image; "" = here
  std::string container_tool;                   ///< docker or podman; "" = what is there
  std::vector<std::string> container_arguments; ///< more options of docker run
  std::string devices, sample_rate;             ///< of the samplers
  std::string sysfs_root = "/sys";
  bool dual_gcd = false;
  bool replicate = false; ///< a copy of the command on each of `devices`, or both dies of a package
  std::string out;        ///< "" = ./profile_<run id>
  std::string perf_csv;   ///< a row is appended; "" = none
  bool compat_outputs = false, keep_going = false, force = false, to_error = false;
  bool hide_trace_lines = false; ///< of libraries, from what the command shows
  int baseline = 0;
  double timeout_s = 0, grace_s = 10;
  TargetedCollection targets;
};

/// One run that may begin.
struct PreparedRun {
  RunIdentity identity;
  RunRequest run;
  PreflightTarget target;
  std::shared_ptr<const ToolTable> table; ///< empty where no tool is asked for
  std::vector<std::string> keeper;        ///< argv of the container; empty = local
  std::optional<Model> model;             ///< a tag's
};

struct ProfileOutcome {
  RunIdentity identity;
  RunResult result;
  std::vector<Finding> findings; ///< of the facts of plan and result
  std::string out;
  struct Report {
    std::string trace;          ///< file
    std::string output;         ///< workbook
    std::string why;            ///< why it was not written; else empty
    bool no_gpu_events = false; ///< then there is no timeline
    Table timeline, kernels;
    TracedSteps steps;
  };
  std::vector<Report> reports; ///< of trace files that the tools wrote
  Table step_energy;           ///< where power was sampled and a trace has steps
};

/// The runs that the request means: one, or one a model. Errors: kUsage, kUnreadable.
Result<std::vector<PreparedRun>> prepare_profile(Session& session, const ProfileRequest& request);

/// Facts of the pre-flight; those that stop() make the run impossible.
Result<std::vector<ProfileFact>> check_prepared(const PreparedRun& prepared);

/// The same, and whether the samplers find a GPU to read, which a run checks when it begins.
Result<std::vector<ProfileFact>> examine_prepared(const PreparedRun& prepared,
                                                  const ProfileRequest& request);

/// Runs it, writes manifest and summary, reports the traces. Errors: kOutput, kMissingTool.
Result<ProfileOutcome> run_prepared(Session& session, PreparedRun& prepared,
                                    const ProfileRequest& request);

/// The table of tools with the request's tables over it.
Result<ToolTable> tool_table(const ProfileRequest& request, std::vector<std::string>& notes);

} // namespace rankscope
