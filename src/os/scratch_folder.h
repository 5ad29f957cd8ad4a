// A folder for files that live as long as the object (plots on their way into a page); an
// interrupt removes it too, and what a killed process left is removed by the next one: each holds a
// lock on its own (flock), which ends with it.
#pragma once

#include "base/result.h"

#include <string>
#include <utility>

namespace rankscope {

class ScratchFolder {
public:
  /// Below `in`; "" = the system's folder for temporaries, or that of the job.
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

/// The folder that the processes of a job on one machine make theirs in: the last to end, or to be
/// ended, removes it (cleanup::share_folder).
class SharedScratch {
public:
  /// "" = none could be made. Not the maker alone, but each process is to call enter().
  static std::string make();
  /// Before there are threads. "", or one that is not there for this process: as without it.
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
