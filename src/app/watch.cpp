// The folders of `watch` (new files, files to read) and its saved state.
#include "app/watch.h"

#include "analyses/collectives/run_consistency.h"
#include "base/fnv.h"
#include "base/number_text.h"
#include "base/sort.h"
#include "base/units.h"
#include "core/steps.h"
#include "engine/quiet_session.h"
#include "engine/run_ranks.h"
#include "os/input_file.h"
#include "os/output_file.h"
#include "os/signals.h"
#include "os/whole_file.h"
#include "readers/folder_names.h"
#include "readers/trace_files.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankscope {

namespace {

/// Traces between two saved states: after a kill, at most this many are read again.
constexpr std::size_t kBatch = 512;

std::uint64_t hash_of(std::string_view text) {
  Fnv64 hash;
  hash.update(text);
  return hash.value();
}

std::string inputs_text(const WatchRequest& request) {
  return fmt::format("{}", fmt::join(request.inputs, "\n"));
}

WatchedRank watched_of(const LoadedTrace& trace) {
  WatchedRank out;
  out.collectives = extract_collectives(trace);
  const std::vector<ProfilerStep> steps = profiler_steps(trace.trace);
  for (const ProfilerStep& step : steps)
    out.steps.push_back(step.number);
  std::sort(out.steps.begin(), out.steps.end());
  out.steps.erase(std::unique(out.steps.begin(), out.steps.end()), out.steps.end());
  if (steps.size() > 1)
    out.step_ms = ns_to_ms(steps.back().start_ns - steps.front().start_ns) /
                  static_cast<double>(steps.size() - 1);
  const RankIdentity identity = identity_of(trace.trace, 0);
  out.start_ns = identity.start_ns;
  return out;
}

/// Sorts files in the order in which ranks wrote them: the first file of each rank, then the second
/// of each. Times alone are not enough: in a copied folder, all files of one rank may precede those
/// of another.
void sort_by_turns(std::vector<WatchedFile>& files) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return std::tie(a.stamp.written_ns, a.path) < std::tie(b.stamp.written_ns, b.path);
  });
  std::map<std::int64_t, std::size_t> turns;
  for (WatchedFile& file : files)
    file.turn = turns[file.rank.value_or(-1)]++;
  sort_stably(files, [](const auto& a, const auto& b) { return a.turn < b.turn; });
}

} // namespace

Result<Watch> Watch::open(WatchRequest request) {
  Watch out(std::move(request));
  const std::int64_t window_us = std::clamp(s_to_ns(out.request_.window_s) / 1000,
                                            LogWatch::kLeastWindowUs, LogWatch::kMostWindowUs);
  std::error_code ec;
  if (!out.request_.state.empty() && std::filesystem::exists(out.request_.state, ec)) {
    const auto refused = [&](std::string why) {
      return Error{ErrorCode::kUnreadable, out.request_.state, std::move(why),
                   "use another --state, or remove it to start again"};
    };
    RS_TRY(const std::string bytes, read_unregistered(out.request_.state));
    Result<WatchStateFile> before = decode_watch_state(bytes);
    if (!before)
      return refused("is not a watch state: " + before.error().what);
    if (before->inputs != inputs_text(out.request_))
      return refused(fmt::format("is the state of a watch over other folders: {}", before->inputs));
    out.state_ = std::move(before->state);
    if (out.state_.logs.window_us() != window_us)
      return refused(fmt::format("is the state of a watch with another --window: {}",
                                 static_cast<double>(out.state_.logs.window_us()) / 1e6));
  } else {
    out.state_.logs.set_window(window_us);
    RS_CHECK(out.save()); // fail early if the path cannot be written
  }
  out.state_.judge.limit(out.request_.limits);
  out.state_.logs.limit(out.request_.limits);
  return out;
}

Result<void> Watch::save() const {
  if (request_.state.empty())
    return {};
  return write_file(request_.state, encode_watch_state(inputs_text(request_), state_));
}

