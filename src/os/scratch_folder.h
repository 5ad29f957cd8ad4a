// A folder for temporary files (for example plots before they are inserted into a page); it exists
// as long as the object. An interrupt removes it too. Each process locks its folder (flock) until
// it ends. Other processes remove unlocked folders, which killed processes left.
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

/// The parent folder of the scratch folders of all processes of a job on one machine. The last
/// process that ends removes it, also after an interrupt (cleanup::share_folder).
class SharedScratch {
public:
  /// Creates the folder; returns "" on failure. Every process, including the caller, must then call
  /// enter().
  static std::string make();
  /// Uses the folder `path` for this process. Call it before threads start. If `path` is "" or not
  /// usable, no shared folder is used.
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
