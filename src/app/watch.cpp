// The folders of `watch`: what is new, which window it belongs to, when a window is judged.
#include "app/watch.h"

#include "analyses/collectives/run_consistency.h"
#include "base/fnv.h"
#include "base/number_text.h"
#include "base/units.h"
#include "core/steps.h"
#include "engine/run_ranks.h"
#include "os/output_file.h"
#include "os/signals.h"
#include "os/whole_file.h"
#include "readers/folder_names.h"
#include "readers/trace_files.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

namespace rankscope {

namespace {

/// Traces between two states: what is read again after a kill.
constexpr std::size_t kBatch = 512;
constexpr std::size_t kMostReached = 64;

/// A batch's own problems: a file that cannot be read is told once, by its line.
class Quiet final : public Session {
public:
  explicit Quiet(const Session& of) { threads = of.threads; }
};

/// Of seconds that a person gave; 285 years at most, which fit.
std::int64_t ns_of(double seconds) {
  return static_cast<std::int64_t>(std::clamp(seconds, 0.0, 9e9) * 1e9);
}

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
  out.end_ns = identity.end_ns;
  return out;
}

std::string label_of(const WatchState::Open& window) {
  if (window.first_step < 0)
    return fmt::format("window {}", window.number);
  return window.first_step == window.last_step
             ? fmt::format("step {}", window.first_step)
             : fmt::format("steps {}-{}", window.first_step, window.last_step);
}

template <class Row> void keep_newest(std::vector<Row>& rows, std::size_t most) {
  if (rows.size() > most)
    rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(most));
}

} // namespace

Result<Watch> Watch::open(WatchRequest request) {
  Watch out(std::move(request));
  const std::int64_t window_us = std::clamp(ns_of(out.request_.window_s) / 1000,
                                            LogWatch::kLeastWindowUs, LogWatch::kMostWindowUs);
  std::error_code ec;
  if (!out.request_.state.empty() && std::filesystem::exists(out.request_.state, ec)) {
    const auto refused = [&](std::string why) {
      return Error{ErrorCode::kUnreadable, out.request_.state, std::move(why),
                   "another --state, or remove it to begin anew"};
    };
    RS_TRY(const std::string bytes, read_whole(out.request_.state));
    Result<WatchStateFile> before = decode_watch_state(bytes);
    if (!before)
      return refused("is no state of watch: " + before.error().what);
    if (before->inputs != inputs_text(out.request_))
      return refused(fmt::format("is the state of a watch over other folders: {}", before->inputs));
    out.state_ = std::move(before->state);
    if (out.state_.logs.window_us() != window_us)
      return refused(fmt::format("is the state of a watch with --window {}",
                                 static_cast<double>(out.state_.logs.window_us()) / 1e6));
  } else {
    out.state_.logs.set_window(window_us);
    RS_CHECK(out.save()); // a place that cannot be written shows now
  }
  out.state_.judge.limit(out.request_.limits);
  out.state_.logs.limit(out.request_.limits);
  return out;
}

Result<void> Watch::save() const {
  if (request_.state.empty())
    return {};
  RS_TRY(OutputFile file, OutputFile::create(request_.state));
  file.write(encode_watch_state(inputs_text(request_), state_));
  return file.commit();
}

