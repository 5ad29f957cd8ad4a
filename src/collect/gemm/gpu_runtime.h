// Functions of a GPU's runtime library (libcudart, libamdhip64) for a measurement: memory, events,
// the device's name. The library is opened at run time. CUDA and HIP have these functions with the
// same arguments under different names, so this file declares them itself.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "os/shared_library.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

namespace rankscope {

/// Opens the first of `names` that exists in `folder`, or in the loader's search path if `folder`
/// is "". Errors: kMissingTool.
Result<SharedLibrary> open_library(const std::string& folder,
                                   std::initializer_list<const char*> names);

enum class GpuVendor : std::uint8_t { kNvidia, kAmd };

class GpuRuntime : NonCopyable {
public:
  /// Opens the library in `folder`; "" = the loader's search path. Errors: kMissingTool: no
  /// library, a function that the library lacks, no device.
  static Result<std::unique_ptr<GpuRuntime>> open(GpuVendor vendor, const std::string& folder);
  ~GpuRuntime();

  [[nodiscard]] GpuVendor vendor() const { return vendor_; }
  [[nodiscard]] const std::string& device() const { return device_; } ///< "NVIDIA H200"
  /// Returns gfx942, sm_90; "" if the library does not report it.
  [[nodiscard]] const std::string& architecture() const { return architecture_; }
  [[nodiscard]] std::uint64_t free_bytes() const;

  /// Returns the device time between two events around `work`, in us. `work` starts work on the
  /// default stream. Errors: those of `work`; kInternal with the runtime's error text.
  template <class Work> Result<double> time_us(Work&& work) {
    RS_CHECK(check(api_.record(begin_, nullptr), "recording an event"));
    RS_CHECK(work());
    return end_timing();
  }
  Result<void> synchronize();

private:
  friend class GpuBuffer;
  struct Api {
    int (*device_count)(int*);
    int (*memory_info)(std::size_t*, std::size_t*);
    int (*allocate)(void**, std::size_t);
    int (*release)(void*);
    int (*copy)(void*, const void*, std::size_t, int); ///< kind 1: from the host, 3: on the device
    int (*create_event)(void**);
    int (*destroy_event)(void*);
    int (*record)(void*, void*);
    int (*wait_event)(void*);
    int (*elapsed_ms)(float*, void*, void*);
    int (*wait_device)();
    int (*properties)(void*, int);
    int (*attribute)(int*, int, int);
    const char* (*error_text)(int);
  };
  GpuRuntime(GpuVendor vendor, SharedLibrary library)
      : vendor_(vendor), library_(std::move(library)) {}
  Result<void> find_functions();
  Result<void> find_device();
  [[nodiscard]] Result<void> check(int status, const char* what) const;
  Result<double> end_timing();

  GpuVendor vendor_;
  SharedLibrary library_;
  Api api_ = {};
  void *begin_ = nullptr, *end_ = nullptr;
  std::string device_, architecture_;
};

/// Device memory that is freed with the object.
class GpuBuffer {
public:
  /// Allocates memory filled with repeats of `pattern`. Errors: kOutput: out of memory; kInternal.
  static Result<GpuBuffer> make(GpuRuntime& runtime, std::size_t bytes, const std::string& pattern);
  GpuBuffer() = default;
  GpuBuffer(GpuBuffer&& other) noexcept;
  GpuBuffer& operator=(GpuBuffer&& other) noexcept;
  ~GpuBuffer();
  [[nodiscard]] void* data() const { return data_; }

private:
  GpuRuntime* runtime_ = nullptr;
  void* data_ = nullptr;
};

} // namespace rankscope
