// The argument list that starts a container, for sweep and profile alike: docker or podman, GPUs,
// folders, shared memory.
#pragma once

#include <string>
#include <vector>

namespace rankscope {

/// Which GPUs a container gets.
struct ContainerGpus {
  bool amd = false, nvidia = false;
  std::string indices; ///< "" and "all" = all of them
};

/// Those that the machine has device files for.
[[nodiscard]] ContainerGpus machine_gpus(const std::string& device_root = "/dev");

struct ContainerRun {
  std::string tool = "docker"; ///< or podman
  std::string name;
  std::string folder;                    ///< working folder
  std::vector<std::string> mounts;       ///< HOST:CONTAINER
  std::vector<std::string> capabilities; ///< SYS_PTRACE
  ContainerGpus gpus;
};

/// The one that was asked for, else docker, or podman where docker is not in PATH.
[[nodiscard]] std::string container_tool(const std::string& asked);

/// "docker run ..." up to the options of the caller and the image: removed at its end, an init
/// process, the host's network and IPC (RCCL and data loaders need more shared memory than the
/// default of 64 MB). AMD's GPUs come with the group video and without a seccomp profile, as
/// ROCm's tools need it.
[[nodiscard]] std::vector<std::string> container_run_words(const ContainerRun& run);

} // namespace rankscope
