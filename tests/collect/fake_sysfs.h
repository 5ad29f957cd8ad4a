// A folder that imitates the /sys folder of a machine with AMD GPUs.
#pragma once

#include "temp_folder.h"

#include <filesystem>
#include <string>

namespace rankscope::test {

class FakeSysfs {
public:
  /// Adds a GPU at renderD<node> with address `bdf`; if `watts` is negative, the GPU has no power
  /// file.
  void add_gpu(int node, const std::string& bdf, const std::string& unique_id, double watts,
               const std::string& device_id = "0x74a1") const {
    put(node, "vendor", "0x1002");
    put(node, "device", device_id);
    put(node, "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=" + bdf);
    put(node, "unique_id", unique_id);
    put(node, "current_compute_partition", "SPX");
    put(node, "mem_info_vram_used", "17179869184");
    put(node, "mem_info_vram_total", "68719476736");
    put(node, "gpu_busy_percent", "87");
    put(node, "mem_busy_percent", "33");
    put(node, "hwmon/hwmon3/temp1_input", "41000");
    put(node, "hwmon/hwmon3/temp1_label", "edge");
    put(node, "hwmon/hwmon3/temp2_input", "52000");
    put(node, "hwmon/hwmon3/temp2_label", "junction");
    put(node, "hwmon/hwmon3/freq1_input", "2100000000");
    put(node, "hwmon/hwmon3/freq1_label", "sclk");
    put(node, "hwmon/hwmon3/freq2_input", "1300000000");
    put(node, "hwmon/hwmon3/freq2_label", "mclk");
    if (watts >= 0)
      set_watts(node, watts);
  }
  void set_watts(int node, double watts) const {
    put(node, "hwmon/hwmon3/power1_average", std::to_string(static_cast<long long>(watts * 1e6)));
  }
  void put(int node, const std::string& file, const std::string& text) const {
    folder_.write(device(node) + "/" + file, text + "\n");
  }
  void remove(int node, const std::string& file) const {
    std::filesystem::remove(folder_.path(device(node) + "/" + file));
  }
  /// Simulates that the GPU is removed: deletes its files.
  void unplug(int node) const {
    std::filesystem::remove_all(folder_.path("class/drm/renderD" + std::to_string(node)));
  }
  [[nodiscard]] std::string root() const { return folder_.path(); }
  [[nodiscard]] std::string file(int node, const std::string& name) const {
    return folder_.path(device(node) + "/" + name);
  }

private:
  static std::string device(int node) {
    return "class/drm/renderD" + std::to_string(node) + "/device";
  }
  TempFolder folder_;
};

} // namespace rankscope::test
