#include "collect/profile/replicate.h"

#include "collect/samplers/gpu_backend.h"
#include "os/process.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

Error bad(const std::string& what) {
  return {ErrorCode::kUsage, "--replicate-per-gcd", what,
          "--devices 0,1 names the GPUs that get a copy"};
}

/// Returns the numbers of "0,2" as texts; empty if `text` is not such a list.
std::vector<std::string> numbers_of(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char c : text)
    if (c == ',')
      out.emplace_back();
    else if (c >= '0' && c <= '9' && out.back().size() < 6)
      out.back() += c;
    else
      return {};
  return std::any_of(out.begin(), out.end(), [](const auto& n) { return n.empty(); })
             ? std::vector<std::string>()
             : out;
}

/// Returns the dies of the first GPU package with two dies, else the only two GPUs.
std::vector<std::string> dies_of_package(const std::vector<GpuIdentity>& gpus) {
  for (const GpuIdentity& die : gpus)
    if (die.two_dies && die.secondary())
      return {std::to_string(die.package), std::to_string(die.index)};
  if (gpus.size() == 2)
    return {std::to_string(gpus[0].index), std::to_string(gpus[1].index)};
  return {};
}

} // namespace

Result<std::vector<std::string>> replica_devices(const std::string& text,
                                                 const std::string& visible,
                                                 const std::string& sysfs_root) {
  std::vector<std::string> out;
  if (text.empty()) {
    GpuBackendOptions options;
    options.sysfs_root = sysfs_root;
    RS_TRY(const auto backend, open_gpu_backend(options));
    out = dies_of_package(backend->gpus());
    if (out.empty())
      return bad(fmt::format("no package with two dies among the {} GPUs here; without one, "
                             "exactly two GPUs are needed",
                             backend->gpus().size()));
    return out;
  }
  out = numbers_of(text);
  if (out.empty())
    return bad(fmt::format("'{}' is not a list of numbers", text));
  if (visible.empty())
    return out;
  const std::vector<std::string> entries = numbers_of(visible);
  for (std::string& device : out) {
    const std::size_t at = std::stoul(device);
    if (at >= entries.size())
      return bad(fmt::format("GPU {} is not among HIP_VISIBLE_DEVICES={}", device, visible));
    device = entries[at];
  }
  return out;
}

std::vector<std::string> replicated(const std::vector<std::string>& command,
                                    const std::vector<std::string>& devices) {
  std::error_code ec;
  std::vector<std::string> out = {std::filesystem::read_symlink("/proc/self/exe", ec).string(),
                                  "profile",
                                  "replicate",
                                  "--devices",
                                  fmt::format("{}", fmt::join(devices, ",")),
                                  "--"};
  out.insert(out.end(), command.begin(), command.end());
  return out;
}

Result<int> run_replicas(const std::vector<std::string>& command,
                         const std::vector<std::string>& devices, const CancelToken& cancel) {
  std::vector<Process> copies;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    ProcessSpec spec;
    spec.argv = command;
    spec.out = Stream::kOurs;
    spec.err = Stream::kOurs;
    spec.set_env = {{"HIP_VISIBLE_DEVICES", devices[i]},
                    {"CUDA_VISIBLE_DEVICES", devices[i]},
                    {"RANKSCOPE_REPLICA", std::to_string(i)}};
    spec.guarded = true;
    spec.forward_signal = true;
    spec.cancel = cancel;
    RS_TRY(Process copy, Process::start(std::move(spec))); // on an error, `copies` ends the others
    copies.push_back(std::move(copy));
  }
  int status = 0;
  for (Process& copy : copies) {
    RS_TRY(const ProcessEnd end, copy.wait());
    const int code = end.signal != 0 ? 128 + end.signal : end.exit_code;
    status = status == 0 ? code : status;
    if (end.cancelled) // end all copies at once, not one grace period after another
      for (Process& other : copies)
        other.terminate();
  }
  return status;
}

} // namespace rankscope
