#include "app/sweep.h"

#include "app/repeated_settings.h"
#include "app/sweep_energy.h"
#include "app/sweep_metrics.h"
#include "app/sweep_tuner.h"
#include "base/sort.h"
#include "base/time_text.h"
#include "collect/log_metric.h"
#include "collect/secrets.h"
#include "engine/quiet_session.h"
#include "findings/run_check_findings.h"
#include "findings/setting_findings.h"
#include "os/folder_lock.h"
#include "os/output_file.h"
#include "os/signals.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <random>
#include <thread>
#include <tuple>
#include <utility>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Returns the time in the file names of an earlier sweep in this folder; "" = no earlier sweep.
std::string earlier_timestamp(const std::string& folder, SweepKind kind) {
  constexpr std::size_t kStamp = 15; // 20251124_222204
  constexpr std::size_t kTail = kStamp + 4;
  std::error_code ec;
  std::string out;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    const std::string name = entry.path().filename().string();
    if (name.size() < kTail)
      continue;
    const std::string stamp = name.substr(name.size() - kTail, kStamp);
    if (name == log_name(kind, stamp) && (out.empty() || stamp < out))
      out = stamp;
  }
  return out;
}

std::vector<std::size_t> order_of(const SweepRequest& request, std::int64_t repeat) {
  std::vector<std::size_t> out(request.settings.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  if (!request.shuffle)
    return out;
  std::mt19937_64 random(request.seed + static_cast<std::uint64_t>(repeat));
  for (std::size_t i = out.size(); i > 1; --i) // std::shuffle's order is not portable
    std::swap(out[i - 1], out[random() % i]);
  return out;
}

std::string span_text(double seconds) {
  if (seconds < 90)
    return fmt::format("{:.0f} s", seconds);
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60)
                        : fmt::format("{:.1f} h", seconds / 3600);
}

class Sweep {
public:
  Sweep(Session& ctx, const SweepRequest& request, const SweepPlan& plan)
      : ctx_(ctx), request_(request), plan_(plan), run_options_(request.run),
        log_(plan.folder + "/" + log_name(request.kind, plan.timestamp)),
        earlier_(earlier_rows(plan.folder, plan.runs)), left_(request.settings.size()),
        warm_(request.settings.size(), false) {
    std::iota(left_.begin(), left_.end(), std::size_t{0});
    run_options_.describe = [](const std::string& run, const RunCheck& check) {
      return sentences_of(run_check_findings(run, check));
    };
    for (const PlannedRun& run : plan.runs)
      rows_.push_back({&run, &request.settings[run.setting], std::nullopt, std::nullopt, {}});
  }

  Result<FinishedSweep> go() {
    if (!request_.metric.empty()) {
      RS_TRY(metric_, parse_log_metric(request_.metric));
    }
    {
      // the first signal ends the current run; then the results so far are written
      const InterruptGrace grace(request_.run.grace + std::chrono::seconds(20));
      RS_CHECK(run_all());
      if (interrupted())
        return finish();
    }
    return finish(); // if it analyses, a signal ends it like rankscope analyze
  }

private:
  void say(const std::string& text) {
    log_.line(text);
    ctx_.note(text);
  }
  void warn(const std::string& text) {
    log_.line("warning: " + text);
    ctx_.warn(text);
  }
  [[nodiscard]] bool interrupted() const { return request_.run.cancel.cancelled(); }

  Result<void> run_all() {
    say(fmt::format("{}: {} runs of {} settings", plan_.folder, rows_.size(),
                    request_.settings.size()));
    if (request_.environment.library_log)
      for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"})
        if (const char* value = std::getenv(name);
            value != nullptr) // NOLINT(concurrency-mt-unsafe)
          say(fmt::format("{}={} of your environment is replaced; --no-nccl-log keeps it", name,
                          value));
    for (const std::string& note : request_.notes)
      say(note);
    RS_CHECK(write_manifest("running"));
    if (request_.search)
      return search();
    for (std::size_t i = 0; i < rows_.size() && !stopped_; ++i)
      RS_CHECK(run_row(i));
    return {};
  }

