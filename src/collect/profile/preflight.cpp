#include "collect/profile/preflight.h"

#include "collect/profile/outputs.h"
#include "os/environment.h"
#include "os/process.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <glob.h>
#include <set>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Prints one line per name with the path of the program; the path is empty if it is not found. The
/// lines are marked, because an image may print other lines.
constexpr const char* kFindPrograms = "for name in \"$@\"; do "
                                      "echo \"rankscope:$name=$(command -v \"$name\")\"; done";

/// Finds a program like find_program(), relative to the folder where the command runs.
std::string found_here(const PreflightTarget& target, const std::string& name) {
  if (name.find('/') == std::string::npos)
    return find_program(name, target.path);
  const fs::path path = fs::path(target.folder) / name; // an absolute name is unchanged
  return ::access(path.c_str(), X_OK) == 0 ? path.string() : "";
}

std::string elsewhere(const PreflightTarget& target, const std::string& name) {
  for (const std::string& place : target.places)
    for (const std::string& folder : expanded_paths(target.root + place))
      if (::access((folder + "/" + name).c_str(), X_OK) == 0)
        return folder;
  return "";
}

bool library_there(const PreflightTarget& target, const std::string& name,
                   const EnvPairs& environment) {
  std::vector<std::string> folders = {"/lib",
                                      "/usr/lib",
                                      "/usr/local/lib",
                                      "/opt/rocm/lib",
                                      "/usr/lib/x86_64-linux-gnu",
                                      "/usr/lib64",
                                      "/usr/local/cuda/lib64"};
  for (std::string& folder : folders)
    folder = target.root + folder;
  for (const auto& [key, value] : environment)
    if (key == "LD_LIBRARY_PATH")
      for (std::size_t begin = 0; begin <= value.size();) {
        const std::size_t end = std::min(value.find(':', begin), value.size());
        folders.push_back(value.substr(begin, end - begin));
        begin = end + 1;
      }
  std::error_code ec;
  return name.find('/') != std::string::npos
             ? fs::exists(name, ec)
             : std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
                 return !expanded_paths(folder + "/" + name + "*").empty();
               });
}

/// Returns the programs that the run needs, each once.
std::vector<std::string> programs_of(const Plan& plan) {
  std::set<std::string> names;
  for (const ToolEntry& tool : plan.tools) {
    names.insert(program_of(tool));
    for (const std::string& need : tool.required)
      if (need.find(':') == std::string::npos)
        names.insert(need);
  }
  if (!plan.command.empty())
    names.insert(plan.command.front());
  names.erase("");
  return {names.begin(), names.end()};
}

bool is_for_amd(const ToolEntry& tool) {
  return std::find(tool.vendors.begin(), tool.vendors.end(), "amd") != tool.vendors.end();
}

/// Returns the device file of the driver that the tool needs.
std::string device_of(const ToolEntry& tool, const PreflightTarget& target) {
  return target.root + (is_for_amd(tool) ? "/dev/kfd" : "/dev/nvidiactl");
}

class Checks {
public:
  Checks(const Plan& plan, const PreflightTarget& target, const ToolTable& table,
         const EnvPairs& environment)
      : plan_(plan), target_(target), table_(table), environment_(environment) {}

  Result<std::vector<ProfileFact>> run() {
    RS_TRY(found_, find_programs(target_, programs_of(plan_)));
    for (const ToolEntry& tool : plan_.tools) {
      programs(tool);
      scripts(tool.name, tool.pre);
      scripts(tool.name, tool.post);
      devices(tool);
      surroundings(tool);
    }
    if (!plan_.command.empty() && found_[plan_.command.front()].empty())
      add("", profile::MissingCommand{plan_.command.front(), searched_path(target_), image()});
    return std::move(out_);
  }

private:
  template <class Fact> void add(const std::string& tool, Fact fact) {
    out_.push_back({tool, std::move(fact)});
  }
  [[nodiscard]] std::string image() const {
    return target_.image.empty() ? "" : target_.image_name;
  }

