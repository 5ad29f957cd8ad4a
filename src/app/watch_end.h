// When a watched job has ended: by a file, a process or a job of Slurm.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

namespace rankscope {

class JobEnd {
public:
  /// "file:PATH", "pid:N" or "job:ID"; without such a beginning a number is a process when there
  /// is one, else a job, and anything else a file. Errors: kUsage.
  static Result<JobEnd> parse(const std::string& text);

  /// Whether the file is there, the process is not, or Slurm no longer lists the job (asked at most
  /// once a minute). A question that has no answer means no.
  [[nodiscard]] bool reached(std::int64_t now_ns);

private:
  enum class Kind : std::uint8_t { kFile, kProcess, kJob };
  JobEnd(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

  Kind kind_;
  std::string name_;
  std::int64_t asked_ns_ = 0; ///< Slurm, last
};

} // namespace rankscope
