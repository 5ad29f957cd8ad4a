// The content of an Nsight Systems report that a summary needs, independent of the file format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rankscope {

/// One row of cuda_gpu_kern_sum or cuda_gpu_mem_time_sum.
struct NsysSum {
  std::string name;
  double total_ns = 0;
  std::int64_t count = 0;
};

/// One row of nvtx_gpu_proj_trace: an NVTX range projected onto the GPU work launched inside it.
struct NsysRange {
  std::string name; ///< "domain:text"; ":text" for the default domain
  double duration_ns = 0;
  std::int64_t start_ns = 0;     ///< set only if has_intervals
  std::vector<std::size_t> gpus; ///< GPUs of this work, ascending; set only if has_intervals
};

struct NsysInterval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t gpu = 0;    ///< number of the pair (process, device): processes name GPUs separately
  std::size_t kernel = 0; ///< index into NsysData::kernels
};

struct NsysData {
  std::vector<NsysSum> kernels; ///< by total time, longest first
  std::vector<NsysSum> memory;
  std::vector<NsysRange> ranges;
  /// Number of ranges by name during which their thread launched no GPU work; only from sqlite
  /// files.
  std::map<std::string, std::int64_t> ranges_without_work;
  std::vector<NsysInterval> intervals; ///< all kernels; only from sqlite files
  std::int64_t rows_without_times = 0; ///< number of rows that were left out: start or end is not
                                       ///< an integer, or the end is before the start
  std::int64_t graph_launches = 0;     ///< number of graph launches whose kernels were not recorded
  std::size_t most_gpus = 0;  ///< number of pairs (process, device) with GPU work; 0 = unknown
  std::size_t least_gpus = 0; ///< number of device numbers: processes may share GPUs
  bool has_memory = false;
  bool has_ranges = false;
  bool has_intervals = false;
};

} // namespace rankscope
