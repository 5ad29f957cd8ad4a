// The machine that a run is on, from files of the kernel alone: no child, no library.
#pragma once

#include <cstdint>
#include <string>

namespace rankscope {

struct MachineFacts {
  std::string host, kernel, machine;
  std::string cpu;
  std::int64_t processors = 0, memory_bytes = 0;
  std::string nvidia_driver, amdgpu_driver, rocm; ///< "" = not there
};
[[nodiscard]] MachineFacts read_machine_facts();

/// The first line of a small file; "" when it cannot be read.
[[nodiscard]] std::string first_line(const std::string& path);

} // namespace rankscope
