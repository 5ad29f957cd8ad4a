// NVIDIA's management library. The used part of its stable interface is declared here: functions
// take an opaque device, and versioned structs begin with size | version << 24.
#include "collect/samplers/gpu_backend.h"
#include "os/shared_library.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace rankscope {
namespace {

using Device = void*;
using NvmlBackendStatus = int; // 0 = success

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
constexpr unsigned kMemoryV2 = static_cast<unsigned>(sizeof(MemoryV2)) | 2U << 24;
/// Layout for versions 2 and 3 of the call.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
constexpr unsigned long long kUnknownBytes = ~0ULL;
constexpr NvmlBackendStatus kInsufficientSize = 7;
struct Utilization {
  unsigned gpu, memory;
};
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency_us;
  unsigned value_type;
  NvmlBackendStatus status;
  union {
    double d;
    unsigned u;
    unsigned long long ull;
  } value;
};
constexpr unsigned kFieldPowerAverage = 185, kFieldPowerInstant = 186; // mW
constexpr unsigned kValueUnsigned = 1;
constexpr int kClockSm = 1, kNvmlBackendClockMemory = 2, kTemperatureGpu = 0;

struct NvmlBackendApi {
  NvmlBackendStatus (*init)();
  NvmlBackendStatus (*shutdown)();
  const char* (*error_string)(NvmlBackendStatus);
  NvmlBackendStatus (*count)(unsigned*);
  NvmlBackendStatus (*handle)(unsigned, Device*);
  NvmlBackendStatus (*uuid)(Device, char*, unsigned);
  NvmlBackendStatus (*pci)(Device, PciInfo*);
  NvmlBackendStatus (*name)(Device, char*, unsigned);
  NvmlBackendStatus (*power)(Device, unsigned*);
  NvmlBackendStatus (*energy)(Device, unsigned long long*);
  NvmlBackendStatus (*memory)(Device, Memory*);
  NvmlBackendStatus (*memory_v2)(Device, MemoryV2*);
  NvmlBackendStatus (*utilization)(Device, Utilization*);
  NvmlBackendStatus (*clock)(Device, int, unsigned*);
  NvmlBackendStatus (*temperature)(Device, int, unsigned*);
  NvmlBackendStatus (*fields)(Device, int, FieldValue*);
  NvmlBackendStatus (*mig_mode)(Device, unsigned*, unsigned*);
  NvmlBackendStatus (*processes)(Device, unsigned*, ProcessInfo*);
};

bool find_api_nvml_backend(const SharedLibrary& lib, NvmlBackendApi& api) {
  lib.find("nvmlErrorString", api.error_string);
  lib.find("nvmlDeviceGetName", api.name);
  lib.find("nvmlDeviceGetPowerUsage", api.power);
  lib.find("nvmlDeviceGetTotalEnergyConsumption", api.energy);
  lib.find("nvmlDeviceGetMemoryInfo", api.memory);
  lib.find("nvmlDeviceGetMemoryInfo_v2", api.memory_v2);
  lib.find("nvmlDeviceGetUtilizationRates", api.utilization);
  lib.find("nvmlDeviceGetClockInfo", api.clock);
  lib.find("nvmlDeviceGetTemperature", api.temperature);
  lib.find("nvmlDeviceGetFieldValues", api.fields);
  lib.find("nvmlDeviceGetMigMode", api.mig_mode);
  if (!lib.find("nvmlDeviceGetComputeRunningProcesses_v3", api.processes))
    lib.find("nvmlDeviceGetComputeRunningProcesses_v2", api.processes);
  lib.find("nvmlDeviceGetUUID", api.uuid);
  lib.find("nvmlDeviceGetPciInfo_v3", api.pci);
  return lib.find("nvmlInit_v2", api.init) && lib.find("nvmlShutdown", api.shutdown) &&
         lib.find("nvmlDeviceGetCount_v2", api.count) &&
         lib.find("nvmlDeviceGetHandleByIndex_v2", api.handle);
}

/// Returns the number that the function outputs, scaled; empty if the function fails.
template <class Number>
std::optional<double> number(NvmlBackendStatus (*f)(Device, Number*), Device device, double scale) {
  Number value = 0;
  if (f == nullptr || f(device, &value) != 0)
    return std::nullopt;
  return static_cast<double>(value) * scale;
}
std::optional<double> number(NvmlBackendStatus (*f)(Device, int, unsigned*), Device device,
                             int which) {
  unsigned value = 0;
  if (f == nullptr || f(device, which, &value) != 0)
    return std::nullopt;
  return static_cast<double>(value);
}

class NvmlBackend final : public GpuBackend {
public:
  NvmlBackend(SharedLibrary library, const NvmlBackendApi& api)
      : library_(std::move(library)), api_(api) {}
  ~NvmlBackend() override { api_.shutdown(); }
  [[nodiscard]] std::string name() const override { return "nvml"; }

  void find() {
    unsigned count = 0;
    if (api_.count(&count) != 0)
      return;
    bool averaged = false;
    for (unsigned i = 0; i < count; ++i) {
      Device device = nullptr;
      if (api_.handle(i, &device) != 0)
        continue; // the GPU fell off the bus; the others keep their numbers
      GpuIdentity gpu = identity(i, device);
      power_field_.push_back(best_power_field(device));
      averaged = averaged || power_field_.back() != kFieldPowerInstant;
      gpu.power_sensor = power(device, power_field_.back()).has_value();
      devices_.push_back(device);
      gpus_.push_back(std::move(gpu));
    }
    if (averaged)
      notes_.push_back("nvml: for some GPUs, this driver reports only an average power (over up to "
                       "1 s on Ampere and newer), not the instantaneous power");
  }