Result<std::vector<Watch::NewFile>> Watch::new_files(std::int64_t now_ns, bool last,
                                                     WatchLook& out) {
  RS_TRY(const RankNames names, RankNames::make(request_.discover));
  const auto settled = ns_of(request_.settled_s);
  std::map<std::string, Stamp> growing;
  std::map<std::uint64_t, std::uint64_t> still_there;
  std::vector<NewFile> files;
  bool all_listed = true;
  growing_.clear();
  for (const std::string& input : request_.inputs) {
    if (input.ends_with(".log"))
      continue; // see read_logs()
    Diagnostics aside;
    const Result<Listing> listing = list_traces(input, request_.discover.known, aside);
    if (!listing) { // the folder is not there yet, or for a moment
      all_listed = false;
      continue;
    }
    for (const std::string& path : listing->files) {
      struct stat info {};
      if (::stat(path.c_str(), &info) != 0)
        continue;
      const Stamp stamp{static_cast<std::uint64_t>(info.st_size),
                        std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
      const std::uint64_t key = hash_of(path);
      const std::uint64_t value = hash_of(fmt::format("{} {}", stamp.bytes, stamp.written_ns));
      const auto known = state_.read.find(key);
      if (known != state_.read.end()) {
        still_there.insert(*known); // written again it is another one, which nobody asked for
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
        files.push_back({path, stamp, name.rank});
        continue;
      }
      growing.emplace(path, stamp);
      if (same && now_ns - stamp.written_ns > settled)
        continue; // empty, and stays so: who should write it may be gone
      if (name.rank)
        growing_.insert(*name.rank);
      out.waiting.push_back(fmt::format("{}: {}", path, stamp.bytes == 0 ? "empty" : "may grow"));
    }
  }
  seen_ = std::move(growing);
  if (all_listed) // else what was read would be read again
    state_.read = std::move(still_there);
  std::sort(files.begin(), files.end(), [](const NewFile& a, const NewFile& b) {
    return std::tie(a.stamp.written_ns, a.path) < std::tie(b.stamp.written_ns, b.path);
  });
  return files;
}

Result<void> Watch::read(Session& parent, std::vector<NewFile> files, WatchLook& out) {
  Quiet session(parent);
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
  steps.take = [&](const RankItem& item, const LoadedTrace&, WatchedRank rank) -> Result<void> {
    rank.collectives.rank = item.file.rank;
    fresh.push_back(std::move(rank));
    ++out.read;
    return {};
  };
  steps.lost = [&](const RankItem& item, const Error& error) {
    out.lost.push_back(fmt::format("{}: rank {}: {}", item.file.path, item.file.rank, error.what));
  };
  RS_CHECK(run_ranks<WatchedRank>(session, {&plan}, run, std::move(steps)));
  // several windows of a rank in one look: in the order in which it wrote them
  std::stable_sort(fresh.begin(), fresh.end(), [](const WatchedRank& a, const WatchedRank& b) {
    const auto key = [](const WatchedRank& r) {
      return std::pair(r.steps.empty() ? -1 : r.steps.front(), r.start_ns);
    };
    return key(a) < key(b);
  });
  for (WatchedRank& rank : fresh)
    take(std::move(rank), now_ns_, out);
  return {};
}

WatchState::Open& Watch::window_of(const WatchedRank& rank) {
  const std::int64_t number = rank.collectives.rank;
  const std::int64_t first = rank.steps.empty() ? -1 : rank.steps.front();
  const std::int64_t last = rank.steps.empty() ? -1 : rank.steps.back();
  for (WatchState::Open& window : state_.open) {
    const bool there = window.ranks.count(number) > 0;
    const auto newest = state_.newest.find(number);
    if (there || (newest != state_.newest.end() && newest->second >= window.number))
      continue;
    if (first <= window.last_step && window.first_step <= last)
      return window;
  }
  WatchState::Open window;
  window.number = ++state_.windows_begun;
  window.first_step = first;
  window.last_step = last;
  state_.open.push_back(std::move(window));
  return state_.open.back();
}

void Watch::take(WatchedRank rank, std::int64_t now_ns, WatchLook& out) {
  const std::int64_t number = rank.collectives.rank;
  WatchState::Open& window = window_of(rank);
  if (!rank.steps.empty()) {
    window.first_step = std::min(window.first_step, rank.steps.front());
    window.last_step = std::max(window.last_step, rank.steps.back());
  }
  state_.newest[number] = window.number;
  window.ranks.emplace(number, std::move(rank));
  note_reached(now_ns);
  judge_ready(false, out);
}

std::vector<std::int64_t> Watch::known_ranks() const {
  std::set<std::int64_t> out;
  for (std::int64_t r = 0; r < state_.world; ++r)
    out.insert(r);
  for (const auto& [rank, window] : state_.newest)
    out.insert(rank);
  return {out.begin(), out.end()};
}

bool Watch::most(std::size_t ranks) const {
  const std::size_t known = std::max(
      state_.newest.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, state_.world)));
  return 2 * ranks >= known;
}

void Watch::note_reached(std::int64_t now_ns) {
  for (const WatchState::Open& window : state_.open) {
    const bool noted =
        std::any_of(state_.reached.begin(), state_.reached.end(),
                    [&window](const WatchState::Reached& r) { return r.number == window.number; });
    if (!noted && most(window.ranks.size()))
      state_.reached.push_back({window.number, now_ns});
  }
  keep_newest(state_.reached, kMostReached);
}

