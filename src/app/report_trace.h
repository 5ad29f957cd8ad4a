// One trace to one report: load, report unusual GPU work, analyse, write.
#pragma once

#include "analyses/analysis.h"
#include "analyses/inference/step_windows.h"
#include "analyses/top/top_facts.h"
#include "app/step_energy.h"
#include "app/write_outputs.h"
#include "engine/session.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct ReportRequest {
  std::string trace;          ///< file, "-" for standard input
  std::string capture_folder; ///< of captures of its graphs; "" = none
  ReportOutputs outputs;      ///< without file and csv_dir: TRACE_perf_report.xlsx
  StepChoice serving_steps;   ///< of the trace, these annotated steps alone
  bool only_asked = false;    ///< write requested files only
  bool top = false;           ///< make the facts of `top` too
  std::string power;          ///< table of samples; "" = no sheets of energy
  std::string power_gpus; ///< GPU in it of each device of the trace, "3,5"; "" = the same numbers
  ReportOptions options;
  AttentionHints attention;        ///< what its operators do not record
  std::string comparison;          ///< another trace, reported the same way; "" = none
  std::string comparison_captures; ///< of its graphs; "" = none
  std::string donor;               ///< trace of the same model without graphs; "" = none
};

struct TraceReport {
  Report report;
  std::string graphs;   ///< how much of its graph launches is known; "" without any
  std::string coverage; ///< how much of the kernel time the models know; "" without that sheet
  std::vector<std::string> written;
  std::optional<TopFacts> top; ///< when asked for
  TracedSteps steps;           ///< of the trace, for values measured at the same time
};

/// Warns of sheets in options.sheets that this trace has nothing for; the report's diagnostics go
/// to the session too. Errors: kUnreadable, kUsage (standard input without an output, an ending
/// that names no format, a sheet that no report has), kOutput.
Result<TraceReport> report_trace(Session& session, const ReportRequest& request);

} // namespace rankscope
