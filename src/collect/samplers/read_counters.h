// Reads all values of a table of samples, for timelines.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// Samples of one quantity of one GPU.
struct GpuCounter {
  int gpu = 0;
  std::string quantity; ///< power, memory, load, clock, memory clock, temperature
  std::string unit;     ///< W, GiB, %, MHz, C
  std::vector<std::pair<std::int64_t, double>> samples; ///< Unix ns and value, ascending
};

/// Reads the quantities in gpu_samples.csv, by GPU. Other tables that read_power_table() knows have
/// only the power. Errors: those of read_power_table().
Result<std::vector<GpuCounter>> read_gpu_counters(const std::string& path);

} // namespace rankscope
