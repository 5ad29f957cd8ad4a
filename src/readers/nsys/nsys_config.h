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

/// Removes // and /* */ comments and commas before ] and } from `text`, except inside strings.
[[nodiscard]] std::string plain_json(const std::string& text);
/// Reads a configuration. Errors: kUnreadable for JSON that does not parse, kUsage for a missing or
/// wrong field.
Result<NsysConfig> read_nsys_config(const std::string& path);
/// Reads only the map of kernel classes, from a file with only this map or from a complete
/// configuration.
Result<std::vector<std::pair<std::string, std::string>>>
read_kernel_classes(const std::string& path);

} // namespace rankscope