  /// Runs the warm-up runs of a setting, before its first run.
  Result<void> warm_up(std::size_t setting) {
    std::error_code ec;
    for (const PlannedRun& run : plan_.warmups) {
      if (interrupted() || run.setting != setting || warm_[setting])
        continue;
      fs::remove_all(run.folder, ec);
      say(fmt::format("warm-up with {}", run.label));
      RS_TRY(const RunOutcome outcome, run_setting(run, request_.settings[setting], run_options_));
      if (outcome.status != RunStatus::kSuccess)
        warn(fmt::format("warm-up: {}; see {}/run_output.log", outcome.problem, run.folder));
    }
    warm_[setting] = true;
    return {};
  }

  /// Reads energy and metric of a run. An incomplete log has no metric: the lines that are lost may
  /// differ from the others.
  void measure(SummaryRow& row) const {
    if (row.outcome->status != RunStatus::kSuccess)
      return;
    add_run_energy(row);
    const bool is_complete = row.outcome->check.lost_output.empty();
    ctx_.partial = ctx_.partial || !is_complete;
    if (metric_ && is_complete)
      row.metric = metric_of_log(row.run->folder + "/run_output.log", *metric_);
  }

  /// Returns whether to skip the run; the reason is in its row.
  Result<bool> done_before(SummaryRow& row) {
    const std::string manifest = row.run->folder + "/manifest.json";
    std::error_code ec;
    if (request_.skip_existing && fs::is_directory(row.run->folder, ec) &&
        !fs::exists(manifest, ec)) {
      row.outcome = RunOutcome{};
      row.outcome->status = RunStatus::kSkipped;
      return true;
    }
    const std::string aside =
        plan_.folder + "/.rankscope/aside" + row.run->folder.substr(plan_.folder.size());
    RS_TRY(const EarlierRun earlier, clear_place(*row.run, aside, request_.redo));
    switch (earlier.kind) {
    case Earlier::kNothing:
      return false;
    case Earlier::kMovedAside:
      say(fmt::format("{}: an earlier run ({}) was moved to {}", row.run->label,
                      !earlier.why.empty() ? earlier.why
                      : request_.redo      ? "--redo"
                                           : "not finished",
                      earlier.aside));
      return false;
    case Earlier::kOther:
      return Error{
          ErrorCode::kUsage, row.run->folder,
          fmt::format("contains a finished run of another command or environment: {}", earlier.why),
          "choose another -o, or --redo (the old run is moved aside)"};
    case Earlier::kFinished:
      break;
    }
    row.outcome = RunOutcome{};
    row.outcome->status = RunStatus::kSuccess;
    row.outcome->exit_code = 0;
    row.outcome->seconds = earlier.saved.seconds;
    row.outcome->findings = earlier.saved.findings;
    row.outcome->took_effect = earlier.saved.took_effect;
    row.outcome->check.lost_output = earlier.saved.lost_output;
    row.outcome->energy = earlier.saved.energy;
    measure(row);
    return true;
  }

  /// Returns an estimate of the time of the runs from this one on; of a search, an upper bound.
  [[nodiscard]] std::string time_left(std::size_t at) const {
    if (timed_ == 0)
      return "";
    const auto runs = std::count_if(
        rows_.begin() + static_cast<std::ptrdiff_t>(at), rows_.end(), [&](const SummaryRow& row) {
          return std::ranges::find(left_, row.run->setting) != left_.end();
        });
    const double each = seconds_ / static_cast<double>(timed_);
    const double seconds = each * static_cast<double>(runs);
    if (!request_.search)
      return fmt::format(", about {} left", span_text(seconds));
    const std::chrono::duration<double> budget =
        begin_ + request_.budget - std::chrono::steady_clock::now();
    return fmt::format(", at most about {} left",
                       span_text(request_.budget.count() > 0
                                     ? std::clamp(budget.count(), each, std::max(each, seconds))
                                     : seconds));
  }

