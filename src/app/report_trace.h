// Makes one report from one trace: load, report unusual GPU work, analyse, write.
#pragma once

#include "analyses/analysis.h"
#include "analyses/inference/step_windows.h"
#include "analyses/top/top_facts.h"
#include "app/step_energy.h"
#include "app/write_outputs.h"
#include "engine/session.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct ReportRequest {
  std::string trace;          ///< file, "-" for standard input
  std::string capture_folder; ///< folder with captures of the trace's graphs; "" = none
  ReportOutputs outputs;      ///< if file and csv_dir are empty: TRACE_perf_report.xlsx
  StepChoice serving_steps;   ///< report only these annotated steps of the trace
  bool only_asked = false;    ///< write requested files only
  bool top = false;           ///< also make the facts of `top`
  std::string power;          ///< table of power samples; "" = no energy sheets
  std::string power_gpus;     ///< the sampler's number of each device, "3,5"; "" = same numbers
  ReportOptions options;
  AttentionHints attention;        ///< for values that operators do not record
  std::string comparison;          ///< another trace, reported the same way; "" = none
  std::string comparison_captures; ///< captures of that trace's graphs; "" = none
  std::string donor;               ///< trace of the same model without graphs; "" = none
};

/// A workbook, a file or a folder of CSV files.
struct WrittenReport {
  std::string path;
  std::size_t sheets = 0;
};

struct TraceReport {
  Report report;
  std::string graphs;   ///< how much of the graph launches is attributed; "" = no graphs
  std::string coverage; ///< how much kernel time the models cover; "" without that sheet
  std::vector<WrittenReport> written;
  std::optional<TopFacts> top; ///< set if requested
  TracedSteps steps;           ///< steps of the trace, for values measured at the same time
};

/// Writes the report as write_outputs() does, and adds the written paths.
Result<void> write_counted(const Report& report, const ReportOutputs& outputs,
                           std::vector<WrittenReport>& written);

/// Warns of sheets in options.sheets for which this trace has no data. Copies the report's
/// diagnostics to the session. Errors: kUnreadable, kUsage (standard input without an output, an
/// ending that names no format, a sheet that no report has), kOutput.
Result<TraceReport> report_trace(Session& session, const ReportRequest& request);

} // namespace rankscope
