#include "os/temporary_name.h"

#include "os/cleanup.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <sys/random.h>
#include <unistd.h>

namespace rankscope {
namespace {

/// Returns whether `name` is a temporary file of an ended rankscope process on this machine:
/// <name>.<host>-<pid>-<letters>.tmp.
bool is_leftover(const std::string& name) {
  const std::string& host = machine_tag();
  constexpr std::string_view kEnd = ".tmp";
  if (name.size() <= kEnd.size() || name.compare(name.size() - kEnd.size(), kEnd.size(), kEnd) != 0)
    return false;
  const std::size_t dot = name.rfind('.', name.size() - kEnd.size() - 1);
  if (dot == std::string::npos || name.compare(dot + 1, host.size() + 1, host + "-") != 0)
    return false;
  const char* const digits = name.c_str() + dot + 1 + host.size() + 1;
  char* end = nullptr;
  const long pid = std::strtol(digits, &end, 10);
  return end != digits && *end == '-' && pid > 0 && pid <= std::numeric_limits<pid_t>::max() &&
         ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

bool first_in(const std::string& folder) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  const std::lock_guard lock(mutex);
  return seen.insert(folder).second;
}

/// Returns random letters, so that an attacker cannot guess the name and create a link with that
/// name.
std::string random_letters() {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyz012345"; // 32 letters, so that all are equally likely
  std::array<unsigned char, 10> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    std::random_device device;
    for (unsigned char& byte : bytes)
      byte = static_cast<unsigned char>(device());
  }
  std::string out;
  for (const unsigned char byte : bytes)
    out += kLetters[byte % kLetters.size()];
  return out;
}

} // namespace

const std::string& machine_tag() {
  static const std::string tag = [] {
    char name[256] = {};
    (void)::gethostname(name, sizeof name - 1);
    std::uint32_t hash = 2166136261U;
    for (const char* c = name; *c != '\0'; ++c)
      hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619U;
    return fmt::format("{:08x}", hash);
  }();
  return tag;
}

void remove_leftovers(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code ec;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code inner;
    if (is_leftover(it->path().filename().string()) &&
        it->symlink_status(inner).type() == fs::file_type::regular &&
        now - it->last_write_time(inner) > std::chrono::minutes(1) && !inner)
      fs::remove(it->path(), inner);
  }
}

int create_temporary(const std::string& path, std::string& name) {
  constexpr std::size_t kNameMax = 255; // maximum name length in bytes on usual file systems
  constexpr int kAttempts = 100;
  const std::size_t slash = path.rfind('/');
  const std::size_t leaf = slash == std::string::npos ? 0 : slash + 1;
  if (const std::string folder = leaf == 0 ? "." : path.substr(0, leaf); first_in(folder))
    remove_leftovers(folder);
  int fd = -1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string suffix =
        fmt::format(".{}-{}-{}.tmp", machine_tag(), ::getpid(), random_letters());
    name = path.size() - leaf + suffix.size() > kNameMax
               ? path.substr(0, leaf) + ".rankscope" + suffix
               : path + suffix;
    fd = cleanup::create_path(name);
    if (fd >= 0 || errno != EEXIST)
      break;
  }
  if (fd < 0)
    name.clear();
  return fd;
}

} // namespace rankscope
