// A folder for files that live as long as the object (plots before they are put into a page). An
// interrupt removes it too. Each process locks its folder (flock) until it ends: the next process
// removes unlocked ones, which killed processes left.
#pragma once

#include "base/result.h"

#include <string>
#include <utility>

namespace rankscope {

class ScratchFolder {
public:
  /// Creates a folder in `in`; "" = in the system's temporary folder, or in that of the job.
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

/// The folder in which the processes of a job on one machine create theirs: the last one to end, or
/// to be ended, removes it (cleanup::share_folder).
class SharedScratch {
public:
  /// Returns "" when no folder could be made. Each process must call enter(), not only the maker.
  static std::string make();
  /// Call before threads start. "", or a folder that this process cannot use, counts as no folder.
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
