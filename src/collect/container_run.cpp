#include "collect/container_run.h"

#include "base/ascii.h"
#include "os/environment.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

void add_gpus(const ContainerRun& run, std::vector<std::string>& out) {
  const ContainerGpus& gpus = run.gpus;
  const bool all = gpus.indices.empty() || gpus.indices == "all";
  const auto add = [&out](std::initializer_list<std::string> words) {
    out.insert(out.end(), words);
  };
  if (gpus.amd) {
    add({"--device", "/dev/kfd", "--device", "/dev/dri", "--group-add", "video", "--security-opt",
         "seccomp=unconfined"});
    if (!all)
      add({"-e", "ROCR_VISIBLE_DEVICES=" + gpus.indices});
  }
  if (!gpus.nvidia)
    return;
  if (run.tool != "podman") // docker splits the value at commas unless the value is in quotes
    return add({"--gpus", all ? "all" : fmt::format("\"device={}\"", gpus.indices)});
  for (const std::string_view index : split(all ? std::string_view("all") : gpus.indices, ','))
    add({"--device", fmt::format("nvidia.com/gpu={}", index)});
}

} // namespace

ContainerGpus machine_gpus(const std::string& device_root) {
  std::error_code ec;
  ContainerGpus out;
  out.amd = std::filesystem::exists(device_root + "/kfd", ec);
  out.nvidia = std::filesystem::exists(device_root + "/nvidiactl", ec);
  return out;
}

std::string container_tool(const std::string& asked) {
  if (!asked.empty())
    return asked;
  const std::string path = path_variable(changed_environment({}, {}));
  return find_program("docker", path).empty() && !find_program("podman", path).empty() ? "podman"
                                                                                       : "docker";
}

std::vector<std::string> container_run_words(const ContainerRun& run) {
  std::vector<std::string> out = {run.tool,    "run",  "--rm",  "--init",
                                  "--network", "host", "--ipc", "host"};
  add_gpus(run, out);
  out.insert(out.end(), {"--name", run.name, "-w", run.folder});
  for (const std::string& mount : run.mounts)
    out.insert(out.end(), {"-v", mount});
  for (const std::string& capability : run.capabilities)
    out.insert(out.end(), {"--cap-add", capability});
  return out;
}

} // namespace rankscope
