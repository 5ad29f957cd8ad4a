// Use cases of `rankscope gemm` on reports and CSV files from rankscope or from the scripts with
// the same output. Only their implementation reads cells of these files by printed name.
#pragma once

#include "app/gemm.h"

#include <string>

namespace rankscope {

struct ReportedVariance {
  std::string folder;   ///< contains <T>thread/individual_reports
  std::string csv_name; ///< relative to `folder`; empty: the documented name
  std::size_t top_k = 5;
  RankFilter filter;
};
/// Writes the variance table of saved reports. Errors: kUnreadable without a report, kOutput.
Result<WrittenTable> gemm_variance_of_reports(Session& ctx, const ReportedVariance& request);

struct TimestampsOfCsv {
  std::string csv;    ///< a variance table
  std::string sweep;  ///< folder with the traces
  std::string output; ///< CSV file; empty: next to the input
  double tolerance = 0.01;
  RankFilter filter;
  DiscoverOptions discover;
};
/// Writes the timestamps of the table's rows, looked up in the traces.
Result<WrittenTable> gemm_timestamps_of_csv(Session& ctx, const TimestampsOfCsv& request);

struct OverlapOfCsv {
  std::string csv;     ///< a timestamps table
  std::string reports; ///< folder with <T>thread/collective_reports
  std::string output;  ///< CSV file; empty: next to the input
};
/// Writes the collectives that ran during the slowest calls of the table, from collective reports.
Result<WrittenTable> gemm_overlap_of_csv(Session& ctx, const OverlapOfCsv& request);

struct PlotsOfCsv {
  std::string csv;    ///< a variance table; empty: the table of the sweep
  std::string sweep;  ///< the sweep, or its outputs
  std::string folder; ///< folder for the plots; empty: `plots` next to the table
  bool svg = false;
};
struct WrittenPlots {
  std::string folder;
  std::size_t rows = 0;
};
Result<WrittenPlots> plot_gemm_csv(Session& ctx, const PlotsOfCsv& request);

} // namespace rankscope
