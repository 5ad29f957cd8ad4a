// Facts about the machine of a run, read from kernel files only: no child process, no library.
#pragma once

#include <cstdint>
#include <string>

namespace rankscope {

struct MachineFacts {
  std::string host, kernel, machine;
  std::string cpu;
  std::int64_t processors = 0, memory_bytes = 0;
  std::string nvidia_driver, amdgpu_driver, rocm; ///< "" = not found
};
[[nodiscard]] MachineFacts read_machine_facts();

/// Returns the first line of a small file; "" when the file cannot be read.
[[nodiscard]] std::string first_line(const std::string& path);

} // namespace rankscope
