// A folder for files that live as long as the object (plots on their way into a page); an
// interrupt removes it too.
#pragma once

#include "base/result.h"
#include "os/cleanup.h"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace rankscope {

class ScratchFolder {
public:
  static Result<ScratchFolder> create() {
    std::error_code ec;
    std::string name = (std::filesystem::temp_directory_path(ec) / "rankscope-XXXXXX").string();
    if (ec || ::mkdtemp(name.data()) == nullptr)
      return Error{ErrorCode::kOutput, name, "cannot make a temporary folder",
                   "is TMPDIR writable?"};
    cleanup::add_path(name);
    return ScratchFolder(std::move(name));
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ec;
    if (path_.empty())
      return;
    std::filesystem::remove_all(path_, ec);
    cleanup::remove_path(path_);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

} // namespace rankscope
