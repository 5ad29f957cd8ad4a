// Configurations of library_trace.csv to be measured, and library_perf.csv with the measurements.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Reads the rows of a CSV (RFC 4180, LF or CRLF) as values by column name. Errors: kUnreadable: a
/// missing file, a missing column of `wanted`, a row whose number of cells differs from the
/// header's.
using CsvRow = std::map<std::string, std::string>;
Result<std::vector<CsvRow>> read_csv(const std::string& path,
                                     const std::vector<std::string>& wanted);

/// Times that differ by less than this part of their mean count as equal, because repeated runs of
/// bench programs differ by as much.
inline constexpr double kSameTime = 0.02;

struct PerfRow {
  std::string job_id, created, model, library, config;
  std::uint64_t calls = 0;
  std::string gpu_vendor, gpu_architecture;      ///< as the bench program prints it, may be empty
  std::string backend;                           ///< the program or library that measured
  std::optional<double> time_us, time_us_stddev; ///< of one call, over the repeats
  std::uint64_t iters = 0;
  std::optional<double> gflops, gbps;
  std::string status; ///< ok, failed, missing, unsupported, skipped
  std::string detail; ///< reason if the status is not ok, else a note

  [[nodiscard]] std::optional<double> total_us() const {
    return time_us ? std::optional(*time_us * static_cast<double>(calls)) : std::nullopt;
  }
};

/// Reads the configurations of library_trace.csv in the order of first appearance, each once with
/// the sum of its calls. Errors: kUnreadable.
Result<std::vector<PerfRow>> read_trace_rows(const std::string& path);

/// Writes rows with most total time first, rows without a time last. Columns: jobid,created_date,
/// model,library,config,calls,gpu_vendor,gpu_architecture,backend,time_us,time_us_stddev,iters,
/// gflops,gbps,total_us,share_pct,status,detail. Errors: kOutput.
Result<void> write_perf_table(const std::string& path, std::vector<PerfRow> rows);

/// Compares two tables and writes library,config,calls,a_us,b_us,ratio,winner,a_status,b_status;
/// ratio = b_us / a_us, winner = A or B if they differ by more than 2 %, else "same"; most time
/// first. Rows of only one table are included. Returns the number of rows of each kind.
struct PerfComparison {
  std::size_t a_wins = 0, b_wins = 0, same = 0, not_comparable = 0;
  double a_total_us = 0, b_total_us = 0; ///< sum of time * calls of A, over rows with both times
};
Result<PerfComparison> compare_perf_tables(const std::string& a, const std::string& b,
                                           const std::string& out);

} // namespace rankscope
