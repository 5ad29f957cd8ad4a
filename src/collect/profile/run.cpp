#include "collect/profile/run.h"

#include "collect/profile/library_watch.h"
#include "collect/profile/run_facts.h"
#include "collect/profile/run_log.h"
#include "os/output_file.h"
#include "os/signals.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
constexpr int kTimeoutStatus = 124; ///< the exit status of coreutils' timeout

std::chrono::milliseconds ms(double seconds) {
  // 0 would mean no limit
  return std::chrono::milliseconds(std::max<std::int64_t>(std::llround(seconds * 1000), 1));
}

void write_to(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

class Runner {
public:
  explicit Runner(RunRequest& request) : r_(request), plan_(request.plan) {}

  Result<RunResult> run() {
    RS_CHECK(make_folder(r_.out));
    RS_CHECK(make_folder(r_.out + "/logs"));
    for (const std::string& folder : plan_.folders)
      RS_CHECK(make_folder(r_.out + "/" + folder));
    for (std::size_t i = 0; i < plan_.tools.size(); ++i)
      for (const auto& [name, text] : plan_.tools[i].files) {
        RS_CHECK(write_file(r_.out + "/" + plan_.folders[i] + "/" + name, text));
      }
    RS_TRY(log_, RunLog::create(r_.out + "/run.log"));
    out_.begin = out_.end = read_clock_anchor(); // of a command that does not start
    since_ = fs::file_time_type::clock::now();
    // time stamps of file systems are coarser than the clock
    since_ -= std::chrono::milliseconds(20);
    RS_CHECK(run_baseline());
    for (const ToolEntry& tool : plan_.tools)
      before_.push_back(files_before(tool, work_folder()));
    for (const auto& native : r_.natives)
      native->prepare(plan_.env);
    std::optional<Error> no_start;
    if (begin_natives() && set_up()) {
      auto ran = run_command();
      if (!ran)
        no_start = std::move(ran.error());
    }
    tear_down();
    end_natives();
    collect();
    if (!log_->finish())
      add("", profile::IncompleteLog{r_.out + "/run.log"});
    add_run_facts(r_, out_);
    if (no_start)
      return std::move(*no_start);
    return std::move(out_);
  }

private:
  template <class Fact> void add(const std::string& tool, Fact fact) {
    out_.facts.push_back({tool, std::move(fact)});
  }

  ProcessSpec spec_for(const std::vector<std::string>& argv, bool with_tools) const {
    ProcessSpec spec;
    spec.argv = r_.container;
    if (!r_.container.empty()) {
      for (const EnvChange& e : plan_.env)
        if (with_tools && !e.unset)
          spec.argv.insert(spec.argv.end(), {"-e", e.name + "=" + e.value});
      spec.argv.push_back(r_.container_name);
    }
    spec.argv.insert(spec.argv.end(), argv.begin(), argv.end());
    spec.folder = r_.container.empty() ? r_.folder : "";
    spec.guarded = true;
    spec.grace = ms(r_.grace_s);
    spec.forward_signal = true;
    if (with_tools && r_.container.empty())
      for (const EnvChange& e : plan_.env) {
        if (e.unset)
          spec.unset_env.push_back(e.name);
        else
          spec.set_env.emplace_back(e.name, e.value);
      }
    return spec;
  }

  Result<void> run_baseline() {
    for (int i = 0; i < r_.baseline && !cancelled(); ++i) {
      ProcessSpec spec = spec_for(plan_.command, false);
      spec.our_input = false;
      spec.out = Stream::kFile;
      spec.out_file = fmt::format("{}/logs/baseline_{}.log", r_.out, i + 1);
      spec.err = Stream::kLikeOut;
      spec.cancel = r_.cancel;
      if (r_.timeout_s > 0)
        spec.deadline = ms(r_.timeout_s);
      RS_TRY(const ProcessEnd end, run_process(std::move(spec)));
      if (end.ok())
        out_.baseline_s.push_back(end.seconds);
      else
        add("", profile::FailedBaseline{end.describe()});
    }
    return {};
  }

  bool begin_natives() {
    for (const auto& native : r_.natives) {
      const Result<void> begun = native->begin();
      if (begun)
        continue;
      for (const std::string& name : native->names())
        failed_.push_back(name);
      out_.tool_failed = true;
      add(names_of(*native), profile::ToolNotStarted{begun.error().message()});
      dead_.push_back(native.get());
      if (!r_.keep_going)
        return false;
    }
    return true;
  }

  /// Runs the set-up scripts from the outermost tool inwards. Returns false when the command must
  /// not run.
  bool set_up() {
    for (const PlanStep& step : plan_.pre) {
      reached_ = std::min(reached_, step.layer);
      context_reached_ = context_reached_ || step.layer == plan_.tools.size();
      if (run_step(step, "pre", true))
        continue;
      const StepResult& s = out_.steps.back();
      out_.tool_failed = true;
      failed_.push_back(step.tool);
      add(step.tool, profile::FailedScript{true, s.status, last_lines(s.log, 20), s.log});
      if (cancelled() || !r_.keep_going)
        return false;
    }
    reached_ = 0;
    context_reached_ = true;
    return !cancelled();
  }

  bool run_step(const PlanStep& step, const char* phase, bool watch) {
    StepResult s;
    s.phase = phase;
    s.tool = step.tool;
    s.argv = step.argv;
    s.log = fmt::format("{}/logs/{:02}_{}_{}.log", r_.out, out_.steps.size() + 1, phase,
                        step.tool.empty() ? "context" : step.tool);
    ProcessSpec spec = spec_for(step.argv, true);
    spec.out = Stream::kFile;
    spec.out_file = s.log;
    spec.err = Stream::kLikeOut;
    spec.lingers = true; // a later script stops a sampler that this one starts
    spec.deadline = ms(step.timeout_s);
    if (watch)
      spec.cancel = r_.cancel;
    Result<Process> child = Process::start(std::move(spec));
    if (!child) {
      s.status = child.error().message();
    } else {
      const Result<ProcessEnd> end = child->wait_child();
      s.status = !end ? end.error().message() : end->ok() ? "ok" : end->describe();
      s.ok = end && end->ok();
      s.seconds = end ? end->seconds : 0;
      lingering_.push_back(std::make_unique<Process>(std::move(*child)));
    }
    out_.steps.push_back(std::move(s));
    return out_.steps.back().ok;
  }

  void phase(RunPhase next) {
    for (const auto& native : r_.natives)
      if (!dead(native.get()))
        native->phase(next);
  }

  void on_bytes(std::size_t stream, std::string_view bytes) {
    const double t_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (r_.to_error && stream == 1 && hider_ == nullptr)
      write_to(STDERR_FILENO, bytes);
    log_->add(stream, bytes, t_s);
    for (const auto& native : r_.natives)
      if (!dead(native.get()))
        native->on_output(stream, bytes, t_s);
    show(stream, false);
  }

  /// Writes the text of a stream that remains after the hiding tool removed its lines.
  void show(std::size_t stream, bool last) const {
    if (hider_ != nullptr)
      write_to(stream == 1 && !r_.to_error ? STDOUT_FILENO : STDERR_FILENO,
               hider_->shown(stream, last));
  }
  [[nodiscard]] NativeTool* find_hider() const {
    for (const auto& native : r_.natives)
      if (native->hides() && !dead(native.get()))
        return native.get();
    return nullptr;
  }

  Result<void> run_command() {
    ProcessSpec spec = spec_for(plan_.argv, true);
    spec.our_input = true;
    spec.out = spec.err = Stream::kPipe;
    hider_ = find_hider();
    spec.echo_out = !r_.to_error && hider_ == nullptr;
    spec.echo_err = hider_ == nullptr;
    spec.on_out = [this](std::string_view bytes) { on_bytes(1, bytes); };
    spec.on_err = [this](std::string_view bytes) { on_bytes(2, bytes); };
    spec.cancel = r_.cancel;
    if (r_.timeout_s > 0)
      spec.deadline = ms(r_.timeout_s);
    phase(RunPhase::kRun);
    start_ = std::chrono::steady_clock::now();
    const ClockAnchor begin = read_clock_anchor();
    RS_TRY(Process child, Process::start(std::move(spec)));
    out_.launched = true;
    LibraryWatch watch(child.pid(), watched_libraries(plan_));
    RS_TRY(const ProcessEnd end, child.wait());
    out_.begin = begin;
    out_.end = read_clock_anchor();
    show(1, true);
    show(2, true);
    seen_ = watch.stop();
    phase(RunPhase::kPost);
    note_end(end);
    return {};
  }

  void note_end(const ProcessEnd& end) {
    out_.seconds = end.seconds;
    out_.ended = end.describe();
    out_.exit_status = end.signal != 0 ? 128 + end.signal : end.exit_code;
    // a shell around the command reports this too
    const bool killed = out_.exit_status == 128 + SIGKILL;
    if (end.timed_out) {
      out_.exit_status = kTimeoutStatus;
      add("", profile::Timeout{r_.timeout_s});
    } else if (end.cancelled && (out_.exit_status == 0 || killed)) {
      out_.exit_status = 128 + (interrupt_signal() != 0 ? interrupt_signal() : SIGINT);
    }
    if (end.killed > 0)
      add("", profile::KilledProcesses{static_cast<std::size_t>(end.killed), r_.grace_s});
    if (end.left_behind > 0)
      add("", profile::LeftProcesses{static_cast<std::size_t>(end.left_behind)});
  }

  /// Runs the tear-down scripts from the innermost tool outwards, for tools whose set-up began.
  void tear_down() {
    for (const PlanStep& step : plan_.post) {
      const bool in_context = step.layer == plan_.tools.size();
      if (in_context ? !context_reached_ : step.layer < reached_)
        continue;
      if (run_step(step, "post", false))
        continue;
      const StepResult& s = out_.steps.back();
      out_.tool_failed = true;
      add(step.tool, profile::FailedScript{false, s.status, last_lines(s.log, 20), s.log});
    }
    bool left = false;
    for (const auto& process : lingering_) {
      const Result<ProcessEnd> end = process->wait();
      left = left || (end && end->left_behind > 0);
    }
    if (left)
      add("", profile::LeftProcesses{});
  }

  void end_natives() {
    for (const auto& native : r_.natives) {
      if (dead(native.get()))
        continue;
      if (const Result<void> ended = native->end(out_.facts, out_.metrics); !ended) {
        out_.tool_failed = true;
        add(names_of(*native), profile::UnfinishedTool{ended.error().message()});
      }
    }
  }

  void collect() {
    for (std::size_t i = 0; i < plan_.tools.size(); ++i) {
      const ToolEntry& tool = plan_.tools[i];
      ToolResult t;
      t.name = tool.name;
      t.outputs =
          collect_outputs(tool, r_.out + "/" + plan_.folders[i], work_folder(), since_, before_[i]);
      for (const auto& native : r_.natives)
        count_by(*native, t);
      const bool failed = std::find(failed_.begin(), failed_.end(), tool.name) != failed_.end();
      const bool empty = !tool.produces.empty() && t.outputs.empty();
      t.status = failed ? "failed" : !out_.launched ? "not run" : empty ? "empty" : "ok";
      if (t.status == "empty") {
        out_.tool_failed = true;
        if (std::none_of(out_.facts.begin(), out_.facts.end(), [&](const ProfileFact& f) {
              return f.tool == tool.name && f.is<profile::SteppedAside>();
            }))
          out_.facts.push_back(empty_fact(r_, tool, t, out_, seen_));
      } else if (t.status == "ok" && !t.outputs.missing.empty()) {
        out_.tool_failed = true;
        add(tool.name, profile::MissingOutput{t.outputs.missing});
      }
      out_.tools.push_back(std::move(t));
    }
  }

  static std::string names_of(const NativeTool& native) {
    return fmt::format("{}", fmt::join(native.names(), ", "));
  }

  [[nodiscard]] std::string work_folder() const {
    std::error_code ec;
    return r_.folder.empty() ? fs::current_path(ec).string() : r_.folder;
  }

  /// Sets the tool's number of records, for tools that share one table.
  static void count_by(const NativeTool& native, ToolResult& t) {
    const auto names = native.names();
    if (std::find(names.begin(), names.end(), t.name) == names.end())
      return;
    if (const auto records = native.records(t.name))
      for (OutputFound& f : t.outputs.files)
        f.records = *records;
  }

  [[nodiscard]] bool dead(const NativeTool* tool) const {
    return std::find(dead_.begin(), dead_.end(), tool) != dead_.end();
  }
  [[nodiscard]] bool cancelled() const { return r_.cancel && r_.cancel->cancelled(); }

  RunRequest& r_;
  Plan& plan_;
  RunResult out_;
  std::optional<RunLog> log_;
  fs::file_time_type since_;
  std::vector<std::vector<std::string>> before_; ///< files_before() of each tool
  std::chrono::steady_clock::time_point start_;
  std::vector<std::unique_ptr<Process>> lingering_;
  std::vector<const NativeTool*> dead_;
  /// The tool that filters the command's output; nullptr = the output is shown unchanged.
  NativeTool* hider_ = nullptr;
  std::vector<std::string> failed_;
  SeenLibraries seen_;
  std::size_t reached_ = static_cast<std::size_t>(-1); ///< innermost layer whose set-up began
  bool context_reached_ = false;
};

} // namespace

Result<RunResult> run_plan(RunRequest& request) {
  return Runner(request).run();
}

} // namespace rankscope
