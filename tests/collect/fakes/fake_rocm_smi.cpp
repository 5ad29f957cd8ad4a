// Simulates librocm_smi64 with a GPU of two dies, the second of which has a counter at 0, and a GPU
// whose power cannot be read.
#include <cstdint>

#define FAKE extern "C" __attribute__((visibility("default")))

FAKE int rsmi_init(std::uint64_t) {
  return 0;
}
FAKE int rsmi_shut_down() {
  return 0;
}
FAKE int rsmi_num_monitor_devices(std::uint32_t* n) {
  *n = 3;
  return 0;
}
FAKE int rsmi_dev_pci_id_get(std::uint32_t i, std::uint64_t* id) {
  *id = 0x100000000ULL + 0xc100U + 0x500U * i; // domain 1, bus c1, c6, cb
  return 0;
}
FAKE int rsmi_dev_unique_id_get(std::uint32_t i, std::uint64_t* id) {
  *id = 0xabcd0000ULL + i;
  return 0;
}
// no rsmi_dev_power_get, as in releases before ROCm 6
FAKE int rsmi_dev_power_ave_get(std::uint32_t i, std::uint32_t, std::uint64_t* uw) {
  if (i == 2)
    return 2;
  // writes all 8 bytes: a smaller variable of the caller would overflow
  *uw = i == 0 ? 423'000'000 : 0;
  return 0;
}
FAKE int rsmi_dev_energy_count_get(std::uint32_t i, std::uint64_t* count, float* resolution,
                                   std::uint64_t* stamp) {
  if (i == 2)
    return 2;
  *count = i == 0 ? 1'000'000 : 0;
  *resolution = 15.3F;
  *stamp = 1;
  return 0;
}
FAKE int rsmi_dev_memory_usage_get(std::uint32_t, int, std::uint64_t* bytes) {
  *bytes = 5'000'000'000;
  return 0;
}
FAKE int rsmi_dev_memory_total_get(std::uint32_t, int, std::uint64_t* bytes) {
  *bytes = 64'000'000'000;
  return 0;
}
FAKE int rsmi_dev_busy_percent_get(std::uint32_t, std::uint32_t* percent) {
  *percent = 55;
  return 0;
}
FAKE int rsmi_dev_memory_busy_percent_get(std::uint32_t, std::uint32_t* percent) {
  *percent = 7; // share of the memory controller's time, not occupancy
  return 0;
}
FAKE int rsmi_dev_temp_metric_get(std::uint32_t, std::uint32_t sensor, int, std::int64_t* value) {
  *value = sensor == 1 ? 66'000 : 44'000;
  return 0;
}
