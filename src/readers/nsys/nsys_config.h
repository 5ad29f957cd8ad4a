// The JSON configuration of the Nsight Systems summary.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

struct NsysInput {
  std::string format; ///< "csv", "nsys-rep" or "sqlite"
  std::string title;
  std::string path; ///< nsys-rep, sqlite
  std::string kernel_sum;
  std::string nvtx_proj_trace; ///< empty: no file
  std::string mem_time_sum;    ///< empty: no file
  bool with_nvtx = true;
  bool with_memory = true;
  std::int64_t iterations = 0;
  std::int64_t gpus = 1;
  std::string nvtx_tag;
};

struct NsysConfig {
  std::vector<NsysInput> inputs;
  std::vector<std::pair<std::string, std::string>> classes; ///< in file order
};

/// Removes // and /* */ comments and trailing commas (before ] and }) from `text`, except inside
/// strings.
[[nodiscard]] std::string plain_json(const std::string& text);
/// Reads a configuration. Errors: kUnreadable if the JSON is not valid, kUsage if a field is
/// missing or wrong.
Result<NsysConfig> read_nsys_config(const std::string& path);
/// Reads only the map of kernel classes. The file may contain only this map, or a complete
/// configuration.
Result<std::vector<std::pair<std::string, std::string>>>
read_kernel_classes(const std::string& path);

} // namespace rankscope
