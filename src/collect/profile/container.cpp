#include "collect/profile/container.h"

#include "collect/container_run.h"
#include "os/output_file.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Returns the GPUs of the context's vendor, else of the tools' vendors, else of the machine.
ContainerGpus gpus_of(const ContainerOptions& options) {
  std::set<std::string> vendors;
  for (const ToolEntry& tool : options.tools)
    vendors.insert(tool.vendors.begin(), tool.vendors.end());
  ContainerGpus out = vendors.empty() ? machine_gpus() : ContainerGpus{};
  const std::string& vendor = options.context.gpu_vendor;
  out.amd = (out.amd || vendors.count("amd") > 0 || vendor == "AMD") && vendor != "NVIDIA";
  out.nvidia = (out.nvidia || vendors.count("nvidia") > 0 || vendor == "NVIDIA") && vendor != "AMD";
  out.indices = options.context.docker_gpus;
  return out;
}

} // namespace

void place_in_container(const ContainerOptions& options, std::vector<std::string>& keeper,
                        std::vector<std::string>& prefix, std::string& name,
                        PreflightTarget& target) {
  std::error_code ec;
  ContainerRun run;
  run.tool = options.tool;
  run.folder = options.folder.empty() ? fs::current_path(ec).string() : options.folder;
  run.name = name = "rankscope_" + options.run_id;
  for (const std::string& path : std::set<std::string>{run.folder, options.out})
    run.mounts.push_back(path + ":" + path);
  run.mounts.insert(run.mounts.end(), options.context.docker_mounts.begin(),
                    options.context.docker_mounts.end());
  std::set<std::string> capabilities;
  for (const ToolEntry& tool : options.tools)
    capabilities.insert(tool.needs.begin(), tool.needs.end());
  run.capabilities.assign(capabilities.begin(), capabilities.end());
  run.gpus = gpus_of(options);
  keeper = container_run_words(run);
  keeper.insert(keeper.end(), options.arguments.begin(), options.arguments.end());
  // cat waits for input that never comes. It ends with this process, and the container ends with
  // it.
  keeper.insert(keeper.end(), {"-i", "--entrypoint", "cat", options.image});
  prefix = {run.tool, "exec", "-w", run.folder};
  target.image = {run.tool, "run", "--rm", "--entrypoint", "sh", options.image};
  target.image_name = options.image;
}

Result<Container> Container::start(const std::vector<std::string>& keeper, const std::string& name,
                                   const std::string& out) {
  Container c;
  if (keeper.empty())
    return c;
  RS_CHECK(make_folder(out));
  c.docker_ = keeper.front();
  c.name_ = name;
  c.fifo_ = out + "/.container_input";
  (void)::unlink(c.fifo_.c_str());
  if (::mkfifo(c.fifo_.c_str(), 0600) != 0)
    return Error{ErrorCode::kOutput, c.fifo_, std::strerror(errno), ""};
  c.input_ = ::open(c.fifo_.c_str(), O_RDWR | O_CLOEXEC);
  if (c.input_ < 0)
    return Error{ErrorCode::kOutput, c.fifo_, std::strerror(errno), ""};
  ProcessSpec spec;
  spec.argv = keeper;
  spec.input_file = c.fifo_;
  spec.err = Stream::kFile;
  spec.err_file = out + "/container.log";
  spec.guarded = true;
  RS_TRY(Process process, Process::start(std::move(spec)));
  c.process_.emplace(std::move(process));
  // wait until the container can run a program
  for (int i = 0; i < 600; ++i) {
    ProcessSpec probe;
    probe.argv = {c.docker_, "exec", name, "true"};
    probe.deadline = std::chrono::seconds(60);
    RS_TRY(const ProcessEnd end, run_process(std::move(probe)));
    if (end.ok())
      return c;
    if (::kill(c.process_->pid(), 0) != 0)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return Error{ErrorCode::kMissingTool, "container", "it does not start",
               "see " + out + "/container.log"};
}

Container::Container(Container&& other) noexcept
    : process_(std::move(other.process_)), input_(std::exchange(other.input_, -1)),
      docker_(std::move(other.docker_)), name_(std::move(other.name_)),
      fifo_(std::exchange(other.fifo_, "")) {
  other.process_.reset();
}

Container::~Container() {
  if (process_) {
    ProcessSpec spec; // ends all programs in the container, also those that a client left
    spec.argv = {docker_, "rm", "-f", name_};
    spec.deadline = std::chrono::seconds(30);
    (void)run_process(std::move(spec));
  }
  if (input_ >= 0)
    ::close(input_);
  process_.reset();
  if (!fifo_.empty())
    (void)::unlink(fifo_.c_str());
}

} // namespace rankscope
