#include "collect/machine_facts.h"

#include <fstream>
#include <sys/utsname.h>
#include <unistd.h>

namespace rankscope {
namespace {

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name"))
      if (const std::size_t at = line.find(": "); at != std::string::npos)
        return line.substr(at + 2);
  return "";
}

} // namespace

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

MachineFacts read_machine_facts() {
  MachineFacts out;
  utsname names = {};
  if (::uname(&names) == 0) {
    out.host = &names.nodename[0];
    out.kernel = &names.release[0];
    out.machine = &names.machine[0];
  }
  out.cpu = cpu_name();
  out.processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  out.memory_bytes = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  out.nvidia_driver = first_line("/proc/driver/nvidia/version");
  out.amdgpu_driver = first_line("/sys/module/amdgpu/version");
  out.rocm = first_line("/opt/rocm/.info/version");
  return out;
}

} // namespace rankscope
