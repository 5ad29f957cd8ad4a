// Nsight Systems reports to their summary: CSV tables, SQLite exports, or reports that nsys
// exports.
#pragma once

#include "analyses/nsys/nsys_summary.h"
#include "app/write_outputs.h"
#include "engine/session.h"
#include "readers/nsys/nsys_config.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct NsysRequest {
  std::string file;    ///< FILE.sqlite, FILE.nsys-rep or the prefix of CSV tables; or:
  std::string config;  ///< JSON with inputs and kernel classes
  std::string classes; ///< JSON map from part of a kernel's name to its class; "" = none
  NsysInput single;    ///< iterations, gpus, nvtx_tag and title of `file`
  ReportOutputs outputs;
};

struct NsysRun {
  std::vector<NsysSummary> summaries; ///< of the inputs that could be read, in their order
  Report report;
  std::optional<Error> failure; ///< of the one input, when there is no other
};

/// Inputs that cannot be read are warned of; with others left the session is partial. Errors:
/// kUsage, kUnreadable when no input of several could be read, kOutput.
Result<NsysRun> run_nsys(Session& session, const NsysRequest& request);

} // namespace rankscope
