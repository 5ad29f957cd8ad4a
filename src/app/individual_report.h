// The workbook of one rank that analyze and compare write.
#pragma once

#include "analyses/analysis.h"
#include "base/result.h"
#include "core/loaded_trace.h"

#include <string>

namespace rankscope {

/// The endings of workbook names in a folder of parts, per command.
inline constexpr const char* kAnalyzeReport = "analyze.xlsx";
inline constexpr const char* kCompareReport = "compare.xlsx";

/// Errors: those of build_report(), kOutput.
Result<void> write_individual_report(const LoadedTrace& trace, const ReportOptions& options,
                                     const std::string& path);

} // namespace rankscope
