// Detects the end of a watched job: by a file, a process or a Slurm job.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

namespace rankscope {

class JobEnd {
public:
  /// Parses "file:PATH", "pid:N" or "job:ID". Without such a prefix, a number is a process if the
  /// process exists, else a job. Any other text is a file. Errors: kUsage.
  static Result<JobEnd> parse(const std::string& text);

  /// Returns whether the file exists, the process does not exist, or Slurm no longer lists the job.
  /// Queries Slurm at most once a minute. A query without an answer means no.
  [[nodiscard]] bool reached(std::int64_t now_ns);

private:
  enum class Kind : std::uint8_t { kFile, kProcess, kJob };
  JobEnd(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

  Kind kind_;
  std::string name_;
  std::int64_t asked_ns_ = 0; ///< time of the last Slurm query
};

} // namespace rankscope
