#include "engine/run_ranks.h"

#include "base/counters.h"
#include "base/invariant.h"
#include "os/condition_wait.h"
#include "os/tasks.h"

#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <mutex>
#include <optional>

namespace rankscope {
namespace {

/// Makes the threads proceed one at a time, in the order of the items.
class Turnstile {
public:
  void wait_for(std::size_t turn) {
    std::unique_lock lock(mutex_);
    wait_on(moved_, lock, [&] { return next_ == turn; });
  }
  void pass() {
    {
      const std::lock_guard lock(mutex_);
      ++next_;
    }
    moved_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable moved_;
  std::size_t next_ = 0;
};

/// Calls pass() at the end of a scope, also after an exception.
struct PassAtEnd {
  Turnstile& turnstile;
  ~PassAtEnd() { turnstile.pass(); }
};

bool ends_run(const Error& error) {
  return error.code == ErrorCode::kOutput || error.code == ErrorCode::kInterrupted;
}

/// Returns the result of `step()`; an exception becomes an Error, so that the turn is always passed
/// on.
template <class Step> auto guarded(const Step& step) -> decltype(step()) {
  try {
    return step();
  } catch (...) {
    return error_of_current_exception();
  }
}

class RankLoop {
public:
  RankLoop(Session& session, const std::vector<const RunPlan*>& plans, const RankRun& run,
           const RankSteps<AnyPart>& steps)
      : session_(session), run_(run), steps_(steps) {
    for (std::size_t p = 0; p < plans.size(); ++p) {
      has_parts_ = has_parts_ || plans[p]->parts != nullptr;
      left_.push_back(plans[p]->ranks.size());
      for (const RankFile& file : plans[p]->ranks) {
        items_.push_back({*plans[p], file, p, items_.size()});
        files_.push_back(file);
        bytes_ += file.bytes;
      }
    }
    known_.resize(items_.size());
  }

  Result<void> operator()() {
    RS_ASSERT(!has_parts_ || steps_.decode);
    if (run_.progress)
      session_.begin_progress(items_.size(), has_parts_ ? 0 : bytes_);
    RS_CHECK(has_parts_ ? from_parts() : from_traces());
    const std::lock_guard lock(mutex_);
    if (error_)
      return *error_;
    return {};
  }

private:
  Result<void> from_traces() {
    LoadOptions load;
    load.threads = run_.threads > 0 ? run_.threads : session_.threads;
    if (load.threads == session_.threads)
      load.pool = &session_.pool();
    load.memory_limit_bytes = run_.memory_bytes;
    load.most_in_flight = run_.most_in_flight;
    load.keep_python = run_.keep_python;
    load.frames_in_tree = false;
    load.link = run_.link;
    load.rules = run_.rules;
    load.cancelled = [this] { return stopped(); };
    if (steps_.known)
      load.left_out = [this](std::size_t i) {
        known_[i] = steps_.known(items_[i]) ? 1 : 0;
        return known_[i] != 0;
      };
    return load_each(files_, load, [this](std::size_t i, Result<LoadedTrace> loaded) {
      process_trace(items_[i], loaded);
    });
  }

  /// Indices are assigned in order, so a thread only waits for ranks that have begun.
  Result<void> from_parts() {
    return parallel_for(
        &session_.pool(), items_.size(), [this](std::size_t i) { process_parts(items_[i]); },
        run_.threads);
  }

  void process_trace(const RankItem& item, const Result<LoadedTrace>& loaded) {
    settle(item, loaded ? *loaded : nothing_, guarded([&]() -> Result<AnyPart> {
             if (!loaded)
               return loaded.error();
             if (stopped())
               return ended();
             return steps_.extract(item, *loaded);
           }));
  }

  void process_parts(const RankItem& item) {
    settle(item, nothing_, guarded([&]() -> Result<AnyPart> {
             if (stopped())
               return ended();
             RS_TRY(const RankParts parts, item.plan.parts->parts_of(item.plan, item.file));
             return steps_.decode(item, parts);
           }));
  }

  static Error ended() { return {ErrorCode::kInterrupted, "", "the run has ended", ""}; }

  /// It must not throw: if the turn were not passed on, the later ranks would wait forever.
  void settle(const RankItem& item, const LoadedTrace& trace, Result<AnyPart> part) {
    bool last = false;
    {
      turnstile_.wait_for(item.index);
      const PassAtEnd pass{turnstile_};
      RS_ASSERT(left_[item.plan_index] > 0);
      last = --left_[item.plan_index] == 0;
      keep_error(guarded([&]() -> Result<void> {
        in_turn(item, trace, std::move(part));
        return {};
      }));
    }
    if (last && steps_.finished && !stopped())
      keep_error(guarded([&] { return steps_.finished(item.plan_index); }));
    if (run_.progress)
      keep_error(guarded([&]() -> Result<void> {
        session_.step_progress(known_[item.index] != 0 ? 0 : item.file.bytes);
        return {};
      }));
  }

  void in_turn(const RankItem& item, const LoadedTrace& trace, Result<AnyPart> part) {
    if (stopped())
      return;
    if (part)
      return keep_error(guarded([&] { return steps_.consume(item, trace, std::move(*part)); }));
    if (ends_run(part.error()))
      return keep_error(part.error());
    if (!run_.quiet)
      report_lost_rank(session_, item.plan, item.file, part.error());
    if (steps_.lost)
      steps_.lost(item, part.error());
  }

  void keep_error(Result<void> result) {
    if (result)
      return;
    const std::lock_guard lock(mutex_);
    if (!error_)
      error_ = std::move(result.error());
  }

  [[nodiscard]] bool stopped() {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }

  Session& session_;
  const RankRun& run_;
  const RankSteps<AnyPart>& steps_;
  std::vector<RankItem> items_;
  std::vector<RankFile> files_;
  std::vector<char> known_;       ///< for each item: its trace was not read
  std::vector<std::size_t> left_; ///< for each plan: number of ranks that are not finished
  const LoadedTrace nothing_;     ///< passed instead of the trace of a rank, if there is no trace
  std::uint64_t bytes_ = 0;
  bool has_parts_ = false; ///< the data of the ranks are read from parts, not from traces
  Turnstile turnstile_;
  std::mutex mutex_;
  std::optional<Error> error_;
};

} // namespace

void report_lost_rank(Session& session, const RunPlan& plan, const RankFile& file,
                      const Error& error) {
  const std::string why = error.where == file.path
                              ? Error{error.code, "", error.what, error.hint}.message()
                              : error.message();
  session.diagnostics.add(
      counters::rank_failed(to_text(RunKey{plan.configuration, file.rank}), why), file.path);
}

Error no_rank_left(const Session& session, const std::string& where) {
  std::string what = "no rank could be used";
  const std::vector<Problem> problems = session.diagnostics.problems();
  const auto first =
      std::ranges::find(problems, std::string(counters::rank_failed.key), &Problem::name);
  if (first != problems.end())
    what += "; " + problem_text(*first);
  return {ErrorCode::kUnreadable, where, what, ""};
}

Result<void> run_ranks_untyped(Session& session, const std::vector<const RunPlan*>& plans,
                               const RankRun& run, const RankSteps<AnyPart>& steps) {
  return RankLoop(session, plans, run, steps)();
}

} // namespace rankscope
