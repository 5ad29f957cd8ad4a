// Shared by the fake libraries of both vendors: memory that is not backed, a clock that matrix
// products advance, and the last call as text. A product takes 1 us per million floating-point
// operations (1 TFLOPS), times 1.1, 0.9 and 1 alternately between pairs of GPU events; the first
// call takes 1 ms more. Inconsistent arguments are rejected like in a real library.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unistd.h>

#define FAKE extern "C" __attribute__((visibility("default")))

// static, not inline: the loader would merge inline variables with the same name in two libraries
namespace fake {

static constexpr std::size_t kFree = std::size_t{1} << 30;
#ifdef SMALL
static constexpr std::size_t kReal = std::size_t{40} << 20; // less than it reports
#else
static constexpr std::size_t kReal = kFree;
#endif

struct Gpu {
  double now_us = 0;
  int records = 0, calls = 0;
  std::map<std::uintptr_t, std::size_t> memory;
  std::uintptr_t next = 0x10000;
  std::size_t used = 0;
  std::string last;
};
static Gpu gpu;

static int allocate(void** data, std::size_t bytes) {
  if (gpu.used + bytes > kReal)
    return 2;
  *data = reinterpret_cast<void*>(gpu.next);
  gpu.memory[gpu.next] = bytes;
  gpu.next += (bytes + 0xFFFF) & ~std::uintptr_t{0xFFFF};
  gpu.used += bytes;
  return 0;
}
static int release(void* data) {
  const auto it = gpu.memory.find(reinterpret_cast<std::uintptr_t>(data));
  if (it == gpu.memory.end())
    return 1;
  gpu.used -= it->second;
  gpu.memory.erase(it);
  return 0;
}
/// Whether `bytes` bytes from `data` on are in one allocation.
static bool holds(const void* data, double bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(data);
  auto it = gpu.memory.upper_bound(at);
  if (it == gpu.memory.begin())
    return false;
  --it;
  return static_cast<double>(at - it->first) + bytes <= static_cast<double>(it->second);
}

struct Matrix {
  const void* data;
  int type; ///< type code of the library
  int bytes;
  long long rows, cols, ld, stride;
  [[nodiscard]] bool fits(long long batch) const {
    return bytes > 0 && ld >= rows && rows > 0 && cols > 0 &&
           holds(data, bytes * (static_cast<double>(ld) * static_cast<double>(cols) +
                                static_cast<double>(stride) * static_cast<double>(batch - 1)));
  }
};

struct Product {
  const char* function;
  bool ta, tb;
  long long m, n, k, batch;
  Matrix a, b, c, d;
  int compute;
  double alpha, beta;
};

/// Simulates the product; returns false if the arguments are wrong.
static bool multiply(const Product& p, double time_factor = 1) {
  char text[512];
  const auto part = [](const Matrix& x) {
    return std::to_string(x.type) + "/" + std::to_string(x.ld) + "/" + std::to_string(x.stride);
  };
  std::snprintf(text, sizeof text,
                "%s %c%c m=%lld n=%lld k=%lld batch=%lld a=%s b=%s c=%s d=%s "
                "compute=%d alpha=%g beta=%g",
                p.function, p.ta ? 'T' : 'N', p.tb ? 'T' : 'N', p.m, p.n, p.k, p.batch,
                part(p.a).c_str(), part(p.b).c_str(), part(p.c).c_str(), part(p.d).c_str(),
                p.compute, p.alpha, p.beta);
  gpu.last = text;
#ifdef CRASH
  std::fputs("an assertion of the library failed\n", stderr);
  std::abort();
#endif
#ifdef HANG
  ::sleep(60);
#endif
  for (const Matrix* x : {&p.a, &p.b, &p.c, &p.d})
    if (!x->fits(p.batch))
      return false;
  if (p.a.rows != (p.ta ? p.k : p.m) || p.a.cols != (p.ta ? p.m : p.k) ||
      p.b.rows != (p.tb ? p.n : p.k) || p.b.cols != (p.tb ? p.k : p.n) || p.d.rows != p.m ||
      p.d.cols != p.n || p.alpha != 1)
    return false;
  constexpr double kFactors[] = {1, 1.1, 0.9};
  const double us = 2e-6 * static_cast<double>(p.m) * static_cast<double>(p.n) *
                    static_cast<double>(p.k) * static_cast<double>(p.batch);
  gpu.now_us += us * time_factor * kFactors[(gpu.records + 1) / 2 % 3];
  if (gpu.calls++ == 0)
    gpu.now_us += 1000;
  return true;
}

/// Returns alpha or beta, read as float, double ('d'), half ('h') or int ('i').
static double scalar(const void* data, char type) {
  float f = 0;
  double d = 0;
  std::int32_t i = 0;
  std::uint16_t h = 0;
  switch (type) {
  case 'd':
    std::memcpy(&d, data, sizeof d);
    return d;
  case 'i':
    std::memcpy(&i, data, sizeof i);
    return i;
  case 'h':
    std::memcpy(&h, data, sizeof h);
    return h == 0 ? 0 : h == 0x3800 ? 0.5 : h == 0x3C00 ? 1 : -1;
  default:
    std::memcpy(&f, data, sizeof f);
    return static_cast<double>(f);
  }
}

/// Returns the bytes per element for type codes that are the same in cuBLAS, cuBLASLt and
/// hipBLASLt.
static int data_bytes(int type) {
  switch (type) {
  case 0:
  case 10:
    return 4;
  case 1:
    return 8;
  case 2:
  case 14:
    return 2;
  case 3:
  case 28:
  case 29:
  case 1000:
  case 1001:
    return 1;
  default:
    return 0;
  }
}

struct Desc {
  int compute = -1, scale = -1, ta = -1, tb = -1;
};
struct Layout {
  int type;
  std::uint64_t rows, cols;
  std::int64_t ld;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
  [[nodiscard]] Matrix matrix(const void* data) const {
    return {
        data, type,  data_bytes(type), static_cast<long long>(rows), static_cast<long long>(cols),
        ld,   stride};
  }
};
static int objects = 0; ///< descriptors that are created and not destroyed

} // namespace fake

