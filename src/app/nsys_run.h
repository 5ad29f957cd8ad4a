// Summarizes Nsight Systems reports: CSV tables, SQLite exports, or reports that nsys exports
// first.
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
  std::string file;    ///< FILE.sqlite, FILE.nsys-rep or the prefix of CSV tables; else `config`
  std::string config;  ///< JSON with inputs and kernel classes
  std::string classes; ///< JSON map from part of a kernel's name to its class; "" = none
  NsysInput single;    ///< iterations, gpus, nvtx_tag and title of `file`
  ReportOutputs outputs;
};

struct NsysRun {
  std::vector<NsysSummary> summaries; ///< one per input that could be read, in input order
  Report report;
  std::optional<Error> failure; ///< error of the input, if it is the only input
};

/// Summarizes the inputs. Warns of inputs that cannot be read; if other inputs remain, the session
/// is partial. Errors: kUsage, kUnreadable if several inputs were given and no input could be read,
/// kOutput.
Result<NsysRun> run_nsys(Session& session, const NsysRequest& request);

} // namespace rankscope
