// Energy of processors and memory, from the RAPL counters that the kernel shows below
// /sys/class/powercap (Intel, and AMD from Zen on).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Energy in joules since the reader was made.
struct RaplReading {
  std::optional<double> cpu_j;  ///< of all processor packages
  std::optional<double> dram_j; ///< of all memory controllers that are counted
};

class RaplReader {
public:
  /// `sysfs_root`: /sys, or a folder that imitates it.
  explicit RaplReader(const std::string& sysfs_root);
  /// Reads each counter once. A value is empty where no counter of its kind can be read; a counter
  /// that wrapped around since the last reading is continued.
  [[nodiscard]] RaplReading read();
  /// Returns why counters that exist cannot be read; "" without counters, or if all can be read.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] bool any() const { return !zones_.empty(); }

private:
  struct Zone {
    std::string file; ///< energy_uj
    bool dram = false;
    std::uint64_t range_uj = 0, last_uj = 0;
    double joules = 0;
  };
  void add(const std::string& folder, bool dram);

  std::vector<Zone> zones_;
  std::string problem_;
};

} // namespace rankscope