  Result<void> run_row(std::size_t at) {
    SummaryRow& row = rows_[at];
    if (interrupted()) {
      stopped_ = true;
      return {};
    }
    const std::string head = fmt::format("[{}/{}] {}", at + 1, rows_.size(), row.run->label);
    RS_TRY(const bool done, done_before(row));
    if (done) {
      say(head + (row.outcome->status == RunStatus::kSkipped ? ": SKIPPED, its folder exists"
                                                             : ": done in an earlier run"));
      return {};
    }
    RS_CHECK(warm_up(row.run->setting));
    say(fmt::format("{}: begins{}", head, time_left(at)));
    RS_TRY(row.outcome, run_setting(*row.run, *row.setting, run_options_));
    measure(row);
    const RunOutcome& outcome = *row.outcome;
    if (outcome.status == RunStatus::kSuccess) {
      seconds_ += outcome.seconds + std::chrono::duration<double>(request_.pause).count();
      ++timed_;
      say(fmt::format("{}: SUCCESS in {:.1f} s", head, outcome.seconds));
    } else {
      ctx_.partial = true;
      warn(fmt::format("{}: {}; see {}/run_output.log", head, outcome.problem, row.run->folder));
      stopped_ =
          !(request_.keep_going || request_.search) || outcome.status == RunStatus::kInterrupted;
    }
    for (const std::string& finding : outcome.findings)
      warn(fmt::format("{}: {}", row.run->label, finding));
    RS_CHECK(write_manifest("running"));
    if (request_.analyze && !request_.search && outcome.status == RunStatus::kSuccess &&
        at + 1 < rows_.size() && !interrupted())
      (void)analyze_meanwhile();
    for (auto left = request_.pause; left.count() > 0 && !interrupted() && at + 1 < rows_.size();
         left -= std::chrono::milliseconds(50))
      std::this_thread::sleep_for(std::min(left, std::chrono::milliseconds(50)));
    return {};
  }

  [[nodiscard]] AnalyzeRequest analysis() const {
    AnalyzeRequest shared;
    shared.report = sweep_report_options();
    return requests_for(shared, {{plan_.folder, ""}}, "", true).front();
  }

  /// Returns whether the library used the setting in each run so far.
  [[nodiscard]] bool took_effect(std::size_t setting) const {
    return std::ranges::none_of(rows_, [setting](const SummaryRow& row) {
      return row.run->setting == setting && row.outcome && !row.outcome->took_effect;
    });
  }

  /// Returns whether the run counts for its setting: it succeeded, and the library used the
  /// setting in each run.
  [[nodiscard]] bool counts(const SummaryRow& row) const {
    return row.outcome && row.outcome->status == RunStatus::kSuccess &&
           took_effect(row.run->setting);
  }

  /// Calls analyze_sweep() without the traces of runs for which counts() is false.
  Result<AnalyzedSweep> analyse(Session& session, const AnalyzeRequest& request) const {
    RS_TRY(std::vector<RunPlan> plans,
           discover_sweep(request.folder, request.discover, session.diagnostics));
    std::vector<std::string> left_out;
    for (const SummaryRow& row : rows_)
      if (row.outcome && !counts(row))
        left_out.push_back(row.run->folder + "/");
    const auto is_left_out = [&left_out](const RankFile& file) {
      const std::string path = fs::absolute(file.path).lexically_normal().string();
      return std::any_of(left_out.begin(), left_out.end(),
                         [&path](const std::string& folder) { return path.starts_with(folder); });
    };
    std::erase_if(
        plans, [&](const RunPlan& plan) { return std::ranges::any_of(plan.ranks, is_left_out); });
    if (plans.empty())
      return Error{ErrorCode::kUnreadable, request.folder,
                   "no successful run that used its setting wrote traces", ""};
    return analyze_plans(session, request, std::move(plans));
  }

