// Measures the same matrix products with every implementation of this machine: the BLAS library
// (rocBLAS, cuBLAS), the light library (hipBLASLt, cuBLASLt), and the algorithms that the light
// library lists.
#pragma once

#include "collect/library_perf/library_perf.h"

#include <functional>
#include <string>
#include <vector>

namespace rankscope {

struct ImplementationRow {
  std::string library, config; ///< of the trace
  std::uint64_t calls = 0;
  std::string implementation; ///< rocblas, hipblasLt, hipblasLt algorithm 2
  bool called = false;        ///< the trace called this implementation
  std::optional<double> time_us, time_us_stddev;
  std::optional<double> gflops;
  std::string status, detail; ///< as in PerfRow

  /// Returns whether this row takes less time than `other`, by more than 2 % and by more than twice
  /// the standard error of the difference.
  [[nodiscard]] bool is_faster_than(const ImplementationRow& other, unsigned repeats) const;
};

/// Measures each matrix product of `rows` natively: the two libraries, then algorithms 2 to
/// `algorithms` of the light library, if they exist. Products are in the order of `rows`, each with
/// the called implementation first. `progress` gets each finished row. Stops when cancelled.
[[nodiscard]] std::vector<ImplementationRow>
measure_implementations(const std::vector<PerfRow>& rows, const LibraryPerfOptions& options,
                        unsigned algorithms,
                        const std::function<void(const ImplementationRow&)>& progress);

struct ImplementationSummary {
  std::size_t products = 0; ///< products with a time of the called implementation
  std::size_t faster = 0;   ///< products with an implementation that is faster than the called one
  double called_us = 0;     ///< time of all their calls
  double best_us = 0;       ///< time of all their calls with the fastest implementation of each
};
/// Columns: library,config,calls,implementation,called,time_us,time_us_stddev,gflops,ratio,faster,
/// status,detail. ratio = time / time of the called implementation; faster = yes if the row
/// is_faster_than() the called one. Errors: kOutput.
Result<ImplementationSummary> write_implementations(const std::string& path,
                                                    const std::vector<ImplementationRow>& rows,
                                                    unsigned repeats);

} // namespace rankscope