FAKE const char* fake_gpu_last() {
  return fake::gpu.last.c_str();
}
FAKE int fake_gpu_live() {
  return static_cast<int>(fake::gpu.memory.size()) + fake::objects;
}
/// Resets the library: a loader may retain a library after it was closed.
FAKE void fake_gpu_reset() {
  fake::gpu = {};
  fake::objects = 0;
}

// The runtime library. GPU(Malloc) is cudaMalloc or hipMalloc.
FAKE int GPU(GetDeviceCount)(int* count) {
#ifdef NO_DEVICE
  *count = 0;
  return 100;
#else
  *count = 1;
  return 0;
#endif
}
FAKE const char* GPU(GetErrorString)(int status) {
  return status == 2 ? "out of memory" : status == 100 ? "no device is detected" : "invalid value";
}
FAKE int GPU(MemGetInfo)(std::size_t* free, std::size_t* total) {
  *free = *total = fake::kFree;
  return 0;
}
FAKE int GPU(Malloc)(void** data, std::size_t bytes) {
  return fake::allocate(data, bytes);
}
FAKE int GPU(Free)(void* data) {
  return fake::release(data);
}
FAKE int GPU(Memcpy)(void* to, const void* from, std::size_t bytes, int kind) {
  const auto size = static_cast<double>(bytes);
  return fake::holds(to, size) && (kind == 1 || (kind == 3 && fake::holds(from, size))) ? 0 : 1;
}
FAKE int GPU(EventCreate)(void** event) {
  *event = new double(0);
  return 0;
}
FAKE int GPU(EventDestroy)(void* event) {
  delete static_cast<double*>(event);
  return 0;
}
FAKE int GPU(EventRecord)(void* event, void*) {
  ++fake::gpu.records;
  *static_cast<double*>(event) = fake::gpu.now_us;
  return 0;
}
FAKE int GPU(EventSynchronize)(void*) {
  return 0;
}
FAKE int GPU(EventElapsedTime)(float* ms, void* begin, void* end) {
  *ms = static_cast<float>((*static_cast<double*>(end) - *static_cast<double*>(begin)) / 1e3);
  return 0;
}
FAKE int GPU(DeviceSynchronize)() {
  return 0;
}