  void programs(const ToolEntry& tool) {
    std::set<std::string> names(tool.required.begin(), tool.required.end());
    names.insert(program_of(tool));
    names.erase("");
    for (const std::string& name : names) {
      if (name.rfind("lib:", 0) == 0) {
        if (target_.image.empty() && !library_there(target_, name.substr(4), environment_))
          add(tool.name, profile::MissingLibrary{name.substr(4)});
        continue;
      }
      if (name.rfind("file:", 0) == 0) {
        std::error_code ec;
        if (target_.image.empty() && !fs::exists(target_.root + name.substr(5), ec))
          add(tool.name, profile::MissingTool{name.substr(5), "", "", "", {}});
        continue;
      }
      if (!found_[name].empty())
        continue;
      add(tool.name, profile::MissingTool{name, searched_path(target_), image(),
                                          target_.image.empty() ? elsewhere(target_, name) : "",
                                          standing_in(tool)});
    }
  }

  /// Returns the tools of the same family whose program exists.
  std::vector<std::string> standing_in(const ToolEntry& missing) {
    std::vector<std::string> tools;
    std::vector<std::string> programs;
    for (const std::string& name : table_.names()) {
      std::vector<std::string> notes;
      Json use = Json::object();
      use.at("name") = name;
      const auto entry = table_.entry(use, "", notes);
      if (!entry || missing.family.empty() || entry->family != missing.family)
        continue;
      tools.push_back(name);
      programs.push_back(program_of(*entry));
    }
    const auto found = find_programs(target_, programs);
    std::vector<std::string> out;
    for (std::size_t i = 0; found && i < tools.size(); ++i)
      if (!found->at(programs[i]).empty())
        out.push_back(tools[i]);
    return out;
  }

  void scripts(const std::string& tool, const std::vector<ToolScript>& list) {
    std::error_code ec;
    for (const ToolScript& script : list)
      if (const fs::path path = fs::path(target_.folder) / script.path;
          !fs::is_regular_file(path, ec) || ::access(path.c_str(), R_OK) != 0)
        add(tool, profile::MissingScript{script.path, target_.folder.empty()
                                                          ? fs::current_path(ec).string()
                                                          : target_.folder});
  }

  void devices(const ToolEntry& tool) {
    if (tool.vendors.empty() || tool.family.empty() || !target_.image.empty())
      return;
    const bool amd = is_for_amd(tool);
    const std::string device = device_of(tool, target_);
    if (lacks_gpu(tool, target_))
      add(tool.name, profile::MissingGpu{amd, device});
    else if (::access(device.c_str(), R_OK | W_OK) != 0)
      add(tool.name, profile::ClosedGpu{amd, device, ::geteuid()});
  }

  void surroundings(const ToolEntry& tool) {
    if (tool.family != "gpu-tracer")
      return;
    for (const auto& [name, value] : environment_) {
      const bool hooks = name == "HSA_TOOLS_LIB" ||
                         (name == "LD_PRELOAD" && (value.find("rocprof") != std::string::npos ||
                                                   value.find("rpd_tracer") != std::string::npos));
      if (hooks && !value.empty())
        add(tool.name, profile::OtherTracer{name, value});
    }
    const std::string params = first_value("/proc/driver/nvidia/params", "RmProfilingAdminOnly");
    if (program_of(tool) == "ncu" && params == "1" && ::geteuid() != 0)
      add(tool.name, profile::ClosedCounters{});
    std::ifstream in(target_.root + "/proc/sys/kernel/perf_event_paranoid");
    if (int level = 0; program_of(tool) == "nsys" && in >> level && level > 2)
      add(tool.name, profile::ClosedCpuSamples{level});
  }

