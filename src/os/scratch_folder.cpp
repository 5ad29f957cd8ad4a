#include "os/scratch_folder.h"

#include "os/cleanup.h"

#include <filesystem>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Where folders are made; "" = in the system's.
std::string& root() {
  static std::string only;
  return only;
}

} // namespace

Result<ScratchFolder> ScratchFolder::create() {
  std::error_code ec;
  const fs::path in = root().empty() ? fs::temp_directory_path(ec) : fs::path(root());
  std::string name = (in / "rankscope-XXXXXX").string();
  if (ec || !cleanup::make_folder(name))
    return Error{ErrorCode::kOutput, name, "cannot make a temporary folder", "is TMPDIR writable?"};
  return ScratchFolder(std::move(name));
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty())
    return;
  std::error_code ec;
  fs::remove_all(path_, ec);
  cleanup::remove_path(path_);
}

std::string SharedScratch::make() {
  std::error_code ec;
  std::string name = (fs::temp_directory_path(ec) / "rankscope-job-XXXXXX").string();
  return !ec && cleanup::make_folder(name) ? name : "";
}

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
  ::rmdir(path_.c_str()); // the last one's succeeds
  cleanup::share_folder("");
}

} // namespace rankscope
