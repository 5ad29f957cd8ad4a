// library_trace.csv as configurations to be measured, and library_perf.csv, what was measured.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Rows of a CSV (RFC 4180, LF or CRLF) by the names in its first row. Errors: kUnreadable: no such
/// file, a column of `wanted` missing, a row with another number of cells.
using CsvRow = std::map<std::string, std::string>;
Result<std::vector<CsvRow>> read_csv(const std::string& path,
                                     const std::vector<std::string>& wanted);

/// Times that differ by less than this part of their mean are equal: bench programs repeat no
/// better.
inline constexpr double kSameTime = 0.02;

struct PerfRow {
  std::string job_id, created, model, library, config;
  std::uint64_t calls = 0;
  std::string gpu_vendor, gpu_architecture;      ///< as the bench program prints it, may be empty
  std::string backend;                           ///< the program
  std::optional<double> time_us, time_us_stddev; ///< of one call; over repeats
  std::uint64_t iters = 0;
  std::optional<double> gflops, gbps;
  std::string status; ///< ok, failed, missing, unsupported, skipped
  std::string detail; ///< why, where it is not ok

  [[nodiscard]] std::optional<double> total_us() const {
    return time_us ? std::optional(*time_us * static_cast<double>(calls)) : std::nullopt;
  }
};

/// The configurations of library_trace.csv, each once with the sum of its calls, in the order of
/// first appearance. Errors: kUnreadable.
Result<std::vector<PerfRow>> read_trace_rows(const std::string& path);

/// Most total time first, then those without a time. Columns: jobid,created_date,model,library,
/// config,calls,gpu_vendor,gpu_architecture,backend,time_us,time_us_stddev,iters,gflops,gbps,
/// total_us,share_pct,status,detail. Errors: kOutput.
Result<void> write_perf_table(const std::string& path, std::vector<PerfRow> rows);

/// Compares two tables: library,config,calls,a_us,b_us,ratio,winner,a_status,b_status; ratio =
/// b_us / a_us, winner A or B where they differ by more than 2 %, "same" within; most time first.
/// Rows of one side only are included. Returns how many of each.
struct PerfComparison {
  std::size_t a_wins = 0, b_wins = 0, same = 0, not_comparable = 0;
  double a_total_us = 0, b_total_us = 0; ///< of the rows with both times, by the calls of A
};
Result<PerfComparison> compare_perf_tables(const std::string& a, const std::string& b,
                                           const std::string& out);

} // namespace rankscope