Result<std::vector<WatchedFile>> Watch::new_files(std::int64_t now_ns, bool last, WatchPoll& out) {
  RS_TRY(const RankNames names, RankNames::make(request_.discover));
  const auto settled = s_to_ns(request_.settled_s);
  std::map<std::string, WatchedFile::Stamp> growing;
  std::map<std::uint64_t, std::uint64_t> still_there;
  std::vector<WatchedFile> files;
  bool all_listed = true;
  growing_.clear();
  for (const std::string& input : request_.inputs) {
    if (is_log_name(input))
      continue; // read_logs() reads it
    Diagnostics aside;
    const Result<Listing> listing = list_traces(input, request_.discover.known, aside);
    if (!listing) { // the folder does not exist yet, or is temporarily unavailable
      all_listed = false;
      continue;
    }
    for (const std::string& path : listing->files) {
      remember_input(path); // even if it is too new to be read
      const std::optional<FileStamp> there = file_stamp(path);
      if (!there)
        continue;
      const FileStamp stamp = *there;
      const std::uint64_t key = hash_of(path);
      const std::uint64_t value = hash_of(fmt::format("{} {}", stamp.bytes, stamp.written_ns));
      const auto known = state_.read.find(key);
      if (known != state_.read.end()) {
        still_there.insert(*known); // a rewritten file counts as a new file
        if (known->second == value)
          continue;
      }
      Candidate name;
      name.path = path.size() > input.size() ? path.substr(input.size()) : path;
      if (!names.match(name))
        continue;
      const auto before = seen_.find(path);
      const bool same = before != seen_.end() && before->second == stamp;
      if (stamp.bytes > 0 && (last || same || now_ns - stamp.written_ns > settled)) {
        files.push_back({path, stamp, name.rank, 0});
        continue;
      }
      growing.emplace(path, stamp);
      if (same && now_ns - stamp.written_ns > settled)
        continue; // the file stays empty: its writer may be gone
      if (name.rank)
        growing_.insert(*name.rank);
      out.waiting.push_back(fmt::format("{}: {}", path, stamp.bytes == 0 ? "empty" : "may grow"));
    }
  }
  seen_ = std::move(growing);
  if (all_listed) // otherwise files already read would be read again
    state_.read = std::move(still_there);
  sort_by_turns(files);
  return files;
}

Result<void> Watch::read(Session& parent, std::vector<WatchedFile> files, WatchPoll& out) {
  QuietSession session(parent.threads); // an unreadable file is reported only in out.lost
  RunPlan plan;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const FileInfo head = inspect_file(files[i].path, request_.discover.known);
    if (head.world_size)
      state_.world = std::max(state_.world, std::min(*head.world_size, kMostWatchedRanks));
    RankFile file;
    file.rank = files[i].rank ? *files[i].rank : head.ranks.empty() ? 0 : head.ranks.front();
    file.path = files[i].path;
    file.bytes = files[i].stamp.bytes;
    const std::vector<std::int64_t> in_file =
        head.ranks.size() > 1 ? head.ranks : std::vector<std::int64_t>{file.rank};
    for (const std::int64_t rank : in_file) {
      file.rank = rank;
      file.rank_in_file = head.ranks.size() > 1 ? std::optional(rank) : std::nullopt;
      plan.ranks.push_back(file);
    }
    state_.rhythm.note_written(files[i].stamp.written_ns);
    state_.read[hash_of(files[i].path)] =
        hash_of(fmt::format("{} {}", files[i].stamp.bytes, files[i].stamp.written_ns));
  }
  std::vector<WatchedRank> fresh;
  RankRun run;
  run.memory_bytes = request_.memory_bytes;
  run.quiet = true;
  RankSteps<WatchedRank> steps;
  steps.extract = [](const RankItem&, const LoadedTrace& trace) -> Result<WatchedRank> {
    if (interrupt_token().cancelled())
      return Error{ErrorCode::kInterrupted, "", "interrupted", ""};
    return watched_of(trace);
  };
  steps.consume = [&](const RankItem& item, const LoadedTrace& trace,
                      WatchedRank rank) -> Result<void> {
    for (const Problem& problem : trace.trace.diagnostics.problems())
      if (problem.severity != Severity::kInfo)
        out.warnings.push_back(problem_text(problem));
    rank.collectives.rank = item.file.rank;
    fresh.push_back(std::move(rank));
    ++out.read;
    return {};
  };
  steps.lost = [&](const RankItem& item, const Error& error) {
    if (const auto at = state_.ranks.find(item.file.rank);
        at != state_.ranks.end() && at->second.window == 0)
      state_.ranks.erase(at);
    out.lost.push_back(fmt::format("{}: rank {}: {}", item.file.path, item.file.rank, error.what));
  };
  RS_CHECK(run_ranks<WatchedRank>(session, {&plan}, run, std::move(steps)));
  // if a poll has several windows of a rank, take them in the order in which the rank wrote them
  sort_stably(fresh, [](const WatchedRank& a, const WatchedRank& b) {
    const auto key = [](const WatchedRank& r) {
      return std::pair(r.steps.empty() ? -1 : r.steps.front(), r.start_ns);
    };
    return key(a) < key(b);
  });
  for (const WatchedRank& rank : fresh)
    state_.ranks.try_emplace(rank.collectives.rank);
  for (WatchedRank& rank : fresh)
    take(std::move(rank), now_ns_, out);
  return {};
}

