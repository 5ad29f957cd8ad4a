// A run inside a container. The command and all scripts share one container, which ends with this
// process.
#pragma once

#include "collect/profile/plan.h"
#include "collect/profile/preflight.h"
#include "os/process.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct ContainerOptions {
  std::string tool; ///< docker or podman
  std::string image;
  std::vector<std::string> arguments; ///< more options of docker run
  ProfileContext context;
  std::vector<ToolEntry> tools; ///< source of capabilities and vendors
  std::string out;              ///< the run's folder, mounted
  std::string folder;           ///< where the command runs, mounted; "" = the current one
  std::string run_id;
};

/// Fills in the command lines of a run in a container. `keeper` starts the container:
/// container_run_words() with the GPUs of the tools' vendors, the capabilities that the tools need
/// and the folders at the same paths. `prefix` runs a program in the container; the plan's
/// environment and the container's name follow it. `target` is how the pre-flight queries the
/// image. The image's entrypoint, which may print a banner, is not run.
void place_in_container(const ContainerOptions& options, std::vector<std::string>& keeper,
                        std::vector<std::string>& prefix, std::string& name,
                        PreflightTarget& target);

/// The container while it runs.
class Container {
public:
  /// Starts nothing if `keeper` is empty. The container's program reads from this process and ends
  /// with it, even when this process is killed. Errors: kMissingTool.
  static Result<Container> start(const std::vector<std::string>& keeper, const std::string& name,
                                 const std::string& out);
  Container(Container&& other) noexcept;
  Container& operator=(Container&&) = delete;
  ~Container();

private:
  Container() = default;
  std::optional<Process> process_;
  int input_ = -1; ///< our descriptor of the fifo that the container's program reads
  std::string docker_, name_, fifo_;
};

} // namespace rankscope