  /// Analyses the runs so far; only new configurations cost time.
  std::optional<AnalyzedSweep> analyze_meanwhile() {
    QuietSession session; // the last analysis repeats its notes
    session.threads = ctx_.threads;
    AnalyzeRequest request = analysis();
    request.plots = false;
    Result<AnalyzedSweep> done = analyse(session, request);
    if (done)
      return std::move(*done);
    say("the analysis of the finished runs failed: " + done.error().message());
    return std::nullopt;
  }

  /// Returns the metrics of the runs that count, per setting.
  [[nodiscard]] std::vector<RepeatedSetting> metrics_of_logs() const {
    std::vector<RepeatedSetting> out;
    for (const SweepSetting& setting : request_.settings)
      out.push_back({setting.configuration.label, {}});
    for (const SummaryRow& row : rows_)
      if (counts(row) && row.metric)
        out[row.run->setting].runs[std::max<std::int64_t>(row.run->repeat, 1)] = *row.metric;
    return out;
  }

  /// Returns the settings that the library did not use in at least one run.
  [[nodiscard]] std::vector<std::string> not_effective() const {
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < request_.settings.size(); ++i)
      if (!took_effect(i))
        labels.push_back(request_.settings[i].configuration.label);
    return labels;
  }

  /// If settings do different work per step, stores the finding that they are not ranked.
  void note_work(const RepeatedMetrics& repeated, const std::vector<Finding>& findings) {
    if (!repeated.same_work)
      not_ranked_ = not_ranked_finding(findings);
  }

  /// Returns the value in this round for each remaining setting.
  Result<std::vector<std::optional<double>>> round_values(std::int64_t round) {
    std::vector<RepeatedSetting> all;
    if (metric_) {
      all = metrics_of_logs();
    } else if (const std::optional<AnalyzedSweep> so_far = analyze_meanwhile()) {
      RepeatedMetrics repeated = repeated_settings(so_far->facts.records, request_.settings);
      all = std::move(repeated.settings);
      unit_ = repeated.unit;
      note_work(repeated, so_far->facts.findings);
    }
    std::vector<std::optional<double>> out;
    bool any = false;
    for (const std::size_t setting : left_) {
      out.emplace_back();
      const std::string& label = request_.settings[setting].configuration.label;
      for (const RepeatedSetting& known : all)
        if (const auto run = known.runs.find(round);
            known.label == label && run != known.runs.end())
          out.back() = request_.higher_is_better ? -run->second : run->second;
      any = any || out.back();
    }
    if (!any)
      return Error{ErrorCode::kUnreadable, plan_.folder, "no run of this round has a metric",
                   "write traces below $RANKSCOPE_RUN_DIR, or name a printed metric with --metric"};
    return out;
  }

  Result<void> search() {
    Race race(request_.settings.size(), request_.default_setting,
              static_cast<std::size_t>(request_.repeats));
    begin_ = std::chrono::steady_clock::now();
    for (std::int64_t round = 1; !race.over() && !stopped_; ++round) {
      const auto round_begin = std::chrono::steady_clock::now();
      left_ = race.left();
      for (std::size_t i = 0; i < rows_.size() && !stopped_; ++i)
        if (rows_[i].run->repeat == round &&
            std::ranges::find(left_, rows_[i].run->setting) != left_.end())
          RS_CHECK(run_row(i));
      if (stopped_)
        break;
      if (!took_effect(request_.default_setting)) {
        say("the search ends: its default is left out");
        break;
      }
      const auto values = round_values(round);
      if (!values) {
        warn(values.error().message());
        ctx_.partial = true;
        break;
      }
      if (not_ranked_)
        break;
      race.add_round(*values);
      const RaceOutcome outcome = race.outcome();
      say(fmt::format("round {}: {} of {} settings are left, {}", round, race.left().size(),
                      request_.settings.size(),
                      outcome.shared == 0
                          ? "the default has no value"
                          : request_.settings[outcome.leader].configuration.label + " leads"));
      const auto now = std::chrono::steady_clock::now();
      if (request_.budget.count() > 0 && now - begin_ + (now - round_begin) > request_.budget) {
        say("the next round would exceed the time limit (--budget)");
        break;
      }
    }
    std::vector<std::string> labels;
    for (const SweepSetting& setting : request_.settings)
      labels.push_back(setting.configuration.label);
    if (not_ranked_)
      search_finding_ = not_ranked_;
    else if (took_effect(request_.default_setting))
      search_finding_ = search_finding(race, labels, request_.default_setting,
                                       {unit_, request_.higher_is_better});
    // runs that the race left out do not belong to the sweep
    std::erase_if(rows_, [](const SummaryRow& row) { return !row.outcome; });
    return {};
  }

  [[nodiscard]] std::size_t successes() const {
    return static_cast<std::size_t>(std::ranges::count_if(rows_, [](const SummaryRow& row) {
      return row.outcome && row.outcome->status == RunStatus::kSuccess;
    }));
  }

  /// Analyses the sweep; adds its findings, and the step times of runs as their metrics.
  void analyse_all(FinishedSweep& out) {
    Result<AnalyzedSweep> done = analyse(ctx_, analysis());
    if (!done) {
      warn("analysis: " + done.error().message());
      ctx_.partial = true;
      return;
    }
    out.analysis = std::move(*done);
    out.findings = out.analysis->facts.findings;
    const auto repeated = repeated_settings(out.analysis->facts.records, request_.settings);
    note_work(repeated, out.findings);
    if (request_.repeats > 1 && !not_ranked_)
      out.findings = compared(repeated.settings, repeated.unit);
    if (!metric_)
      for (SummaryRow& row : rows_)
        if (const auto& runs = repeated.settings[row.run->setting].runs;
            counts(row) && runs.contains(std::max<std::int64_t>(row.run->repeat, 1)))
          row.metric = runs.at(std::max<std::int64_t>(row.run->repeat, 1));
  }

  [[nodiscard]] std::vector<Finding> compared(const std::vector<RepeatedSetting>& settings,
                                              const std::string& unit) const {
    return setting_findings(settings, {unit, metric_ && request_.higher_is_better});
  }

  /// Adds the findings about the energy of settings: per profiler step if each run with energy has
  /// step energy, else per run. Steps with different work are not compared.
  void compare_energy(FinishedSweep& out) const {
    bool stepped = true;
    bool any = false;
    for (const SummaryRow& row : rows_)
      if (counts(row) && row.joules) {
        any = true;
        stepped = stepped && row.joules_per_step;
      }
    if (!any || (stepped && not_ranked_))
      return;
    std::vector<RepeatedSetting> settings;
    for (const SweepSetting& setting : request_.settings)
      settings.push_back({setting.configuration.label, {}});
    for (const SummaryRow& row : rows_)
      if (counts(row) && row.joules)
        settings[row.run->setting].runs[std::max<std::int64_t>(row.run->repeat, 1)] =
            stepped ? *row.joules_per_step : *row.joules;
    SettingMetric metric;
    metric.unit = stepped ? "J per step" : "J per run";
    metric.is_energy = true;
    for (Finding& finding : setting_findings(settings, metric))
      out.findings.push_back(std::move(finding));
  }

  void compare_metrics(FinishedSweep& out) {
    out.findings = compared(metrics_of_logs(), "");
    const auto found = static_cast<std::size_t>(std::count_if(
        rows_.begin(), rows_.end(), [](const SummaryRow& row) { return row.metric.has_value(); }));
    if (const std::size_t done = successes(); found < done)
      warn(fmt::format("--metric: no value in {} of {} run{}: run_output.log has no match or is "
                       "incomplete",
                       done - found, done, done == 1 ? "" : "s"));
  }

  Result<FinishedSweep> finish() {
    FinishedSweep out;
    out.folder = plan_.folder;
    if (request_.analyze && !interrupted() && successes() > 0)
      analyse_all(out);
    if (request_.search)
      out.findings = search_finding_ ? std::vector{*search_finding_} : std::vector<Finding>();
    else if (metric_)
      compare_metrics(out);
    compare_energy(out);
    if (const std::vector<std::string> unused = not_effective(); !unused.empty()) {
      out.findings.push_back(unused_settings(unused));
      ctx_.partial = true;
    }
    if (out.analysis && !request_.tuner_file.empty()) {
      const auto written =
          write_tuner(request_.tuner_file, request_, plan_, out.analysis->facts.collectives);
      if (!written)
        warn(written.error().message());
      ctx_.partial = ctx_.partial || !written;
    }
    in_order_of_settings();
    for (const Finding& finding : out.findings)
      log_.line(finding.sentence());
    return write_results(std::move(out));
  }

  /// Writes summary, manifest and metrics of all runs in the folder.
  Result<FinishedSweep> write_results(FinishedSweep out) {
    rows_.insert(rows_.begin(), earlier_.rows.begin(), earlier_.rows.end());
    earlier_.rows.clear();
    out.done = successes();
    if (request_.summary) {
      out.summary_file = plan_.folder + "/" + summary_name(request_.kind, plan_.timestamp);
      RS_CHECK(write_file(out.summary_file, summary_text(request_.kind, plan_.folder, rows_,
                                                         sentences_of(out.findings),
                                                         std::chrono::system_clock::now())));
    }
    RS_CHECK(write_sweep_metrics(plan_.folder, rows_));
    const bool all = out.done == rows_.size();
    RS_CHECK(write_manifest(interrupted() ? "interrupted" : all ? "success" : "incomplete"));
    log_.line(fmt::format("{} of {} runs succeeded", out.done, rows_.size()));
    if (interrupted())
      return Error{ErrorCode::kInterrupted, plan_.folder,
                   fmt::format("interrupted; {} of {} runs are done", out.done, rows_.size()),
                   fmt::format("to continue, run the same command with -o {}", plan_.folder)};
    out.rows = std::move(rows_);
    out.earlier = std::move(earlier_);
    return out;
  }

  void in_order_of_settings() {
    sort_stably(rows_, [](const SummaryRow& a, const SummaryRow& b) {
      return std::tie(a.run->setting, a.run->repeat) < std::tie(b.run->setting, b.run->repeat);
    });
  }

  Result<void> write_manifest(const char* status) const {
    JsonWriter json;
    json.begin_object();
    json.text("rankscope_sweep", RANKSCOPE_VERSION);
    json.text("status", status);
    json.text("timestamp", plan_.timestamp);
    json.texts("command", masked_arguments(request_.command));
    json.integer("repeats", request_.repeats);
    if (request_.shuffle)
      json.integer("seed", static_cast<std::int64_t>(request_.seed));
    write_host(json, request_.run.host);
    json.text("written", utc_text(std::chrono::system_clock::now()));
    json.begin_list("runs");
    std::vector<SummaryRow> all = earlier_.rows;
    all.insert(all.end(), rows_.begin(), rows_.end());
    for (const SummaryRow& row : all) {
      json.begin_object();
      json.text("setting", row.setting->configuration.label);
      if (row.run->repeat > 0)
        json.integer("repeat", row.run->repeat);
      json.text("folder",
                row.run->folder.substr(std::min(plan_.folder.size() + 1, row.run->folder.size())));
      json.text("status", row.outcome ? status_name(row.outcome->status) : "not run");
      if (row.outcome) {
        json.number("seconds", row.outcome->seconds);
        if (row.outcome->exit_code >= 0)
          json.integer("exit", row.outcome->exit_code);
        if (row.metric)
          json.number("metric", *row.metric);
        if (row.joules)
          json.number("joules", *row.joules);
        if (row.joules_per_step)
          json.number("joules_per_step", *row.joules_per_step);
        if (row.host_joules)
          json.number("host_joules", *row.host_joules);
        json.text("problem", row.outcome->problem);
        json.texts("findings", row.outcome->findings);
      }
      json.end_object();
    }
    json.end_list();
    json.end_object();
    return write_file(plan_.folder + "/manifest.json", json.take());
  }

  Session& ctx_;
  const SweepRequest& request_;
  const SweepPlan& plan_;
  RunOptions run_options_;
  SweepLog log_;
  EarlierRows earlier_;
  std::vector<std::size_t> left_; ///< settings that run: all, or those of the search's round
  std::chrono::steady_clock::time_point begin_; ///< of the search
  std::vector<bool> warm_;                      ///< by setting: whether its warm-up runs are done
  std::optional<LogMetric> metric_;
  std::vector<SummaryRow> rows_;
  std::optional<Finding> not_ranked_; ///< the settings do different work per step
  std::optional<Finding> search_finding_;
  std::string unit_; ///< unit of the values of rounds
  bool stopped_ = false;
  double seconds_ = 0; ///< total time of the runs of this sweep that succeeded
  std::size_t timed_ = 0;
};

} // namespace

