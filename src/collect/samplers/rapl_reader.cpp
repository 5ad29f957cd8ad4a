#include "collect/samplers/rapl_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> counter_in(const std::string& path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  return in >> value ? std::optional(value) : std::nullopt;
}

std::string zone_name(const fs::path& folder) {
  std::ifstream in(folder / "name");
  std::string name;
  std::getline(in, name);
  return name;
}

/// Returns the folders PREFIX:N, sorted. `intel-rapl-mmio:0` counts a package again and has another
/// prefix.
std::vector<fs::path> zones_below(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> out;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos)
      out.push_back(it->path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

RaplReader::RaplReader(const std::string& sysfs_root) {
  for (const fs::path& package :
       zones_below(fs::path(sysfs_root) / "class/powercap", "intel-rapl:")) {
    if (!zone_name(package).starts_with("package")) // psys is the complete machine
      continue;
    add(package.string(), false);
    for (const fs::path& part : zones_below(package, package.filename().string() + ":"))
      if (zone_name(part) == "dram")
        add(part.string(), true);
  }
}

void RaplReader::add(const std::string& folder, bool dram) {
  Zone zone;
  zone.file = folder + "/energy_uj";
  zone.dram = dram;
  errno = 0;
  const auto now = counter_in(zone.file);
  if (!now) {
    if (problem_.empty())
      problem_ = zone.file + ": " + (errno == 0 ? "not a number" : std::strerror(errno));
    return;
  }
  zone.last_uj = *now;
  zone.range_uj = counter_in(folder + "/max_energy_range_uj").value_or(0);
  zones_.push_back(std::move(zone));
}

RaplReading RaplReader::read() {
  constexpr double kMicro = 1e-6;
  RaplReading out;
  for (Zone& zone : zones_) {
    if (const auto now = counter_in(zone.file)) {
      const std::uint64_t wrapped = *now < zone.last_uj ? zone.range_uj : 0;
      if (*now + wrapped >= zone.last_uj)
        zone.joules += static_cast<double>(*now + wrapped - zone.last_uj) * kMicro;
      zone.last_uj = *now;
    }
    std::optional<double>& sum = zone.dram ? out.dram_j : out.cpu_j;
    sum = sum.value_or(0) + zone.joules;
  }
  return out;
}

} // namespace rankscope
