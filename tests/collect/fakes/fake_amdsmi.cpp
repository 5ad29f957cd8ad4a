// Simulates libamd_smi of several releases: MAJOR is its version, SOCKET64 selects the newer power
// struct. GPU 0 has current power, GPU 1 only average power.
#include <cstdint>
#include <cstdio>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {
constexpr std::uint32_t kNone = 0xffffffffU;
int socket_handle, gpus[2];
#if MAJOR >= 25
struct Version {
  std::uint32_t major, minor, release;
  const char* build;
};
#else
struct Version {
  std::uint32_t year, major, minor, release;
  const char* build;
};
#endif
#ifdef SOCKET64
struct Power {
  std::uint64_t socket;
  std::uint32_t current, average;
  std::uint64_t gfx_mv, soc_mv, mem_mv;
  std::uint32_t limit;
  std::uint64_t reserved[18];
};
#elif MAJOR <= 23
struct Power {
  std::uint32_t average, gfx_mv, soc_mv, mem_mv, limit, reserved[11];
};
#else
struct Power {
  std::uint32_t current, average, gfx_mv, soc_mv, mem_mv, limit, reserved[11];
};
#endif
} // namespace

FAKE int amdsmi_init(std::uint64_t flags) {
  return flags == 2 ? 0 : 1;
}
FAKE int amdsmi_shut_down() {
  return 0;
}
FAKE int amdsmi_get_lib_version(Version* v) {
#if MAJOR >= 25
  v->major = MAJOR;
  v->minor = 1;
#else
  v->year = MAJOR;
  v->major = 6;
  v->minor = 2;
#endif
  v->release = 0;
  v->build = "fake";
  return 0;
}
FAKE int amdsmi_get_socket_handles(std::uint32_t* count, void** handles) {
  if (handles != nullptr)
    handles[0] = &socket_handle;
  *count = 1;
  return 0;
}
FAKE int amdsmi_get_processor_handles(void* socket, std::uint32_t* count, void** handles) {
  if (socket != &socket_handle)
    return 1;
  if (handles != nullptr) {
    handles[0] = &gpus[0];
    handles[1] = &gpus[1];
  }
  *count = 2;
  return 0;
}
FAKE int amdsmi_get_gpu_bdf_id(void* gpu, std::uint64_t* id) {
  *id = gpu == &gpus[0] ? 0x0500U : 0x2600U;
  return 0;
}
FAKE int amdsmi_get_gpu_device_uuid(void* gpu, unsigned* length, char* text) {
  std::snprintf(text, *length, "%s", gpu == &gpus[0] ? "aaff-74a1" : "bbff-74a1");
  return 0;
}
FAKE int amdsmi_get_power_info(void* gpu, Power* p) {
  const bool first = gpu == &gpus[0];
  p->average = first ? kNone : 208;
  p->gfx_mv = 900;
  p->soc_mv = p->mem_mv = kNone;
  p->limit = 750;
#if MAJOR <= 23
  p->average = first ? 699 : 208;
#else
  p->current = first ? 699 : kNone; // W, not mW
#endif
#ifdef SOCKET64
  p->socket = first ? 699 : kNone;
#endif
  return 0;
}
FAKE int amdsmi_get_gpu_vram_usage(void*, std::uint32_t* mb) {
  mb[0] = 196'592; // total
  mb[1] = 285;     // used
  return 0;
}
FAKE int amdsmi_get_energy_count(void*, std::uint64_t* count, float* resolution,
                                 std::uint64_t* stamp) {
  *count = 2'000'000;
  *resolution = 15.25F;
  *stamp = 1;
  return 0;
}
FAKE int amdsmi_get_gpu_activity(void*, std::uint32_t* percent) {
  percent[0] = 77;
  percent[1] = kNone;
  return 0;
}
FAKE int amdsmi_get_clock_info(void*, int type, std::uint32_t* mhz) {
  mhz[0] = type == 0 ? 2100 : type == 4 ? 1300 : 1;
  return 0;
}
FAKE int amdsmi_get_temp_metric(void*, int sensor, int, std::int64_t* degrees) {
  *degrees = sensor == 1 ? 58 : 40;
  return 0;
}