  [[nodiscard]] GpuReading read(std::size_t i) override {
    Device device = devices_[i];
    GpuReading r;
    r.power_w = power(device, power_field_[i]);
    r.energy_j = number(api_.energy, device, 1e-3); // mJ
    read_memory(device, r);
    Utilization use = {};
    if (api_.utilization != nullptr && api_.utilization(device, &use) == 0) {
      r.gpu_busy_pct = use.gpu;
      r.mem_busy_pct = use.memory;
    }
    r.sclk_mhz = number(api_.clock, device, kClockSm);
    r.mclk_mhz = number(api_.clock, device, kNvmlBackendClockMemory);
    r.temp_c = number(api_.temperature, device, kTemperatureGpu);
    return r;
  }

  [[nodiscard]] bool tells_processes() const override { return api_.processes != nullptr; }

  [[nodiscard]] std::vector<GpuProcess> processes(std::size_t i) override {
    std::vector<GpuProcess> out;
    if (api_.processes == nullptr)
      return out;
    auto count = static_cast<unsigned>(process_infos_.size());
    NvmlBackendStatus status = api_.processes(devices_[i], &count, process_infos_.data());
    if (status == kInsufficientSize && count > process_infos_.size() && count < kMostProcesses) {
      process_infos_.resize(count + 16); // more processes may begin meanwhile
      count = static_cast<unsigned>(process_infos_.size());
      status = api_.processes(devices_[i], &count, process_infos_.data());
    }
    if (status != 0)
      return out;
    for (std::size_t k = 0; k < std::min<std::size_t>(count, process_infos_.size()); ++k) {
      const ProcessInfo& p = process_infos_[k];
      out.push_back({p.pid, p.used == kUnknownBytes
                                ? std::nullopt
                                : std::optional(static_cast<std::int64_t>(p.used))});
    }
    std::ranges::sort(out, [](const GpuProcess& a, const GpuProcess& b) { return a.pid < b.pid; });
    return out;
  }

private:
  static constexpr unsigned kMostProcesses = 100'000;

  [[nodiscard]] GpuIdentity identity(unsigned index, Device device) {
    GpuIdentity gpu;
    gpu.index = gpu.package = static_cast<int>(index);
    std::array<char, 128> text = {};
    if (api_.uuid != nullptr && api_.uuid(device, text.data(), text.size()) == 0)
      gpu.uuid = text.data();
    text.fill(0);
    if (api_.name != nullptr && api_.name(device, text.data(), text.size()) == 0)
      gpu.name = text.data();
    PciInfo pci = {};
    if (api_.pci != nullptr && api_.pci(device, &pci) == 0)
      gpu.bdf = fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
    unsigned mig = 0, pending = 0;
    if (api_.mig_mode != nullptr && api_.mig_mode(device, &mig, &pending) == 0 && mig == 1) {
      gpu.partition = "MIG";
      notes_.push_back(fmt::format(
          "GPU {} is divided (MIG): power and memory are for the complete GPU", gpu.index));
    }
    return gpu;
  }

  [[nodiscard]] std::optional<double> field_power(Device device, unsigned field) const {
    FieldValue value = {};
    value.field = field;
    if (api_.fields == nullptr || api_.fields(device, 1, &value) != 0 || value.status != 0 ||
        value.value_type != kValueUnsigned)
      return std::nullopt;
    return value.value.u * 1e-3;
  }
  /// Returns the field of the momentary power if the driver has it, else of the average; 0 = the
  /// older call.
  [[nodiscard]] unsigned best_power_field(Device device) const {
    for (const unsigned field : {kFieldPowerInstant, kFieldPowerAverage})
      if (field_power(device, field).value_or(0) > 0)
        return field;
    return 0;
  }
  [[nodiscard]] std::optional<double> power(Device device, unsigned field) const {
    return field != 0 ? field_power(device, field) : number(api_.power, device, 1e-3);
  }

  void read_memory(Device device, GpuReading& r) const {
    MemoryV2 v2 = {};
    v2.version = kMemoryV2;
    Memory v1 = {};
    if (api_.memory_v2 != nullptr && api_.memory_v2(device, &v2) == 0) {
      r.vram_used_b = static_cast<std::int64_t>(v2.used);
      r.vram_total_b = static_cast<std::int64_t>(v2.total);
    } else if (api_.memory != nullptr && api_.memory(device, &v1) == 0) {
      r.vram_used_b = static_cast<std::int64_t>(v1.used);
      r.vram_total_b = static_cast<std::int64_t>(v1.total);
    }
  }

  SharedLibrary library_;
  NvmlBackendApi api_;
  std::vector<Device> devices_;
  std::vector<unsigned> power_field_;
  std::vector<ProcessInfo> process_infos_ = std::vector<ProcessInfo>(64);
};

} // namespace

Result<std::unique_ptr<GpuBackend>> open_nvml_backend(const std::string& library) {
  RS_TRY(SharedLibrary lib, SharedLibrary::open(library, {"libnvidia-ml.so.1", "libnvidia-ml.so"}));
  NvmlBackendApi api = {};
  const std::string name = lib.name();
  if (!find_api_nvml_backend(lib, api))
    return Error{ErrorCode::kMissingTool, name, "lacks functions of NVML", ""};
  if (const NvmlBackendStatus status = api.init(); status != 0)
    return Error{ErrorCode::kMissingTool, name,
                 fmt::format("nvmlInit: {}",
                             api.error_string != nullptr ? api.error_string(status) : "failed"),
                 "is the NVIDIA driver loaded?"};
  auto backend = std::make_unique<NvmlBackend>(std::move(lib), api);
  backend->find();
  if (backend->gpus().empty())
    return Error{ErrorCode::kMissingTool, name, "no NVIDIA GPU", ""};
  return std::unique_ptr<GpuBackend>(std::move(backend));
}

} // namespace rankscope
