// ROCm's management library libamd_smi. The few functions that are used are declared here;
// amdsmi_power.h decodes the power struct.
#include "collect/samplers/amdsmi_power.h"
#include "collect/samplers/gpu_backend.h"
#include "collect/samplers/pci_address.h"
#include "os/shared_library.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

using Handle = void*;
using Status = int; // 0 = success
constexpr std::uint64_t kInitGpus = 2;
constexpr std::int64_t kMegabyte = 1 << 20; ///< a megabyte as the library counts it
constexpr int kTemperatureEdge = 0, kTemperatureHotspot = 1, kTemperatureCurrent = 0;
constexpr int kClockGfx = 0, kClockMemory = 4;

/// Large enough for the struct of every release, which always begins with the used fields.
struct Answer {
  alignas(8) std::uint32_t words[64];
};

struct AmdsmiBackendApi {
  Status (*init)(std::uint64_t);
  Status (*shut_down)();
  Status (*version)(Answer*);
  Status (*sockets)(std::uint32_t*, Handle*);
  Status (*processors)(Handle, std::uint32_t*, Handle*);
  Status (*bdf)(Handle, std::uint64_t*);
  Status (*uuid)(Handle, unsigned*, char*);
  Status (*power)(Handle, AmdSmiPowerBuffer*);
  Status (*vram)(Handle, Answer*);
  Status (*energy)(Handle, std::uint64_t*, float*, std::uint64_t*);
  Status (*activity)(Handle, Answer*);
  Status (*clock)(Handle, int, Answer*);
  Status (*temperature)(Handle, int, int, std::int64_t*);
};

bool find_api(const SharedLibrary& lib, AmdsmiBackendApi& api) {
  lib.find("amdsmi_get_lib_version", api.version);
  if (!lib.find("amdsmi_get_gpu_bdf_id", api.bdf))
    lib.find("amdsmi_get_gpu_pci_id", api.bdf);
  lib.find("amdsmi_get_gpu_device_uuid", api.uuid);
  lib.find("amdsmi_get_power_info", api.power);
  lib.find("amdsmi_get_gpu_vram_usage", api.vram);
  lib.find("amdsmi_get_energy_count", api.energy);
  lib.find("amdsmi_get_gpu_activity", api.activity);
  lib.find("amdsmi_get_clock_info", api.clock);
  lib.find("amdsmi_get_temp_metric", api.temperature);
  return lib.find("amdsmi_init", api.init) && lib.find("amdsmi_shut_down", api.shut_down) &&
         lib.find("amdsmi_get_socket_handles", api.sockets) &&
         lib.find("amdsmi_get_processor_handles", api.processors);
}

/// Returns a percentage or clock; empty for UINT32_MAX and 0xffff, which mean "not supported".
std::optional<double> supported(std::uint32_t value) {
  if (value == 0xffffffffU || value == 0xffffU)
    return std::nullopt;
  return value;
}

class AmdSmiBackend final : public GpuBackend {
public:
  AmdSmiBackend(SharedLibrary library, const AmdsmiBackendApi& api)
      : library_(std::move(library)), api_(api) {
    Answer answer = {};
    if (api_.version != nullptr && api_.version(&answer) == 0)
      version_ = {answer.words[0], answer.words[1]};
  }
  ~AmdSmiBackend() override { api_.shut_down(); }
  [[nodiscard]] std::string name() const override {
    return fmt::format("amdsmi {}.{}", version_.major, version_.minor);
  }

  void find() {
    for (Handle socket : list([&](std::uint32_t*n, Handle*out) { return api_.sockets(n, out); }))
      for (Handle gpu :
           list([&](std::uint32_t*n, Handle*out) { return api_.processors(socket, n, out); }))
        add(gpu);
    pair_dies(gpus_);
  }

  [[nodiscard]] GpuReading read(std::size_t i) override {
    Handle gpu = handles_[i];
    GpuReading r;
    if (gpus_[i].power_sensor)
      r.power_w = power(gpu);
    r.energy_j = energy(i);
    Answer answer = {};
    if (api_.vram != nullptr && api_.vram(gpu, &answer) == 0) {
      r.vram_total_b = answer.words[0] * kMegabyte;
      r.vram_used_b = answer.words[1] * kMegabyte;
    }
    answer = {};
    if (api_.activity != nullptr && api_.activity(gpu, &answer) == 0) {
      r.gpu_busy_pct = supported(answer.words[0]);
      r.mem_busy_pct = supported(answer.words[1]);
    }
    r.sclk_mhz = clock(gpu, kClockGfx);
    r.mclk_mhz = clock(gpu, kClockMemory);
    std::int64_t degrees = 0;
    if (api_.temperature != nullptr &&
        (api_.temperature(gpu, kTemperatureHotspot, kTemperatureCurrent, &degrees) == 0 ||
         api_.temperature(gpu, kTemperatureEdge, kTemperatureCurrent, &degrees) == 0))
      // some older releases report thousandths of a degree; no GPU works at 1000 degrees
      r.temp_c = static_cast<double>(degrees) * (degrees > 1000 ? 1e-3 : 1.0);
    return r;
  }

