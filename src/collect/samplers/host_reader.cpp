#include "collect/samplers/host_reader.h"

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace rankscope {
namespace {

/// Reads the beginning of a file, where the needed values of /proc are.
std::string head_of(const std::string& path) {
  std::array<char, 4096> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return {};
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  ::close(fd);
  return n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : std::string();
}

std::optional<std::int64_t> kilobytes(const std::string& meminfo, std::string_view key) {
  const std::size_t at = meminfo.find(key);
  if (at == std::string::npos || (at > 0 && meminfo[at - 1] != '\n'))
    return std::nullopt;
  return std::strtoll(meminfo.c_str() + at + key.size(), nullptr, 10) * 1024;
}

} // namespace

HostReading HostReader::read() {
  HostReading r;
  const std::string stat = head_of(root_ + "/stat");
  if (stat.rfind("cpu ", 0) == 0) {
    // user nice system idle iowait irq softirq steal; guest time is in user already
    const char* p = stat.c_str() + 4;
    std::uint64_t total = 0, idle = 0;
    for (int field = 0; field < 8; ++field) {
      char* end = nullptr;
      const std::uint64_t value = std::strtoull(p, &end, 10);
      if (end == p)
        break;
      total += value;
      idle += field == 3 || field == 4 ? value : 0;
      p = end;
    }
    if (last_total_ > 0 && total > last_total_ && idle >= last_idle_)
      r.cpu_busy_pct = 100.0 * (1.0 - static_cast<double>(idle - last_idle_) /
                                          static_cast<double>(total - last_total_));
    last_total_ = total;
    last_idle_ = idle;
  }
  const std::string meminfo = head_of(root_ + "/meminfo");
  r.memory_total_b = kilobytes(meminfo, "MemTotal:");
  const auto available = kilobytes(meminfo, "MemAvailable:");
  if (r.memory_total_b && available)
    r.memory_used_b = *r.memory_total_b - *available;
  const std::string load = head_of(root_ + "/loadavg");
  char* end = nullptr;
  const double value = std::strtod(load.c_str(), &end);
  if (end != load.c_str())
    r.load1 = value;
  return r;
}

} // namespace rankscope
