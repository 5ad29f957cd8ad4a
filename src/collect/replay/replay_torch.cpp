#include "base/json_writer.h"
#include "collect/gemm/gemm_process.h"
#include "collect/library_trace/log_text.h"
#include "collect/python_script.h"
#include "collect/replay/replay_run.h"
#include "os/process.h"

#include <cmath>
#include <fmt/format.h>

namespace rankscope {

extern const char kReplayTorchScript[];

namespace {

constexpr std::string_view kReplayTorchFront = "rankscope-replay ";

std::string request_text(const ReplayCall& call, const ReplayRunOptions& options) {
  JsonWriter out;
  out.begin_object();
  out.text("name", call.name);
  out.text("dims", call.dims);
  out.text("types", call.types);
  out.text("strides", call.strides);
  out.text("concrete", call.concrete);
  out.integer("warm_up", static_cast<std::int64_t>(options.torch_warm_up));
  out.integer("calls", static_cast<std::int64_t>(options.torch_calls));
  out.end_object();
  return out.take();
}

ReplayTime run_one(const std::string& python, const ReplayCall& call,
                   const ReplayRunOptions& options) {
  ProcessSpec spec;
  spec.argv = python_script_argv(python, kReplayTorchScript);
  spec.input = request_text(call, options);
  spec.unset_env = logging_variables();
  spec.guarded = true;
  spec.out = spec.err = Stream::kCapture;
  spec.deadline = options.timeout;
  spec.cancel = options.cancel;
  const auto end = run_process(std::move(spec));
  if (!end)
    return {std::nullopt, end.error().code == ErrorCode::kMissingTool ? "missing" : "failed",
            end.error().message(), ""};
  ReplayTime out = parse_torch_outcome(end->out);
  if (!end->ok() || out.status.empty() || (out.status == "ok" && !out.us)) {
    const std::string said = last_line(end->err);
    out.status = end->cancelled ? "skipped" : "failed";
    out.detail = fmt::format("{}{}{}", end->ok() ? "it reported no time" : end->describe(),
                             said.empty() ? "" : ": ", said);
  }
  if (out.status != "ok")
    out.us.reset();
  out.runner = "torch";
  return out;
}

} // namespace

ReplayTime parse_torch_outcome(std::string_view output) {
  ReplayTime out;
  while (!output.empty()) {
    const std::size_t end = output.find('\n');
    std::string_view line = output.substr(0, end);
    output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
    if (!line.starts_with(kReplayTorchFront))
      continue;
    line.remove_prefix(kReplayTorchFront.size());
    const std::string key(next_word(line));
    const std::string_view value = trimmed(line);
    if (key == "status")
      out.status = value;
    else if (key == "detail")
      out.detail = value;
    else if (key == "time_us")
      out.us = to_number<double>(value);
  }
  if (out.us && !(std::isfinite(*out.us) && *out.us > 0))
    out.us.reset();
  for (const char* const known : {"ok", "missing", "unsupported", "failed"})
    if (out.status == known)
      return out;
  out.status.clear();
  return out;
}

std::vector<ReplayTime> replay_torch(std::span<const ReplayCall> calls,
                                     const ReplayRunOptions& options,
                                     const ReplayProgress& progress) {
  std::vector<ReplayTime> out(calls.size());
  std::string python = options.python;
  if (options.runner == ReplayRunner::kTorch && python.empty())
    python = "python3";
  const bool asked = options.runner == ReplayRunner::kTorch ||
                     (options.runner == ReplayRunner::kAuto && !python.empty());
  if (!asked)
    return out;
  std::string missing; // why PyTorch is missing; set by the first call that does not find it
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!missing.empty())
      out[i] = {std::nullopt, "missing", missing, "torch"};
    else if (options.cancel.cancelled())
      out[i] = {std::nullopt, "skipped", "not measured, because the command was interrupted",
                "torch"};
    else
      out[i] = run_one(python, calls[i], options);
    if (out[i].status == "missing")
      missing = out[i].detail;
    progress(i + 1, out[i]);
  }
  return out;
}

} // namespace rankscope