  [[nodiscard]] std::string first_value(const std::string& file, const std::string& key) const {
    std::ifstream in(target_.root + file);
    for (std::string line; std::getline(in, line);)
      if (line.rfind(key + ":", 0) == 0)
        return line.substr(std::min(line.size(), line.find_first_not_of(' ', key.size() + 1)));
    return "";
  }

  const Plan& plan_;
  const PreflightTarget& target_;
  const ToolTable& table_;
  const EnvPairs& environment_;
  std::map<std::string, std::string> found_;
  std::vector<ProfileFact> out_;
};

} // namespace

std::vector<std::string> expanded_paths(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> out;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i)
      out.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  return out;
}

bool lacks_gpu(const ToolEntry& tool, const PreflightTarget& target) {
  constexpr std::string_view kReadsFilesOnly = "therock_check";
  std::error_code ec;
  return !tool.vendors.empty() && tool.native != kReadsFilesOnly && target.image.empty() &&
         !fs::exists(device_of(tool, target), ec);
}

std::string searched_path(const PreflightTarget& target) {
  return target.image.empty() ? "PATH=" + target.path : "the image's PATH";
}

std::string program_of(const ToolEntry& tool) {
  if (tool.shell)
    return "";
  const auto words = split_words(tool.cmd, "");
  return words && !words->empty() ? words->front() : "";
}

Result<std::map<std::string, std::string>> find_programs(const PreflightTarget& target,
                                                         const std::vector<std::string>& names) {
  std::map<std::string, std::string> out;
  if (target.image.empty()) {
    for (const std::string& name : names)
      out[name] = found_here(target, name);
    return out;
  }
  ProcessSpec spec;
  spec.argv = target.image;
  spec.argv.insert(spec.argv.end(), {"-c", kFindPrograms, "sh"});
  spec.argv.insert(spec.argv.end(), names.begin(), names.end());
  spec.out = Stream::kCapture;
  spec.err = Stream::kCapture;
  spec.guarded = true;
  spec.deadline = std::chrono::minutes(10); // the image may have to be fetched
  RS_TRY(const ProcessEnd end, run_process(std::move(spec)));
  if (!end.ok() && end.exit_code != 127 && end.exit_code != 1)
    return Error{
        ErrorCode::kMissingTool, target.image_name,
        fmt::format("the container does not start: {}: {}", end.describe(), end.err.substr(0, 300)),
        ""};
  for (const std::string& name : names) {
    const std::string mark = fmt::format("rankscope:{}=", name);
    const std::size_t at = end.out.starts_with(mark) ? 0 : end.out.find("\n" + mark);
    const std::size_t begin = end.out.find(mark, at) + mark.size();
    out[name] =
        at == std::string::npos ? "" : end.out.substr(begin, end.out.find('\n', begin) - begin);
  }
  return out;
}

Result<void> choose_fallbacks(const PreflightTarget& target, std::vector<ToolEntry>& tools,
                              std::vector<std::string>& notes) {
  for (ToolEntry& tool : tools) {
    if (tool.fallbacks.empty())
      continue;
    std::vector<std::string> names = {program_of(tool)};
    std::vector<ToolEntry> others;
    for (const std::string& cmd : tool.fallbacks) {
      others.push_back(tool);
      others.back().cmd = cmd;
      others.back().required.clear();
      names.push_back(program_of(others.back()));
    }
    RS_TRY(const auto found, find_programs(target, names));
    if (!found.at(names[0]).empty())
      continue;
    for (ToolEntry& other : others)
      if (!found.at(program_of(other)).empty()) {
        notes.push_back(fmt::format("{}: {} is not installed; {} is used instead", tool.name,
                                    names[0], program_of(other)));
        tool = std::move(other);
        break;
      }
  }
  return {};
}

Result<std::vector<ProfileFact>> preflight(const Plan& plan, const PreflightTarget& target,
                                           const ToolTable& table, const EnvPairs& environment) {
  return Checks(plan, target, table, environment).run();
}

} // namespace rankscope
