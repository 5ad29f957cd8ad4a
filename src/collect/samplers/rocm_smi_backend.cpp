// ROCm's older management library, librocm_smi64. The few functions that are used are declared
// here.
#include "collect/samplers/gpu_backend.h"
#include "collect/samplers/pci_address.h"
#include "os/shared_library.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

using RocmSmiBackendStatus = int; // 0 = success
constexpr int kVram = 0, kRocmSmiBackendTemperatureCurrent = 0;
constexpr std::uint32_t kTemperatureJunction = 1, kRocmSmiBackendTemperatureEdge = 0;

struct RocmSmiBackendApi {
  RocmSmiBackendStatus (*init)(std::uint64_t);
  RocmSmiBackendStatus (*shut_down)();
  RocmSmiBackendStatus (*count)(std::uint32_t*);
  RocmSmiBackendStatus (*pci_id)(std::uint32_t, std::uint64_t*);
  RocmSmiBackendStatus (*unique_id)(std::uint32_t, std::uint64_t*);
  RocmSmiBackendStatus (*power)(std::uint32_t, std::uint64_t*, int*);
  RocmSmiBackendStatus (*power_average)(std::uint32_t, std::uint32_t, std::uint64_t*);
  RocmSmiBackendStatus (*memory_used)(std::uint32_t, int, std::uint64_t*);
  RocmSmiBackendStatus (*memory_total)(std::uint32_t, int, std::uint64_t*);
  RocmSmiBackendStatus (*energy)(std::uint32_t, std::uint64_t*, float*, std::uint64_t*);
  RocmSmiBackendStatus (*busy)(std::uint32_t, std::uint32_t*);
  RocmSmiBackendStatus (*memory_busy)(std::uint32_t, std::uint32_t*);
  RocmSmiBackendStatus (*temperature)(std::uint32_t, std::uint32_t, int, std::int64_t*);
};

bool find_api_rocm_smi_backend(const SharedLibrary& lib, RocmSmiBackendApi& api) {
  lib.find("rsmi_dev_pci_id_get", api.pci_id);
  lib.find("rsmi_dev_unique_id_get", api.unique_id);
  lib.find("rsmi_dev_power_get", api.power);
  lib.find("rsmi_dev_power_ave_get", api.power_average);
  lib.find("rsmi_dev_memory_usage_get", api.memory_used);
  lib.find("rsmi_dev_memory_total_get", api.memory_total);
  lib.find("rsmi_dev_energy_count_get", api.energy);
  lib.find("rsmi_dev_busy_percent_get", api.busy);
  lib.find("rsmi_dev_memory_busy_percent_get", api.memory_busy);
  lib.find("rsmi_dev_temp_metric_get", api.temperature);
  return lib.find("rsmi_init", api.init) && lib.find("rsmi_shut_down", api.shut_down) &&
         lib.find("rsmi_num_monitor_devices", api.count);
}

class RocmSmiBackend final : public GpuBackend {
public:
  RocmSmiBackend(SharedLibrary library, const RocmSmiBackendApi& api)
      : library_(std::move(library)), api_(api) {}
  ~RocmSmiBackend() override { api_.shut_down(); }
  [[nodiscard]] std::string name() const override { return "rocm-smi"; }

  void find() {
    std::uint32_t count = 0;
    if (api_.count(&count) != 0)
      return;
    for (std::uint32_t i = 0; i < count; ++i) {
      GpuIdentity gpu;
      gpu.index = static_cast<int>(i);
      std::uint64_t id = 0;
      if (api_.pci_id != nullptr && api_.pci_id(i, &id) == 0)
        gpu.bdf = pci_address(id);
      if (api_.unique_id != nullptr && api_.unique_id(i, &id) == 0)
        gpu.uuid = fmt::format("{:016x}", id);
      gpu.power_sensor = power(i).has_value();
      // a die whose counter is 0 is measured by the other die of its package
      if (std::uint64_t joules = 0; counter(i, joules) && joules == 0) {
        gpu.power_sensor = false;
        gpu.two_dies = true;
        if (!gpus_.empty())
          gpus_.back().two_dies = true;
      }
      gpus_.push_back(std::move(gpu));
    }
    pair_dies(gpus_);
  }

