#include "os/cleanup.h"

#include "os/process_guard.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace rankscope::cleanup {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<std::string> paths;
  std::string shared; ///< folder that other processes use too
  std::vector<pid_t> children, guards;
};

/// Never destroyed: a signal may arrive while the process exits.
Registry& registry() {
  static Registry* const only = new Registry;
  return *only;
}

/// Reaps the children that have ended.
void reap(std::vector<pid_t>& children) {
  std::erase_if(children, [](pid_t child) {
    const pid_t ended = ::waitpid(child, nullptr, WNOHANG);
    return ended == child || (ended < 0 && errno == ECHILD);
  });
}

void reap_within(std::vector<pid_t>& a, std::vector<pid_t>& b, std::chrono::milliseconds time) {
  constexpr auto kPollInterval = std::chrono::milliseconds(5);
  const auto until = std::chrono::steady_clock::now() + time;
  for (;;) {
    reap(a);
    reap(b);
    if ((a.empty() && b.empty()) || std::chrono::steady_clock::now() >= until)
      return;
    std::this_thread::sleep_for(kPollInterval);
  }
}

void end_children(std::vector<pid_t> children, std::vector<pid_t> guards) {
  constexpr auto kGrace = std::chrono::milliseconds(500);
  constexpr auto kGuardsKill = std::chrono::milliseconds(2000);
  const std::vector<pid_t> all = children;
  for (const pid_t group : children)
    ::kill(-group, SIGTERM);
  for (const pid_t guard : guards)
    ::kill(guard, SIGTERM);
  reap_within(children, guards, kGrace);
  for (const pid_t group : all) // also ends the processes that the children started
    ::kill(-group, SIGKILL);
  for (const pid_t guard : guards) // a second SIGTERM makes a guard kill its processes immediately
    ::kill(guard, SIGTERM);
  for (const pid_t child : children)
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR)
      ;
  children.clear();
  reap_within(children, guards, kGuardsKill); // guards do not need this process; they continue if
                                              // the time is over
}

/// Removes files and the content of folders, but not the folders themselves. A library that does
/// not find its folder for temporary files would use another folder, and its files would remain
/// there.
void empty_all(const std::set<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code ec;
    if (!std::filesystem::is_directory(std::filesystem::symlink_status(path, ec)))
      std::filesystem::remove(path, ec);
    for (std::filesystem::directory_iterator it(path, ec), end; !ec && it != end;
         it.increment(ec)) {
      std::error_code aside;
      std::filesystem::remove_all(it->path(), aside);
    }
  }
}

void remove_all(const std::set<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code ec;
    // another thread may still create files in the folder: retry until the folder no longer exists
    for (int attempt = 0; attempt < 5; ++attempt) {
      std::filesystem::remove_all(path, ec);
      if (!std::filesystem::exists(std::filesystem::symlink_status(path, ec)))
        break;
    }
  }
}

/// Leaves a shared folder. The last process that leaves it removes it; the other processes wait
/// until it no longer exists.
void leave_shared(const std::string& folder) {
  constexpr auto kOthersTime = std::chrono::milliseconds(2000);
  constexpr auto kPollInterval = std::chrono::milliseconds(5);
  const auto until = std::chrono::steady_clock::now() + kOthersTime;
  while (::rmdir(folder.c_str()) != 0 && errno != ENOENT) {
    if (std::chrono::steady_clock::now() >= until)
      return remove_all({folder}); // the other processes do not end: they got no signal
    std::this_thread::sleep_for(kPollInterval);
  }
}

} // namespace

void add_path(const std::string& path) {
  const std::lock_guard lock(registry().mutex);
  registry().paths.insert(path);
}

int create_path(const std::string& path) {
  const std::lock_guard lock(registry().mutex);
  const auto at = registry().paths.insert(path).first;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) {
    const int error = errno;
    registry().paths.erase(at);
    errno = error;
  }
  return fd;
}

bool make_folder(std::string& name) {
  const std::lock_guard lock(registry().mutex);
  if (::mkdtemp(name.data()) == nullptr)
    return false;
  registry().paths.insert(name);
  return true;
}

void remove_path(const std::string& path) {
  const std::lock_guard lock(registry().mutex);
  registry().paths.erase(path);
}

void share_folder(const std::string& path) {
  const std::lock_guard lock(registry().mutex);
  registry().paths.erase(path);
  registry().shared = path;
}

std::unique_lock<std::mutex> lock_children() {
  return std::unique_lock(registry().mutex);
}

void add_child(pid_t group) {
  registry().children.push_back(group);
}

void add_guard(pid_t guard) {
  registry().guards.push_back(guard);
}

void remove_child(pid_t pid) {
  std::erase(registry().children, pid);
  std::erase(registry().guards, pid);
}

void kill_ending_children() {
  const auto lock = lock_children();
  for (const pid_t guard : registry().guards)
    ::kill(guard, kKillNowSignal);
}

void end_everything() {
  Registry& all = registry();
  all.mutex.lock(); // never unlocked: threads that still run cannot register anything new
  end_children(all.children, all.guards);
  if (!all.paths.empty()) {
    empty_all(all.paths);
    // wait, because a library may be about to open a file whose name is registered
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    remove_all(all.paths);
  }
  if (!all.shared.empty())
    leave_shared(all.shared);
}

} // namespace rankscope::cleanup