  [[nodiscard]] std::optional<double> energy(std::size_t i) override {
    std::uint64_t count = 0, stamp = 0;
    float resolution_uj = 0;
    if (!gpus_[i].power_sensor || api_.energy == nullptr ||
        api_.energy(handles_[i], &count, &resolution_uj, &stamp) != 0)
      return std::nullopt;
    return static_cast<double>(count) * static_cast<double>(resolution_uj) * 1e-6;
  }

private:
  /// Returns the handles. The library returns their number in a first call, the handles in a second
  /// call.
  template <class Get> static std::vector<Handle> list(const Get& get) {
    std::uint32_t count = 0;
    if (get(&count, nullptr) != 0)
      return {};
    std::vector<Handle> out(count);
    if (count > 0 && get(&count, out.data()) != 0)
      return {};
    out.resize(count);
    return out;
  }

  void add(Handle handle) {
    GpuIdentity gpu;
    gpu.index = static_cast<int>(gpus_.size());
    std::uint64_t id = 0;
    if (api_.bdf != nullptr && api_.bdf(handle, &id) == 0)
      gpu.bdf = pci_address(id);
    std::array<char, 64> text = {};
    unsigned length = text.size();
    if (api_.uuid != nullptr && api_.uuid(handle, &length, text.data()) == 0) {
      text.back() = 0;
      gpu.uuid = text.data();
    }
    gpu.power_sensor = power(handle).has_value();
    if (std::uint64_t count = 0, stamp = 0; api_.energy != nullptr) {
      float resolution = 0;
      // a die without a power value and with a counter at 0 is measured by the previous die
      if (api_.energy(handle, &count, &resolution, &stamp) == 0 && count == 0 &&
          !gpu.power_sensor) {
        gpu.two_dies = true;
        if (!gpus_.empty())
          gpus_.back().two_dies = true;
      }
    }
    handles_.push_back(handle);
    gpus_.push_back(std::move(gpu));
  }

  [[nodiscard]] std::optional<double> power(Handle gpu) const {
    AmdSmiPowerBuffer buffer;
    buffer.fill(kAmdSmiFill);
    if (api_.power == nullptr || api_.power(gpu, &buffer) != 0)
      return std::nullopt;
    return amdsmi_power_w(amdsmi_power_layout(version_, buffer), buffer);
  }
  [[nodiscard]] std::optional<double> clock(Handle gpu, int type) const {
    Answer answer = {};
    if (api_.clock == nullptr || api_.clock(gpu, type, &answer) != 0)
      return std::nullopt;
    return supported(answer.words[0]);
  }

  SharedLibrary library_;
  AmdsmiBackendApi api_;
  AmdSmiVersion version_;
  std::vector<Handle> handles_;
};

} // namespace

Result<std::unique_ptr<GpuBackend>> open_amdsmi_backend(const std::string& library) {
  RS_TRY(SharedLibrary lib,
         SharedLibrary::open(library, {"libamd_smi.so.26", "libamd_smi.so.25", "libamd_smi.so.24",
                                       "libamd_smi.so", "/opt/rocm/lib/libamd_smi.so"}));
  AmdsmiBackendApi api = {};
  const std::string name = lib.name();
  if (!find_api(lib, api))
    return Error{ErrorCode::kMissingTool, name, "lacks functions of amd_smi", ""};
  if (const Status status = api.init(kInitGpus); status != 0)
    return Error{ErrorCode::kMissingTool, name, fmt::format("amdsmi_init: status {}", status),
                 "is amdgpu loaded?"};
  auto backend = std::make_unique<AmdSmiBackend>(std::move(lib), api);
  backend->find();
  if (backend->gpus().empty())
    return Error{ErrorCode::kMissingTool, name, "no AMD GPU", ""};
  return std::unique_ptr<GpuBackend>(std::move(backend));
}

} // namespace rankscope
