#include "collect/profile/container.h"

#include "os/output_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
constexpr const char* kDocker = "docker";

/// Devices by vendor of the tools, else of the context.
void add_devices(const ContainerOptions& options, std::vector<std::string>& argv) {
  std::set<std::string> vendors;
  for (const ToolEntry& tool : options.tools)
    vendors.insert(tool.vendors.begin(), tool.vendors.end());
  if (options.context.gpu_vendor == "AMD" || (vendors.empty() && ::access("/dev/kfd", F_OK) == 0))
    vendors.insert("amd");
  if (options.context.gpu_vendor == "NVIDIA" ||
      (vendors.empty() && ::access("/dev/nvidiactl", F_OK) == 0))
    vendors.insert("nvidia");
  if (vendors.count("amd") > 0 && options.context.gpu_vendor != "NVIDIA")
    for (const char* device : {"/dev/kfd", "/dev/dri"})
      argv.insert(argv.end(), {"--device", device});
  if (vendors.count("nvidia") > 0 && options.context.gpu_vendor != "AMD") {
    const std::string& gpus = options.context.docker_gpus;
    // docker splits the value at commas unless it is in quotes of its own
    argv.insert(
        argv.end(),
        {"--gpus", gpus.empty() || gpus == "all" ? "all" : fmt::format("\"device={}\"", gpus)});
  }
  if (vendors.count("amd") > 0 && !options.context.docker_gpus.empty() &&
      options.context.docker_gpus != "all")
    argv.insert(argv.end(), {"-e", "ROCR_VISIBLE_DEVICES=" + options.context.docker_gpus});
}

} // namespace

void place_in_container(const ContainerOptions& options, std::vector<std::string>& keeper,
                        std::vector<std::string>& prefix, std::string& name,
                        PreflightTarget& target) {
  std::error_code ec;
  const std::string folder =
      options.folder.empty() ? fs::current_path(ec).string() : options.folder;
  name = "rankscope_" + options.run_id;
  keeper = {kDocker, "run", "--rm", "-i", "--name", name, "-w", folder};
  std::set<std::string> mounts = {folder, options.out};
  for (const std::string& path : mounts)
    keeper.insert(keeper.end(), {"-v", path + ":" + path});
  for (const std::string& mount : options.context.docker_mounts)
    keeper.insert(keeper.end(), {"-v", mount});
  std::set<std::string> capabilities;
  for (const ToolEntry& tool : options.tools)
    capabilities.insert(tool.needs.begin(), tool.needs.end());
  for (const std::string& capability : capabilities)
    keeper.insert(keeper.end(), {"--cap-add", capability});
  add_devices(options, keeper);
  // reads what we never write: it ends with us, and the container with it
  keeper.insert(keeper.end(), {options.image, "cat"});
  prefix = {kDocker, "exec", "-w", folder};
  target.image = {kDocker, "run", "--rm", options.image};
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
  // until a program can be run in it
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
    ProcessSpec spec; // what runs in it ends at once, also what a client left behind
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