void Watch::judge_ready(bool last, WatchLook& out) {
  const std::size_t known = std::max(
      state_.newest.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, state_.world)));
  while (!state_.open.empty()) {
    WatchState::Open& window = state_.open.front();
    const bool whole = window.ranks.size() >= known;
    const bool crowded = state_.open.size() > kMostOpen;
    if (!last && !whole && !crowded)
      return; // the windows behind it wait, so that they are judged in order
    judge(window, out);
    state_.open.erase(state_.open.begin());
  }
}

void Watch::judge(WatchState::Open& window, WatchLook& out) {
  std::vector<WatchedRank> ranks;
  for (auto& [number, rank] : window.ranks)
    ranks.push_back(std::move(rank));
  const WatchWindow facts = watch_window(std::move(ranks), label_of(window));
  for (Alarm& alarm : state_.judge.judge(facts))
    out.alarms.push_back(std::move(alarm));
  out.windows.push_back(summary_of(facts, window.number, known_ranks().size()));
  out.windows.back().exposed_percent = facts.exposed_percent;
  state_.shown.push_back(out.windows.back());
  keep_newest(state_.shown, kMostShown);
}

void Watch::judge_still(std::int64_t now_ns, WatchLook& out) {
  const auto limit = ns_of(request_.still_s);
  std::vector<std::int64_t> still;
  std::int64_t longest = 0;
  for (const std::int64_t rank : known_ranks()) {
    const auto at = state_.newest.find(rank);
    const std::size_t newest = at == state_.newest.end() ? 0 : at->second;
    std::optional<std::int64_t> since; // most ranks wrote what comes after its newest
    for (const WatchState::Reached& reached : state_.reached)
      if (reached.number > newest)
        since = std::min(since.value_or(reached.at_ns), reached.at_ns);
    if (!since || now_ns - *since < limit || growing_.count(rank) > 0)
      continue;
    still.push_back(rank);
    longest = std::max(longest, now_ns - *since);
  }
  const std::string others = fmt::format("most of the {} ranks went on {} s ago",
                                         known_ranks().size(), longest / 1'000'000'000);
  if (std::optional<Alarm> alarm = state_.judge.judge_still(still, others))
    out.alarms.push_back(std::move(*alarm));
}

Result<void> Watch::read_logs(bool last, WatchLook& out) {
  RS_TRY(LogLook logs,
         log_files_.look(request_.inputs, state_, now_ns_, ns_of(request_.still_s), last));
  out.records = logs.records;
  out.remarks = std::move(logs.remarks);
  std::move(logs.alarms.begin(), logs.alarms.end(), std::back_inserter(out.alarms));
  for (WatchedWindow& window : logs.windows) {
    state_.shown.push_back(window);
    out.windows.push_back(std::move(window));
  }
  keep_newest(state_.shown, kMostShown);
  return {};
}

Result<WatchLook> Watch::look(Session& session, std::int64_t now_ns, bool last) {
  WatchLook out;
  now_ns_ = now_ns;
  RS_TRY(const std::vector<NewFile> files, new_files(now_ns, last, out));
  const auto finish = [&](std::size_t told) {
    for (std::size_t i = told; i < out.alarms.size(); ++i)
      state_.alarms.push_back(out.alarms[i]);
    state_.raised += out.alarms.size() - told;
    keep_newest(state_.alarms, kMostShown);
  };
  for (std::size_t from = 0; from < files.size(); from += kBatch) {
    const std::size_t told = out.alarms.size();
    const std::size_t to = std::min(files.size(), from + kBatch);
    RS_CHECK(read(session,
                  {files.begin() + static_cast<std::ptrdiff_t>(from),
                   files.begin() + static_cast<std::ptrdiff_t>(to)},
                  out));
    finish(told);
    RS_CHECK(save());
  }
  const std::size_t told = out.alarms.size();
  const std::size_t windows = out.windows.size();
  judge_ready(last, out);
  judge_still(now_ns, out);
  RS_CHECK(read_logs(last, out));
  finish(told);
  if (out.alarms.size() > told || out.windows.size() > windows || out.records > 0 ||
      !out.remarks.empty())
    RS_CHECK(save());
  out.ranks = known_ranks();
  return out;
}

} // namespace rankscope
