#include "app/watch_end.h"

#include "base/units.h"
#include "os/process.h"
#include "os/signals.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

namespace rankscope {
namespace {

std::optional<pid_t> process_id(const std::string& text) {
  constexpr std::size_t kLongest = 9;
  if (text.empty() || text.size() > kLongest ||
      !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  const int id = std::stoi(text);
  return id > 0 ? std::optional<pid_t>(id) : std::nullopt;
}

bool is_running(pid_t id) {
  return ::kill(id, 0) == 0 || errno == EPERM;
}

/// Returns whether Slurm does not know the job, or does not list it as waiting or running.
bool job_is_gone(const std::string& id) {
  ProcessSpec spec;
  spec.argv = {"squeue", "--noheader", "--jobs", id, "--format", "%T"};
  spec.out = spec.err = Stream::kCapture;
  spec.deadline = std::chrono::seconds(30);
  spec.cancel = interrupt_token();
  Result<Process> child = Process::start(std::move(spec));
  const Result<ProcessEnd> end = child ? child->wait() : Result<ProcessEnd>(child.error());
  if (!end)
    return false;
  return end->ok() ? end->out.empty() : end->err.find("Invalid job id") != std::string::npos;
}

} // namespace

Result<JobEnd> JobEnd::parse(const std::string& text) {
  const auto refused = [&](const char* what) {
    return Error{ErrorCode::kUsage, "--ended-when", "'" + text + "' " + what,
                 "give FILE, PID or JOBID, or file:PATH, pid:N, job:ID"};
  };
  const auto behind = [&](std::string_view word) -> std::optional<std::string> {
    if (!text.starts_with(word))
      return std::nullopt;
    return text.substr(word.size());
  };
  const std::optional<std::string> file = behind("file:"), process = behind("pid:"),
                                   job = behind("job:");
  if (text.empty() || (file && file->empty()) || (job && job->empty()))
    return refused("does not name a file, process or job");
  if (process && !process_id(*process))
    return refused("is not a process id");
  if (file || process || job)
    return file      ? JobEnd(Kind::kFile, *file)
           : process ? JobEnd(Kind::kProcess, *process)
                     : JobEnd(Kind::kJob, *job);
  if (const std::optional<pid_t> id = process_id(text))
    return JobEnd(is_running(*id) ? Kind::kProcess : Kind::kJob, text);
  return JobEnd(Kind::kFile, text);
}

bool JobEnd::reached(std::int64_t now_ns) {
  std::error_code ec;
  switch (kind_) {
  case Kind::kFile:
    return std::filesystem::exists(name_, ec);
  case Kind::kProcess:
    return !is_running(*process_id(name_));
  case Kind::kJob:
    if (asked_ns_ > 0 && now_ns - asked_ns_ < s_to_ns(60))
      return false;
    asked_ns_ = now_ns;
    return job_is_gone(name_);
  }
  return false;
}

} // namespace rankscope
