// The folders of `top --watch`: finds new files, files that still grow, and files read before.
#include "app/gpu_work.h"
#include "app/top.h"
#include "app/top_parts.h"
#include "base/counters.h"
#include "base/units.h"
#include "engine/quiet_session.h"
#include "os/clock.h"
#include "os/signals.h"
#include "readers/trace_files.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

/// Returns whether another poll may succeed: files appear, grow, disappear or are replaced.
bool may_mend(const Error& error) {
  return error.code == ErrorCode::kUnreadable;
}

} // namespace

TopWatch::TopWatch(TopRequest request, double settled_s)
    : request_(std::move(request)), settled_s_(settled_s) {}

TopWatch::Stamps TopWatch::stamps(Diagnostics& diagnostics) const {
  Stamps out;
  for (const std::string& input : request_.inputs) {
    const Result<Listing> listing = list_traces(input, request_.discover.known, diagnostics);
    if (!listing)
      continue; // the folder does not exist yet
    for (const std::string& path : listing->files) {
      if (const std::optional<FileStamp> stamp = file_stamp(path))
        out[path] = *stamp;
    }
  }
  return out;
}

TopWatch::Stamps TopWatch::complete(const Stamps& now, TopPoll& out) const {
  Stamps done;
  const auto settled = s_to_ns(settled_s_);
  for (const auto& [path, stamp] : now) {
    const auto before = seen_.find(path);
    const bool same = before != seen_.end() && before->second == stamp;
    if (stamp.bytes > 0 && (same || clock_ns(CLOCK_REALTIME) - stamp.written_ns > settled))
      done.emplace(path, stamp);
    else
      out.waiting.push_back(fmt::format("{}: {}, {:.1f} MB so far", path,
                                        stamp.bytes == 0 ? "empty" : "may grow",
                                        static_cast<double>(stamp.bytes) / 1e6));
  }
  return done;
}

Result<void> TopWatch::read(Session& session, const RunPlan& plan) {
  RunPlan fresh = plan;
  fresh.ranks.clear();
  std::map<std::int64_t, Kept> kept;
  for (const RankFile& file : plan.ranks) {
    const auto had = kept_.find(file.rank);
    const bool same_file = had != kept_.end() && had->second.path == file.path &&
                           had->second.rank_in_file == file.rank_in_file;
    const auto stamp = complete_.find(file.path);
    if (same_file && (stamp == complete_.end() || had->second.stamp == stamp->second)) {
      kept.emplace(file.rank, had->second); // show old data while the file grows again
    } else if (stamp != complete_.end()) {
      fresh.ranks.push_back(file);
      kept.emplace(file.rank, Kept{file.path, file.rank_in_file, stamp->second, {}, false, ""});
    }
  }
  for (const auto& [rank, gone] : kept_)
    if (kept.count(rank) == 0)
      parts_.drop(rank);
  RankRun run;
  run.memory_bytes = request_.memory_bytes;
  run.quiet = true;
  Needs needs;
  const TopNeeds keys(needs, request_.report, false);
  FactSteps steps{needs, {}};
  steps.also = [](const RankItem&, const LoadedTrace&) -> Result<void> {
    if (interrupt_token().cancelled())
      return Error{ErrorCode::kInterrupted, "", "interrupted", ""};
    return {};
  };
  steps.consume = [&](const RankItem& item, const LoadedTrace&, RankFacts facts) -> Result<void> {
    kept[item.file.rank].diagnostics = facts[keys.diagnostics];
    keys.put(item, facts, parts_);
    ++traces_read_;
    return {};
  };
  steps.usable = [&](const RankItem& item, RankFacts& facts) {
    return require_gpu_work(item.file.path, facts[keys.diagnostics]);
  };
  steps.lost = [&](const RankItem& item, const Error& error) {
    Kept& lost = kept[item.file.rank];
    lost.lost = true;
    lost.why = error.message();
    parts_.drop(item.file.rank);
  };
  RS_CHECK(run_ranks(session, {&fresh}, run, std::move(steps)));
  kept_ = std::move(kept);
  return {};
}

Result<TopPoll> TopWatch::poll(Session& parent) {
  TopPoll out;
  QuietSession session(parent.threads); // the terminal shows the page
  const Stamps now = stamps(session.diagnostics);
  Stamps done = complete(now, out);
  const bool same = polled_ && now == seen_ && done == complete_;
  seen_ = now;
  if (same)
    return out;
  out.changed = !polled_ || done != complete_;
  polled_ = true;
  complete_ = std::move(done);
  RunPlan plan;
  plan.folder = request_.inputs.front();
  if (!complete_.empty()) {
    Result<RunPlan> found = discover_run(request_.inputs, request_.discover, session.diagnostics);
    if (!found && !may_mend(found.error()))
      return found.error();
    if (!found)
      session.diagnostics.add(counters::watch(found.error().message()), "");
    else
      plan = std::move(*found);
  }
  RS_CHECK(read(session, plan));
  for (const auto& [rank, state] : kept_) {
    session.diagnostics.merge(state.diagnostics);
    if (state.lost)
      session.diagnostics.add(counters::rank_failed(fmt::format("rank {}", rank), state.why),
                              state.path);
  }
  const std::optional<CollectiveFacts> collectives = collectives_of_top(parts_);
  RS_TRY(out.facts,
         combine_top(session, plan, parts_, collectives ? &*collectives : nullptr, request_));
  out.diagnostics = session.diagnostics;
  return out;
}

} // namespace rankscope
