// Values and signatures: CUDA Runtime API reference (docs.nvidia.com/cuda/cuda-runtime-api) and HIP
// runtime API reference (rocm.docs.amd.com/projects/HIP): cudaErrorMemoryAllocation and
// hipErrorOutOfMemory are 2, cudaMemcpyHostToDevice 1, cudaMemcpyDeviceToDevice 3, as in HIP;
// cudaDevAttrComputeCapabilityMajor 75, Minor 76.
#include "collect/gemm/gpu_runtime.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace rankscope {
namespace {

constexpr int kOutOfMemory = 2;
constexpr int kHostToDevice = 1, kOnDevice = 3;
constexpr int kMajor = 75, kMinor = 76;

} // namespace

Result<SharedLibrary> open_library(const std::string& folder,
                                   std::initializer_list<const char*> names) {
  if (folder.empty())
    return SharedLibrary::open("", names);
  Error last{ErrorCode::kMissingTool, folder, "no library", ""};
  for (const char* name : names) {
    auto library = SharedLibrary::open(fmt::format("{}/{}", folder, name), {name});
    if (library)
      return library;
    last = library.error();
  }
  return last;
}

Result<std::unique_ptr<GpuRuntime>> GpuRuntime::open(GpuVendor vendor, const std::string& folder) {
  auto library = vendor == GpuVendor::kNvidia
                     ? open_library(folder, {"libcudart.so.13", "libcudart.so.12",
                                             "libcudart.so.11.0", "libcudart.so"})
                     : open_library(folder, {"libamdhip64.so.7", "libamdhip64.so.6",
                                             "libamdhip64.so.5", "libamdhip64.so"});
  if (!library)
    return library.error();
  std::unique_ptr<GpuRuntime> out(new GpuRuntime(vendor, std::move(*library)));
  RS_CHECK(out->find_functions());
  RS_CHECK(out->find_device());
  return out;
}

Result<void> GpuRuntime::find_functions() {
  const std::string front = vendor_ == GpuVendor::kNvidia ? "cuda" : "hip";
  std::string missing;
  const auto find = [&](const char* name, auto*& function) {
    if (!library_.find((front + name).c_str(), function) && missing.empty())
      missing = front + name;
  };
  find("GetDeviceCount", api_.device_count);
  find("MemGetInfo", api_.memory_info);
  find("Malloc", api_.allocate);
  find("Free", api_.release);
  find("Memcpy", api_.copy);
  find("EventCreate", api_.create_event);
  find("EventDestroy", api_.destroy_event);
  find("EventRecord", api_.record);
  find("EventSynchronize", api_.wait_event);
  find("EventElapsedTime", api_.elapsed_ms);
  find("DeviceSynchronize", api_.wait_device);
  find("GetErrorString", api_.error_text);
  if (!missing.empty())
    return Error{ErrorCode::kMissingTool, library_.name(), fmt::format("has no {}", missing), ""};
  // since CUDA 12 and ROCm 6, there are several versions of the struct of properties
  for (const char* name : {"cudaGetDeviceProperties_v2", "cudaGetDeviceProperties",
                           "hipGetDevicePropertiesR0600", "hipGetDeviceProperties"})
    if (api_.properties == nullptr && std::string_view(name).starts_with(front))
      (void)library_.find(name, api_.properties);
  (void)library_.find((front + "DeviceGetAttribute").c_str(), api_.attribute);
  return {};
}

Result<void> GpuRuntime::find_device() {
  int count = 0;
  if (const int status = api_.device_count(&count); status != 0 || count < 1)
    return Error{ErrorCode::kMissingTool, library_.name(),
                 status != 0 ? api_.error_text(status) : "finds no device", ""};
  RS_CHECK(check(api_.create_event(&begin_), "creating an event"));
  RS_CHECK(check(api_.create_event(&end_), "creating an event"));
  // only the name is used, which is first in every version; after the name, AMD's struct contains
  // the architecture as text
  alignas(16) std::array<char, 16384> properties = {};
  if (api_.properties != nullptr && api_.properties(properties.data(), 0) == 0) {
    constexpr std::size_t kName = 256;
    device_ = std::string(properties.data(), ::strnlen(properties.data(), kName));
    const std::string_view rest(properties.data() + kName, properties.size() - kName);
    if (const std::size_t at = rest.find("gfx"); at != std::string_view::npos)
      architecture_ =
          std::string(rest.substr(at, rest.find_first_of(std::string_view(":\0", 2), at) - at));
  }
  int major = 0, minor = 0;
  if (vendor_ == GpuVendor::kNvidia && api_.attribute != nullptr &&
      api_.attribute(&major, kMajor, 0) == 0 && api_.attribute(&minor, kMinor, 0) == 0)
    architecture_ = fmt::format("sm_{}{}", major, minor);
  return {};
}

GpuRuntime::~GpuRuntime() {
  for (void* event : {begin_, end_})
    if (event != nullptr)
      (void)api_.destroy_event(event);
}

Result<void> GpuRuntime::check(int status, const char* what) const {
  if (status == 0)
    return {};
  const char* const text = api_.error_text(status);
  return Error{status == kOutOfMemory ? ErrorCode::kOutput : ErrorCode::kInternal, library_.name(),
               fmt::format("{}: {}", what, text == nullptr ? "unknown error" : text), ""};
}

std::uint64_t GpuRuntime::free_bytes() const {
  std::size_t free = 0, total = 0;
  return api_.memory_info(&free, &total) == 0 ? free : 0;
}

Result<void> GpuRuntime::synchronize() {
  return check(api_.wait_device(), "waiting for the device");
}

Result<double> GpuRuntime::end_timing() {
  float ms = 0;
  RS_CHECK(check(api_.record(end_, nullptr), "recording an event"));
  RS_CHECK(check(api_.wait_event(end_), "waiting for the calls"));
  RS_CHECK(check(api_.elapsed_ms(&ms, begin_, end_), "reading the events"));
  return static_cast<double>(ms) * 1e3;
}

Result<GpuBuffer> GpuBuffer::make(GpuRuntime& runtime, std::size_t bytes,
                                  const std::string& pattern) {
  GpuBuffer out;
  RS_CHECK(runtime.check(runtime.api_.allocate(&out.data_, bytes), "allocating memory"));
  out.runtime_ = &runtime;
  std::size_t filled = std::min(bytes, pattern.size());
  RS_CHECK(runtime.check(runtime.api_.copy(out.data_, pattern.data(), filled, kHostToDevice),
                         "filling memory"));
  while (filled > 0 && filled < bytes) {
    const std::size_t n = std::min(filled, bytes - filled);
    RS_CHECK(runtime.check(
        runtime.api_.copy(static_cast<char*>(out.data_) + filled, out.data_, n, kOnDevice),
        "filling memory"));
    filled += n;
  }
  return out;
}

GpuBuffer::GpuBuffer(GpuBuffer&& other) noexcept
    : runtime_(std::exchange(other.runtime_, nullptr)), data_(std::exchange(other.data_, nullptr)) {
}

GpuBuffer& GpuBuffer::operator=(GpuBuffer&& other) noexcept {
  std::swap(runtime_, other.runtime_);
  std::swap(data_, other.data_);
  return *this;
}

GpuBuffer::~GpuBuffer() {
  if (data_ != nullptr && runtime_ != nullptr)
    (void)runtime_->api_.release(data_);
}

} // namespace rankscope