Result<SweepPlan> plan_sweep(const SweepRequest& request) {
  if (const auto unused = unused_parameters(request.settings, request.command, request.environment);
      !unused.empty())
    return Error{ErrorCode::kUsage, "", fmt::format("parameter {} changes nothing", unused.front()),
                 fmt::format("set its \"env\", or write {{{}}} into the command", unused.front())};
  if (!request.metric.empty())
    RS_CHECK(parse_log_metric(request.metric));
  SweepPlan plan;
  std::error_code ec;
  const std::string now = sweep_timestamp(std::chrono::system_clock::now());
  plan.folder =
      fs::absolute(request.folder.empty() ? default_folder(request.kind, now) : request.folder, ec)
          .lexically_normal()
          .string();
  while (plan.folder.size() > 1 && plan.folder.back() == '/')
    plan.folder.pop_back();
  if (request.folder.empty()) // another sweep may have started in the same second
    for (int n = 2; fs::exists(plan.folder, ec); ++n)
      plan.folder = fs::absolute(fmt::format("{}_{}", default_folder(request.kind, now), n), ec)
                        .lexically_normal()
                        .string();
  const std::string earlier = earlier_timestamp(plan.folder, request.kind);
  plan.timestamp = earlier.empty() ? now : earlier;
  const auto plan_one = [&](std::size_t setting, const std::string& folder, std::int64_t repeat) {
    PlannedRun run = plan_run(request.command, request.settings[setting], request.launch,
                              request.environment, folder, repeat);
    run.setting = setting;
    return run;
  };
  for (std::size_t setting = 0; setting < request.settings.size(); ++setting)
    for (std::int64_t i = 1; i <= request.warmups; ++i)
      plan.warmups.push_back(plan_one(setting,
                                      fmt::format("{}/.rankscope/warmup_{}/{}", plan.folder, i,
                                                  request.settings[setting].folder),
                                      0));
  for (std::int64_t repeat = 1; repeat <= request.repeats; ++repeat)
    for (const std::size_t setting : order_of(request, repeat)) {
      const std::string& below = request.settings[setting].folder;
      plan.runs.push_back(request.repeats > 1
                              ? plan_one(setting,
                                         fmt::format("{}/repeat={}/{}", plan.folder, repeat, below),
                                         repeat)
                              : plan_one(setting, fmt::format("{}/{}", plan.folder, below), 0));
    }
  if (!request.tuner_file.empty())
    RS_CHECK(tuner_settings(request, plan));
  return plan;
}

Result<FinishedSweep> run_sweep(Session& ctx, const SweepRequest& request, const SweepPlan& plan) {
  if (!request.tuner_file.empty())
    RS_CHECK(OutputFile::create(request.tuner_file)); // then discarded: reports a bad path early
  RS_CHECK(make_folder(plan.folder));
  RS_CHECK(make_folder(plan.folder + "/.rankscope"));
  RS_TRY(const FolderLock lock, // prevents two sweeps from moving each other's runs
         FolderLock::take(plan.folder + "/.rankscope/sweep.lock", plan.folder, "sweep"));
  return Sweep(ctx, request, plan).go();
}

} // namespace rankscope