// The Lt library. LIGHT(Matmul) is cublasLtMatmul or hipblasLtMatmul; Values has its constants.
FAKE int LIGHT(Create)(void** handle) {
  *handle = &fake::gpu;
  return 0;
}
FAKE int LIGHT(Destroy)(void*) {
  return 0;
}
FAKE int LIGHT(MatmulDescCreate)(void** desc, int compute, int scale) {
  *desc = new fake::Desc{compute, scale, -1, -1};
  ++fake::objects;
  return 0;
}
FAKE int LIGHT(MatmulDescDestroy)(void* desc) {
  delete static_cast<fake::Desc*>(desc);
  --fake::objects;
  return 0;
}
FAKE int LIGHT(MatmulDescSetAttribute)(void* desc, int attribute, const void* value,
                                       std::size_t size) {
  if (size != 4 || (attribute != Values::kTransA && attribute != Values::kTransB))
    return Values::kInvalid;
  auto* d = static_cast<fake::Desc*>(desc);
  std::memcpy(attribute == Values::kTransA ? &d->ta : &d->tb, value, size);
  return 0;
}
FAKE int LIGHT(MatrixLayoutCreate)(void** layout, int type, std::uint64_t rows, std::uint64_t cols,
                                   std::int64_t ld) {
  *layout = new fake::Layout{type, rows, cols, ld};
  ++fake::objects;
  return 0;
}
FAKE int LIGHT(MatrixLayoutDestroy)(void* layout) {
  delete static_cast<fake::Layout*>(layout);
  --fake::objects;
  return 0;
}
FAKE int LIGHT(MatrixLayoutSetAttribute)(void* layout, int attribute, const void* value,
                                         std::size_t size) {
  auto* l = static_cast<fake::Layout*>(layout);
  if (attribute == Values::kBatchCount && size == 4)
    std::memcpy(&l->batch, value, size);
  else if (attribute == Values::kBatchStride && size == 8)
    std::memcpy(&l->stride, value, size);
  else
    return Values::kInvalid;
  return 0;
}
FAKE int LIGHT(MatmulPreferenceCreate)(void** preference) {
  *preference = new std::uint64_t(0);
  ++fake::objects;
  return 0;
}
FAKE int LIGHT(MatmulPreferenceDestroy)(void* preference) {
  delete static_cast<std::uint64_t*>(preference);
  --fake::objects;
  return 0;
}
FAKE int LIGHT(MatmulPreferenceSetAttribute)(void* preference, int attribute, const void* value,
                                             std::size_t size) {
  if (attribute != 1 || size != 8)
    return Values::kInvalid;
  std::memcpy(preference, value, size);
  return 0;
}
FAKE int LIGHT(MatmulAlgoGetHeuristic)(void*, void* desc, void* a, void*, void*, void*,
                                       void* preference, int requested, void* results,
                                       int* returned) {
  if (requested < 1 || *static_cast<std::uint64_t*>(preference) < 4096)
    return Values::kInvalid;
  // as on a real device, 8-bit floats require a transposed A
  const auto* l = static_cast<fake::Layout*>(a);
  const auto* d = static_cast<fake::Desc*>(desc);
  *returned = 0;
  if (fake::data_bytes(l->type) == 1 && l->type != 3 && d->ta != Values::kTranspose)
    return Values::kNotSupported;
  auto* bytes = static_cast<char*>(results);
  // three algorithms: the first is the default, the second takes half its time, the third twice its
  // time
  for (*returned = 0; *returned < requested && *returned < 3; ++*returned) {
    const std::uint64_t algorithm = 0x1234 + static_cast<std::uint64_t>(*returned);
    const std::uint64_t workspace = 4096;
    std::memcpy(bytes, &algorithm, sizeof algorithm);
    std::memcpy(bytes + Values::kWorkspaceAt, &workspace, sizeof workspace);
    bytes += Values::kResultBytes;
  }
  return 0;
}
#ifndef NO_MATMUL
FAKE int LIGHT(Matmul)(void* handle, void* desc, const void* alpha, const void* a, void* la,
                       const void* b, void* lb, const void* beta, const void* c, void* lc, void* d,
                       void* ld, const void* algorithm, void* workspace, std::size_t size,
                       void* stream) {
  const auto* x = static_cast<fake::Desc*>(desc);
  const auto layout = [](void* l) { return *static_cast<fake::Layout*>(l); };
  std::uint64_t number = 0;
  std::memcpy(&number, algorithm, sizeof number);
  if (handle != &fake::gpu || number < 0x1234 || number > 0x1236 || size != 4096 ||
      !fake::holds(workspace, 4096) || stream != nullptr || x->ta < 0 || x->tb < 0)
    return Values::kInvalid;
  const char scale = x->scale == 1 ? 'd' : x->scale == 2 ? 'h' : x->scale == 10 ? 'i' : 's';
  const bool ta = x->ta == Values::kTranspose, tb = x->tb == Values::kTranspose;
  const fake::Matrix ma = layout(la).matrix(a);
  const fake::Matrix md = layout(ld).matrix(d);
  const fake::Product p = {Values::kMatmul,
                           ta,
                           tb,
                           md.rows,
                           md.cols,
                           ta ? ma.rows : ma.cols,
                           layout(ld).batch,
                           ma,
                           layout(lb).matrix(b),
                           layout(lc).matrix(c),
                           md,
                           x->compute,
                           fake::scalar(alpha, scale),
                           fake::scalar(beta, scale)};
  constexpr double kFactors[] = {1, 0.5, 2};
  return fake::multiply(p, kFactors[number - 0x1234]) ? 0 : Values::kInvalid;
}
#endif
