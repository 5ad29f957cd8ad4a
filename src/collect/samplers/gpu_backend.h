// Sources of GPU readings: kernel files (AMD) or the vendors' management libraries, opened at run
// time. A back end knows its GPUs and reads one at a time; values that cannot be read are empty,
// never zero.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Identity of a GPU. `index` counts in the order of the back end; where rankscope chooses the
/// order, GPUs are sorted by PCI address.
struct GpuIdentity {
  int index = 0;
  std::string bdf;           ///< PCI address, lowercase: 0000:c1:00.0
  std::string uuid;          ///< GPU-... (NVML) or unique_id (amdgpu); may be empty
  std::string name;          ///< product, may be empty
  std::string render_node;   ///< renderD128; AMD only
  std::string partition;     ///< mode of the package (SPX, CPX, MIG), may be empty
  int package = 0;           ///< index of the GPU whose power sensor serves this GPU, else its own
  bool power_sensor = false; ///< the GPU has a power sensor itself
  bool two_dies = false;     ///< one of the two dies of a package; each die is a GPU

  [[nodiscard]] bool secondary() const { return package != index; }
};

/// A reading of one GPU at one moment.
struct GpuReading {
  std::optional<double> power_w;
  std::optional<double> energy_j; ///< value of a counter that only grows
  std::optional<std::int64_t> vram_used_b, vram_total_b;
  std::optional<double> gpu_busy_pct, mem_busy_pct;
  std::optional<double> sclk_mhz, mclk_mhz;
  std::optional<double> temp_c;
};

/// A process with memory on a GPU.
struct GpuProcess {
  std::int64_t pid = 0;
  std::optional<std::int64_t> vram_used_b; ///< empty if the driver does not report it (MIG)
};

class GpuBackend {
public:
  virtual ~GpuBackend() = default;
  /// "sysfs", "amdsmi 26.0", "rocm-smi", "nvml".
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] const std::vector<GpuIdentity>& gpus() const { return gpus_; }
  /// Facts that readers of the values need to know (for example, power is an average over a
  /// second).
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Reads gpus()[i]; a GPU that went away gives an empty reading. One thread at a time.
  [[nodiscard]] virtual GpuReading read(std::size_t i) = 0;
  /// Reads only the energy counter of gpus()[i], in J. One thread at a time.
  [[nodiscard]] virtual std::optional<double> energy(std::size_t i) { return read(i).energy_j; }
  /// Returns whether processes() can report processes.
  [[nodiscard]] virtual bool tells_processes() const { return false; }
  /// Returns the processes with memory on gpus()[i], sorted by pid. One thread at a time.
  [[nodiscard]] virtual std::vector<GpuProcess> processes(std::size_t /*i*/) { return {}; }
  /// Returns whether the GPUs belong to two vendors. Their numbers are then those of gpus(), not
  /// those of a vendor.
  [[nodiscard]] virtual bool several_vendors() const { return false; }

protected:
  std::vector<GpuIdentity> gpus_;
  std::vector<std::string> notes_;
};

/// Finds the GPU that measures the power of each die without a sensor: a GPU with a sensor and the
/// same uuid (partitions). Otherwise, in packages with two dies, it is the nearest GPU with a
/// sensor before the die, if that sensor serves no other die yet. Any other GPU without a sensor
/// stays alone.
void pair_dies(std::vector<GpuIdentity>& gpus);

enum class GpuSource { kAuto, kSysfs, kAmdSmi, kRocmSmi, kNvml };

struct GpuBackendOptions {
  GpuSource source = GpuSource::kAuto;
  std::string sysfs_root = "/sys";    ///< if not /sys, kAuto opens only the libraries named below
  std::string amdsmi, rocm_smi, nvml; ///< libraries; "" = by their usual names
};

/// Opens each vendor's first source (AMD: sysfs, amdsmi, rocm-smi; NVIDIA: nvml) with a GPU whose
/// power can be read, else the first source with a GPU. If this source has no energy counter, the
/// counter of the next source of the vendor that has one is added (name "sysfs + amdsmi 26.0").
/// GPUs of both vendors form one list, AMD's first. Errors: kMissingTool, with the sources that
/// were tried and why each failed.
Result<std::unique_ptr<GpuBackend>> open_gpu_backend(const GpuBackendOptions& options);

/// Opens a single source. Errors: kMissingTool.
Result<std::unique_ptr<GpuBackend>> open_sysfs_backend(const std::string& root);
Result<std::unique_ptr<GpuBackend>> open_amdsmi_backend(const std::string& library);
Result<std::unique_ptr<GpuBackend>> open_rocm_smi_backend(const std::string& library);
Result<std::unique_ptr<GpuBackend>> open_nvml_backend(const std::string& library);

} // namespace rankscope
