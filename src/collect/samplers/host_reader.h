// Load and memory of the host, from /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rankscope {

struct HostReading {
  std::optional<double> cpu_busy_pct; ///< of all processors since the last reading: 0 to 100
  std::optional<std::int64_t> memory_used_b, memory_total_b; ///< used = total - available
  std::optional<double> load1;                               ///< load average over 1 min
};

class HostReader {
public:
  /// `proc_root`: /proc, or a folder that imitates it.
  explicit HostReader(std::string proc_root) : root_(std::move(proc_root)) {}
  /// The first reading has no cpu_busy_pct.
  [[nodiscard]] HostReading read();

private:
  std::string root_;
  std::uint64_t last_total_ = 0, last_idle_ = 0;
};

} // namespace rankscope
