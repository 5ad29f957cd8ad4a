#include "collect/profile/library_watch.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Adds `pid` and its descendants to `out`.
void add_processes(pid_t pid, std::vector<pid_t>& out) {
  out.push_back(pid);
  std::error_code ec;
  for (fs::directory_iterator it(fmt::format("/proc/{}/task", pid), ec), end; !ec && it != end;
       it.increment(ec)) {
    std::ifstream children(it->path() / "children");
    for (pid_t child = 0; children >> child && out.size() < 4096;)
      add_processes(child, out);
  }
}

EnvPairs environment_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  EnvPairs out;
  for (std::string text; std::getline(in, text, '\0');)
    if (const std::size_t equals = text.find('='); equals != std::string::npos)
      out.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  return out;
}

} // namespace

std::set<std::string> watched_libraries(const Plan& plan) {
  std::set<std::string> out;
  for (const ToolEntry& tool : plan.tools)
    out.insert(tool.libraries.begin(), tool.libraries.end());
  return out;
}

LibraryWatch::LibraryWatch(pid_t root, std::set<std::string> names) : names_(std::move(names)) {
  if (names_.empty())
    return;
  thread_ = std::thread([this, root] {
    for (int i = 0; !done_; ++i) {
      poll(root);
      // sleeps in short steps, so that stop() does not wait
      for (int nap = i < 50 ? 2 : 25; nap > 0 && !done_; --nap)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
}

LibraryWatch::~LibraryWatch() {
  (void)stop();
}

SeenLibraries LibraryWatch::stop() {
  done_ = true;
  if (thread_.joinable())
    thread_.join();
  return seen_;
}

void LibraryWatch::poll(pid_t root) {
  std::vector<pid_t> all;
  add_processes(root, all);
  for (const pid_t pid : all) {
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    for (std::string line; std::getline(maps, line);) {
      const std::size_t slash = line.rfind('/');
      if (slash == std::string::npos)
        continue;
      for (const std::string& name : names_)
        if (line.compare(slash + 1, name.size(), name) == 0 &&
            (line[slash + 1 + name.size()] == '.' || line[slash + 1 + name.size()] == '-') &&
            seen_.find(name) == seen_.end())
          seen_[name] = environment_of(pid);
    }
  }
}

} // namespace rankscope