  [[nodiscard]] GpuReading read(std::size_t at) override {
    const auto i = static_cast<std::uint32_t>(at);
    GpuReading r;
    if (gpus_[at].power_sensor)
      r.power_w = power(i);
    r.energy_j = energy(at);
    std::uint64_t bytes = 0;
    if (api_.memory_used != nullptr && api_.memory_used(i, kVram, &bytes) == 0)
      r.vram_used_b = static_cast<std::int64_t>(bytes);
    if (api_.memory_total != nullptr && api_.memory_total(i, kVram, &bytes) == 0)
      r.vram_total_b = static_cast<std::int64_t>(bytes);
    std::uint32_t percent = 0;
    if (api_.busy != nullptr && api_.busy(i, &percent) == 0)
      r.gpu_busy_pct = percent;
    if (api_.memory_busy != nullptr && api_.memory_busy(i, &percent) == 0)
      r.mem_busy_pct = percent;
    std::int64_t millidegrees = 0;
    if (api_.temperature != nullptr &&
        (api_.temperature(i, kTemperatureJunction, kRocmSmiBackendTemperatureCurrent,
                          &millidegrees) == 0 ||
         api_.temperature(i, kRocmSmiBackendTemperatureEdge, kRocmSmiBackendTemperatureCurrent,
                          &millidegrees) == 0))
      r.temp_c = static_cast<double>(millidegrees) * 1e-3;
    return r;
  }

  [[nodiscard]] std::optional<double> energy(std::size_t at) override {
    std::uint64_t count = 0;
    float resolution_uj = 0;
    std::uint64_t stamp = 0;
    if (!gpus_[at].power_sensor || api_.energy == nullptr ||
        api_.energy(static_cast<std::uint32_t>(at), &count, &resolution_uj, &stamp) != 0)
      return std::nullopt;
    return static_cast<double>(count) * static_cast<double>(resolution_uj) * 1e-6;
  }

private:
  /// Returns watts; the library reports uW. rsmi_dev_power_get (ROCm 6) gives the current power if
  /// there is one, else the average.
  [[nodiscard]] std::optional<double> power(std::uint32_t i) const {
    std::uint64_t microwatts = 0;
    int type = 0;
    if ((api_.power != nullptr && api_.power(i, &microwatts, &type) == 0) ||
        (api_.power_average != nullptr && api_.power_average(i, 0, &microwatts) == 0))
      return static_cast<double>(microwatts) * 1e-6;
    return std::nullopt;
  }
  bool counter(std::uint32_t i, std::uint64_t& count) const {
    float resolution = 0;
    std::uint64_t stamp = 0;
    return api_.energy != nullptr && api_.energy(i, &count, &resolution, &stamp) == 0;
  }

  SharedLibrary library_;
  RocmSmiBackendApi api_;
};

} // namespace

Result<std::unique_ptr<GpuBackend>> open_rocm_smi_backend(const std::string& library) {
  RS_TRY(SharedLibrary lib,
         SharedLibrary::open(library, {"librocm_smi64.so.7", "librocm_smi64.so.6",
                                       "librocm_smi64.so", "/opt/rocm/lib/librocm_smi64.so"}));
  RocmSmiBackendApi api = {};
  const std::string name = lib.name();
  if (!find_api_rocm_smi_backend(lib, api))
    return Error{ErrorCode::kMissingTool, name, "lacks functions of rocm_smi", ""};
  if (const RocmSmiBackendStatus status = api.init(0); status != 0)
    return Error{ErrorCode::kMissingTool, name, fmt::format("rsmi_init: status {}", status),
                 "is amdgpu loaded?"};
  auto backend = std::make_unique<RocmSmiBackend>(std::move(lib), api);
  backend->find();
  if (backend->gpus().empty())
    return Error{ErrorCode::kMissingTool, name, "no AMD GPU", ""};
  return std::unique_ptr<GpuBackend>(std::move(backend));
}

} // namespace rankscope
