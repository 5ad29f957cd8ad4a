// A folder for files that are needed as long as the object (plots before they are put into a page).
// An interrupt removes it too. Each process locks its folder (flock) until it ends. The next
// process removes unlocked folders, which killed processes left.
#pragma once

#include "base/result.h"

#include <string>
#include <utility>

namespace rankscope {

class ScratchFolder {
public:
  /// Creates a folder in `in`. If `in` is "", it uses the job's folder or the system's temporary
  /// folder.
  static Result<ScratchFolder> create(const std::string& in = "");
  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  explicit ScratchFolder(std::string path);
  std::string path_;
  int lock_ = -1;
};

/// The parent of the scratch folders of all processes of a job on one machine. The last process to
/// end removes it, even if it is interrupted (cleanup::share_folder).
class SharedScratch {
public:
  /// Creates the folder; returns "" on failure. Every process must then call enter(), also the
  /// caller.
  static std::string make();
  /// Uses the folder `path` for this process; call it before threads start. No folder is used if
  /// `path` is "" or not usable.
  static SharedScratch enter(std::string path);
  SharedScratch(SharedScratch&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}
  SharedScratch& operator=(SharedScratch&&) = delete;
  ~SharedScratch();

private:
  explicit SharedScratch(std::string path);
  std::string path_;
  int lock_ = -1;
};

} // namespace rankscope
