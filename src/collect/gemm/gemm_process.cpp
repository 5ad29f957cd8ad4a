#include "collect/gemm/gemm_process.h"

#include "base/ascii.h"
#include "collect/gemm/gemm_runner.h"
#include "collect/library_trace/log_text.h"
#include "os/process.h"

#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::string_view kFront = "rankscope-gemm ";

const char* status_of(const Error& error) {
  switch (error.code) {
  case ErrorCode::kMissingTool:
    return "missing";
  case ErrorCode::kUsage:  // not supported by the library
  case ErrorCode::kOutput: // not enough memory
    return "unsupported";
  default:
    return "failed";
  }
}

std::string line(std::string_view key, std::string_view value) {
  std::string out = fmt::format("{}{} {}\n", kFront, key, value);
  for (std::size_t i = 0; i + 1 < out.size(); ++i)
    if (out[i] == '\n' || out[i] == '\r')
      out[i] = ' ';
  return out;
}

Result<void> measure_and_tell(const GemmProblem& problem, const GemmRunOptions& options,
                              const std::function<void(std::string_view)>& tell) {
  RS_TRY(const auto runner, GemmRunner::open(problem.family, options.libraries));
  tell(line("vendor", runner->vendor()));
  tell(line("device", runner->device()));
  tell(line("architecture", runner->architecture()));
  tell(line("backend", runner->backend()));
  RS_CHECK(runner->prepare(problem));
  if (options.warm_up > 0)
    if (const auto warm = runner->run(options.warm_up); !warm)
      return warm.error();
  for (unsigned i = 0; i < options.repeats; ++i) {
    RS_TRY(const double us, runner->run(options.iters));
    tell(line("time_us", fmt::format("{:.9g}", us)));
  }
  return {};
}

/// Returns "signal 11 (SIGSEGV)" for 11.
std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal)
                         : fmt::format("signal {} (SIG{})", signal, name);
}

} // namespace

void measure_gemm_here(const GemmProblem& problem, const GemmRunOptions& options,
                       const std::function<void(std::string_view)>& tell) {
  if (const auto done = measure_and_tell(problem, options, tell); !done) {
    tell(line("detail", done.error().message()));
    tell(line("status", status_of(done.error())));
  } else {
    tell(line("status", "ok"));
  }
}

GemmOutcome parse_gemm_outcome(std::string_view output) {
  GemmOutcome out;
  for (std::string_view text : split(output, '\n')) {
    // a library may have printed a line without a line end
    const std::size_t at = text.find(kFront);
    if (at == std::string_view::npos)
      continue;
    text.remove_prefix(at + kFront.size());
    const std::string key(next_word(text));
    const std::string_view value = trimmed(text);
    if (key == "time_us") {
      const auto us = to_number<double>(value);
      if (us && std::isfinite(*us) && *us > 0)
        out.times_us.push_back(*us);
    } else if (key == "status") {
      out.status = value;
    } else if (key == "detail") {
      out.detail = value;
    } else if (key == "vendor") {
      out.vendor = value;
    } else if (key == "device") {
      out.device = value;
    } else if (key == "architecture") {
      out.architecture = value;
    } else if (key == "backend") {
      out.backend = value;
    }
  }
  if (out.status == "ok" && out.times_us.empty()) {
    out.status = "failed";
    out.detail = "it reported no time";
  }
  return out;
}

const std::vector<std::string>& logging_variables() {
  static const std::vector<std::string> kNames = {
      "ROCBLAS_LAYER",         "HIPBLASLT_LOG_MASK",       "HIPBLASLT_LOG_LEVEL",
      "HIPBLASLT_LOG_FILE",    "CUBLASLT_LOG_LEVEL",       "CUBLASLT_LOG_MASK",
      "CUBLAS_LOGINFO_DBG",    "CUBLAS_LOGDEST_DBG",       "TENSILE_DB",
      "MIOPEN_ENABLE_LOGGING", "MIOPEN_ENABLE_LOGGING_CMD"};
  return kNames;
}

GemmOutcome measure_gemm(const GemmProblem& problem, const GemmRunOptions& options) {
  ProcessSpec spec;
  spec.argv = {options.program,  "library-perf",
               "--measure-gemm", to_text(problem),
               "--iters",        fmt::format("{}", options.iters),
               "--warm-up",      fmt::format("{}", options.warm_up),
               "--repeats",      fmt::format("{}", options.repeats)};
  if (!options.libraries.empty()) {
    spec.argv.emplace_back("--libraries");
    spec.argv.push_back(options.libraries);
  }
  // logging would be part of the measured time
  spec.unset_env = logging_variables();
  spec.out = spec.err = Stream::kCapture;
  spec.deadline = options.timeout;
  spec.cancel = options.cancel;
  const auto end = run_process(std::move(spec));
  if (!end)
    return {"failed", end.error().message(), {}, "", "", "", ""};
  GemmOutcome out = parse_gemm_outcome(end->out);
  if (end->ok() && !out.status.empty()) {
    if (out.status != "ok")
      out.times_us.clear();
    return out;
  }
  out.times_us.clear();
  out.status = end->cancelled ? "skipped" : "failed";
  const std::string how = end->signal != 0 && !end->timed_out
                              ? "the library ended the process with " + signal_name(end->signal)
                              : end->describe();
  out.detail = out.backend.empty() ? how : fmt::format("{}: {}", out.backend, how);
  return out;
}

} // namespace rankscope
