// Builds the argument list that starts a container, for sweep and profile: docker or podman, GPUs,
// folders, shared memory.
#pragma once

#include <string>
#include <vector>

namespace rankscope {

/// The GPUs that a container gets.
struct ContainerGpus {
  bool amd = false, nvidia = false;
  std::string indices; ///< "" and "all" = all of them
};

/// Returns all GPUs of each vendor that has device files below `device_root`.
[[nodiscard]] ContainerGpus machine_gpus(const std::string& device_root = "/dev");

struct ContainerRun {
  std::string tool = "docker"; ///< or podman
  std::string name;
  std::string folder;                    ///< working folder
  std::vector<std::string> mounts;       ///< HOST:CONTAINER
  std::vector<std::string> capabilities; ///< for example SYS_PTRACE
  ContainerGpus gpus;
};

/// Returns `asked` unless it is empty. Otherwise returns podman if only podman is in PATH, else
/// docker.
[[nodiscard]] std::string container_tool(const std::string& asked);

/// Returns "docker run ..." up to the caller's options and the image. The container is removed at
/// its end. It has an init process and the host's network and IPC, because RCCL and data loaders
/// need more shared memory than the default of 64 MB. With AMD GPUs, the container is in the group
/// `video` and has no seccomp profile, because ROCm's tools need this.
[[nodiscard]] std::vector<std::string> container_run_words(const ContainerRun& run);

} // namespace rankscope
