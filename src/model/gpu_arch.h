// Peak rates of a GPU for rooflines: built-in GPUs or a JSON file (docs/reference/report-rules.md
// 10).
#pragma once

#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct GpuArch {
  std::string name;
  double mem_bw_gbps = 0;                                  ///< 1e9 bytes per second
  std::map<std::string, double, std::less<>> tflops;       ///< peak of each compute spec, e.g.
                                                           ///< "matrix_bf16"
  std::map<std::string, std::string, std::less<>> sources; ///< source of each built-in peak
  std::string source;                                      ///< what the peaks are based on, and the
                                                           ///< source of the memory bandwidth
};

/// Returns the names of the built-in GPUs.
[[nodiscard]] std::vector<std::string> builtin_gpu_archs();

/// Returns the name of the built-in GPU for the device name that the driver reports ("AMD Instinct
/// MI300X", "NVIDIA H100 80GB HBM3"). Returns "" for any other name, also for GPUs with the same
/// chip but other memory or clocks (PCIe, NVL), and for a part of a GPU (MIG, or a compute
/// partition with fewer multiprocessors). `multiprocessors`: SMs or compute units of the device; 0
/// = unknown.
[[nodiscard]] std::string recognised_gpu(std::string_view device_name,
                                         std::int64_t multiprocessors = 0);

/// Loads a built-in GPU by its name (in any case), or a JSON file {name, mem_bw_gbps,
/// max_achievable_tflops{spec: n}}.
Result<GpuArch> load_gpu_arch(const std::string& name_or_path);

/// Returns the compute spec whose peak limits work of `spec`: `spec` itself or, for 16-bit vector
/// work without a known peak, vector_fp32 (16-bit work runs at least at that rate). "" if both
/// peaks are unknown.
[[nodiscard]] std::string_view peak_spec(const GpuArch& arch, std::string_view spec);

struct Roofline {
  double time_us = 0;
  bool compute_bound = false;
};

/// Returns the minimum time of work: the larger of Tc = flops / peak and Tm = bytes / bandwidth.
/// nullopt if the peak of `spec` or the bytes are unknown, or if flops are not positive. If
/// peak_spec() returns another spec, that peak is only a lower bound; then the result is nullopt
/// unless memory is the limit. Example: 1e12 flops at 100 TFLOPS and 1e9 bytes at 1000 GB/s: Tc =
/// 10 ms, Tm = 1 ms, compute bound, 10000 us.
[[nodiscard]] std::optional<Roofline> roofline(const GpuArch& arch, std::string_view spec,
                                               double flops, double bytes);

} // namespace rankscope
