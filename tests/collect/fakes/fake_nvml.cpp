// Simulates libnvidia-ml with two GPUs. The second GPU is divided by MIG and has no power value.
#include <cstdio>
#include <cstring>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {
struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Rates {
  unsigned gpu, memory;
};
struct Field {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int status;
  unsigned long long value;
};
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
int devices[2];
unsigned long long millijoules = 1'000'000;
constexpr int kNotSupported = 3;
bool first(void* device) {
  return device == &devices[0];
}
} // namespace

FAKE int nvmlInit_v2() {
#ifdef NO_DRIVER
  return 9;
#else
  return 0;
#endif
}
FAKE int nvmlShutdown() {
  return 0;
}
FAKE const char* nvmlErrorString(int status) {
  return status == 9 ? "Driver Not Loaded" : "Unknown";
}
FAKE int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
FAKE int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** device) {
  *device = &devices[i];
  return 0;
}
FAKE int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  std::snprintf(text, size, "GPU-0000-%d", first(device) ? 0 : 1);
  return 0;
}
FAKE int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "Fake H200");
  return 0;
}
FAKE int nvmlDeviceGetPciInfo_v3(void* device, Pci* pci) {
  std::memset(pci, 0, sizeof *pci);
  pci->domain = 1;
  pci->bus = first(device) ? 0x1a : 0x3b;
  return 0;
}
FAKE int nvmlDeviceGetPowerUsage(void* device, unsigned* mw) {
  if (!first(device))
    return kNotSupported;
  *mw = 655'000; // average power
  return 0;
}
FAKE int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* mj) {
  if (!first(device))
    return kNotSupported;
  *mj = millijoules += 250'000; // each call adds 250 J
  return 0;
}
FAKE int nvmlDeviceGetMemoryInfo(void*, Memory* m) {
  *m = {1000, 400, 600};
  return 0;
}
#ifndef OLD_DRIVER
FAKE int nvmlDeviceGetMemoryInfo_v2(void*, MemoryV2* m) {
  if (m->version != (sizeof(MemoryV2) | 2U << 24))
    return 25; // argument version mismatch
  m->total = 2000;
  m->reserved = 100;
  m->free = 900;
  m->used = 1000;
  return 0;
}
FAKE int nvmlDeviceGetFieldValues(void* device, int count, Field* fields) {
  for (int i = 0; i < count; ++i) {
    fields[i].status = first(device) && fields[i].field == 186 ? 0 : kNotSupported;
    fields[i].type = 1;
    fields[i].value = 701'500; // current power in mW
  }
  return 0;
}
/// 80 processes on the first GPU; on the second GPU, one process with unknown memory.
FAKE int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* out) {
  const unsigned there = first(device) ? 80 : 1;
  const bool fits = *count >= there;
  *count = there;
  if (!fits)
    return 7; // insufficient size
  for (unsigned i = 0; i < there; ++i)
    out[i] = {4000 + (there - i), first(device) ? 1'000'000ULL * (there - i) : ~0ULL, ~0U, ~0U};
  return 0;
}
FAKE int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  *current = *pending = first(device) ? 0 : 1;
  return 0;
}
#endif
FAKE int nvmlDeviceGetUtilizationRates(void*, Rates* rates) {
  *rates = {98, 41};
  return 0;
}
FAKE int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : type == 2 ? 2619 : 0;
  return 0;
}
FAKE int nvmlDeviceGetTemperature(void*, int, unsigned* degrees) {
  *degrees = 61;
  return 0;
}
