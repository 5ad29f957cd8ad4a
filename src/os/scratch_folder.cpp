#include "os/scratch_folder.h"

#include "os/cleanup.h"
#include "os/close_file.h"
#include "os/temporary_name.h"

#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Returns the parent of new scratch folders; "" = the system's temporary folder.
std::string& root() {
  static std::string only;
  return only;
}

/// Returns the prefix of the names of scratch folders. Six letters follow it (mkdtemp).
std::string name_prefix(std::string_view kind) {
  return fmt::format("rankscope-{}{}-", kind, machine_tag());
}

constexpr std::string_view kProcessFolder, kJobFolder = "job-";
constexpr std::string_view kLetters = "XXXXXX";

/// Locks a folder with `operation`: LOCK_SH if the process uses it, LOCK_EX to remove it. Returns
/// -1 if another process has the lock.
int lock_folder(const std::string& path, int operation) {
  int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && ::flock(fd, operation | LOCK_NB) != 0)
    close_file(fd);
  return fd;
}

bool is_ours(const std::string& name, std::string_view kind) {
  const std::string prefix = name_prefix(kind);
  return name.size() == prefix.size() + kLetters.size() && name.starts_with(prefix);
}

/// Removes folders that no process locks. A folder exists for a moment before it is locked, so
/// folders that changed within the last minute are not removed.
void remove_abandoned(const fs::path& in) {
  std::error_code ec;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(in, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    struct stat about = {};
    std::error_code inner;
    if (!(is_ours(name, kProcessFolder) || is_ours(name, kJobFolder)) ||
        ::lstat(it->path().c_str(), &about) != 0 || about.st_uid != ::geteuid() ||
        now - it->last_write_time(inner) < std::chrono::minutes(1) || inner)
      continue;
    int lock = lock_folder(it->path().string(), LOCK_EX);
    if (lock < 0)
      continue;
    fs::remove_all(it->path(), inner);
    close_file(lock);
  }
}

/// Returns `folder`. The first call for a folder removes the folders that killed runs left in it.
fs::path cleaned(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> seen;
  if (const std::lock_guard lock(mutex); seen.insert(folder).second)
    remove_abandoned(folder);
  return folder;
}

/// Returns the system's temporary folder; removes folders of killed runs from it.
fs::path temporaries() {
  std::error_code ec;
  const fs::path out = fs::temp_directory_path(ec);
  return ec ? fs::path() : cleaned(out);
}

/// Creates a scratch folder in `in`, and sets `tried` to its path. Returns "" on failure.
std::string make_in(const fs::path& in, std::string_view kind, std::string& tried) {
  tried = (in / (name_prefix(kind) + std::string(kLetters))).string();
  return !in.empty() && cleanup::make_folder(tried) ? tried : "";
}

} // namespace

ScratchFolder::ScratchFolder(std::string path)
    : path_(std::move(path)), lock_(lock_folder(path_, LOCK_SH)) {}

Result<ScratchFolder> ScratchFolder::create(const std::string& in) {
  std::string tried;
  const fs::path parent = !in.empty()      ? cleaned(in)
                          : root().empty() ? temporaries()
                                           : fs::path(root());
  std::string made = make_in(parent, kProcessFolder, tried);
  if (made.empty())
    return Error{ErrorCode::kOutput, tried, "cannot make a temporary folder",
                 "is TMPDIR writable?"};
  return ScratchFolder(std::move(made));
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty())
    return;
  try {
    std::error_code ec;
    fs::remove_all(path_, ec);
    cleanup::remove_path(path_);
  } catch (const std::bad_alloc&) { // an interrupt or the next run will remove the folder
  }
  close_file(lock_);
}

std::string SharedScratch::make() {
  std::string tried;
  return make_in(temporaries(), kJobFolder, tried);
}

SharedScratch::SharedScratch(std::string path)
    : path_(std::move(path)), lock_(path_.empty() ? -1 : lock_folder(path_, LOCK_SH)) {}

SharedScratch SharedScratch::enter(std::string path) {
  if (!path.empty() && ::access(path.c_str(), W_OK | X_OK) != 0)
    path.clear();
  cleanup::share_folder(path);
  root() = path;
  return SharedScratch(std::move(path));
}

SharedScratch::~SharedScratch() {
  if (path_.empty())
    return;
  root().clear();
  ::rmdir(path_.c_str()); // succeeds for the last process
  cleanup::share_folder("");
  close_file(lock_);
}

} // namespace rankscope
