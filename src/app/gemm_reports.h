// Use cases of `rankscope gemm` on reports and CSV files, of rankscope or of the scripts that wrote
// the same: the only place that reads their cells by printed name is behind these.
#pragma once

#include "app/gemm.h"

#include <string>

namespace rankscope {

struct ReportedVariance {
  std::string folder;   ///< with <T>thread/individual_reports
  std::string csv_name; ///< relative to it; empty: the documented name
  std::size_t top_k = 5;
  RankFilter filter;
};
/// The variance table of saved reports. Errors: kUnreadable without one, kOutput.
Result<WrittenTable> gemm_variance_of_reports(Session& ctx, const ReportedVariance& request);

struct TimestampsOfCsv {
  std::string csv;    ///< a variance table
  std::string sweep;  ///< with its traces
  std::string output; ///< CSV; empty: next to the input
  double tolerance = 0.01;
  RankFilter filter;
  DiscoverOptions discover;
};
/// The timestamps of its rows, looked up in the traces.
Result<WrittenTable> gemm_timestamps_of_csv(Session& ctx, const TimestampsOfCsv& request);

struct OverlapOfCsv {
  std::string csv;     ///< a timestamps table
  std::string reports; ///< folder with <T>thread/collective_reports
  std::string output;  ///< CSV; empty: next to the input
};
/// The collectives during its slowest calls, from collective reports.
Result<WrittenTable> gemm_overlap_of_csv(Session& ctx, const OverlapOfCsv& request);

struct PlotsOfCsv {
  std::string csv;    ///< a variance table; empty: that of the sweep
  std::string sweep;  ///< or its outputs
  std::string folder; ///< of the plots; empty: `plots` next to the table
  bool svg = false;
};
struct WrittenPlots {
  std::string folder;
  std::size_t rows = 0;
};
Result<WrittenPlots> plot_gemm_csv(Session& ctx, const PlotsOfCsv& request);

} // namespace rankscope