Result<void> Watch::read_logs(bool last, WatchPoll& out) {
  RS_TRY(LogPoll logs,
         log_files_.poll(request_.inputs, state_, now_ns_, s_to_ns(request_.still_s), last));
  out.records = logs.records;
  heard_ = heard_ || logs.heard;
  std::move(logs.warnings.begin(), logs.warnings.end(), std::back_inserter(out.warnings));
  std::move(logs.alarms.begin(), logs.alarms.end(), std::back_inserter(out.alarms));
  for (WatchedWindow& window : logs.windows) {
    state_.show(window);
    out.windows.push_back(std::move(window));
  }
  return {};
}

Result<WatchPoll> Watch::poll(Session& session, std::int64_t now_ns, bool last) {
  WatchPoll out;
  now_ns_ = now_ns;
  heard_ = false;
  late_.clear();
  RS_TRY(const std::vector<WatchedFile> files, new_files(now_ns, last, out));
  for (const std::int64_t rank : growing_)
    state_.ranks.try_emplace(rank);
  for (const WatchedFile& file : files)
    if (file.rank)
      state_.ranks.try_emplace(*file.rank);
  const auto finish = [&](std::size_t first_new) {
    for (std::size_t i = first_new; i < out.alarms.size(); ++i)
      state_.raise(out.alarms[i], now_ns);
  };
  for (std::size_t from = 0; from < files.size(); from += kBatch) {
    const std::size_t first_new = out.alarms.size();
    const std::size_t to = std::min(files.size(), from + kBatch);
    RS_CHECK(read(session,
                  {files.begin() + static_cast<std::ptrdiff_t>(from),
                   files.begin() + static_cast<std::ptrdiff_t>(to)},
                  out));
    finish(first_new);
    RS_CHECK(save());
  }
  const std::size_t first_new = out.alarms.size();
  const std::size_t windows = out.windows.size();
  judge_ready(last, out);
  judge_still(now_ns, out);
  RS_CHECK(read_logs(last, out));
  if (heard_ || out.read > 0 || !out.waiting.empty())
    state_.rhythm.hear(now_ns);
  else if (!last && request_.silent)
    judge_silent(now_ns, out);
  finish(first_new);
  for (auto& [steps, ranks] : late_) {
    std::sort(ranks.begin(), ranks.end());
    out.warnings.push_back(
        fmt::format("{} of rank{} {}: left out, because this window was already judged", steps,
                    ranks.size() == 1 ? "" : "s", ranges_text(ranks)));
  }
  if (out.alarms.size() > first_new || out.windows.size() > windows || out.records > 0 ||
      !out.warnings.empty())
    RS_CHECK(save());
  out.ranks = known_ranks();
  return out;
}

} // namespace rankscope
