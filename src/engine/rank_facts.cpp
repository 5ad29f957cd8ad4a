#include "engine/rank_facts.h"

#include "base/fnv.h"
#include "os/input_file.h"
#include "os/whole_file.h"

#include <optional>

namespace rankscope {
namespace {

/// The facts of all ranks in a call of run_ranks, and what is known about them from the cache.
class FactLoop {
public:
  FactLoop(FactCache* cache, const std::vector<const RunPlan*>& plans, const FactSteps& steps)
      : cache_(cache), steps_(steps) {
    std::size_t ranks = 0;
    for (const RunPlan* plan : plans)
      ranks += plan->ranks.size();
    ranks_.resize(ranks);
  }

  /// Returns whether the trace of the rank need not be read.
  bool known(const RankItem& item) {
    if (cache_ == nullptr)
      return false;
    Rank& rank = ranks_[item.index];
    rank.identity = trace_identity(item.file);
    if (!rank.identity.unique)
      return false;
    rank.facts = steps_.needs.find(*cache_, item.file, rank.identity.text);
    rank.made = !steps_.also || is_written(item, rank.identity.text);
    rank.known = rank.made && !steps_.with_trace && steps_.needs.all_in(rank.facts);
    if (rank.known)
      remember_input(item.file.path);
    return rank.known;
  }

  Result<RankFacts> extract(const RankItem& item, const LoadedTrace& trace) {
    Rank& rank = ranks_[item.index];
    if (rank.known)
      return usable(item, std::move(rank.facts));
    RS_TRY(RankFacts facts, usable(item, steps_.needs.extract(item, trace, std::move(rank.facts))));
    if (!rank.made && steps_.also)
      RS_CHECK(steps_.also(item, trace));
    // only if the file has not changed since it was read
    if (rank.identity.unique && rank.identity.text == trace_identity(item.file).text) {
      steps_.needs.store(*cache_, item.file, rank.identity.text, facts);
      if (!rank.made && steps_.file)
        cache_->store(item.file, rank.identity.text, key_of_file(item), mark_of_file(item));
    }
    return facts;
  }

  /// Returns the facts, or the error of steps.usable.
  [[nodiscard]] Result<RankFacts> usable(const RankItem& item, Result<RankFacts> facts) const {
    if (facts && steps_.usable)
      RS_CHECK(steps_.usable(item, *facts));
    return facts;
  }

private:
  [[nodiscard]] std::string key_of_file(const RankItem& item) const {
    return "file " + steps_.file(item) + "\n" + steps_.file_options;
  }
  /// Returns a hash of the file's content; "" if the file cannot be read.
  [[nodiscard]] std::string mark_of_file(const RankItem& item) const {
    const Result<std::string> bytes = read_unregistered(steps_.file(item));
    return bytes ? fnv64_hex(*bytes) : "";
  }
  [[nodiscard]] bool is_written(const RankItem& item, const std::string& identity) const {
    if (!steps_.file)
      return false;
    const auto mark = cache_->find(item.file, identity, key_of_file(item));
    return mark && !mark->empty() && *mark == mark_of_file(item);
  }

  struct Rank {
    TraceIdentity identity; ///< computed before the trace was read
    RankFacts facts;
    bool made = false;  ///< `also` does not have to write a file
    bool known = false; ///< the trace need not be read
  };
  FactCache* cache_;
  const FactSteps& steps_;
  std::vector<Rank> ranks_; ///< one element for each item
};

} // namespace

bool Needs::frames() const {
  return !spare_frames_ && std::ranges::any_of(needs_, &Need::frames);
}

bool Needs::cover(const Needs& others) const {
  return std::all_of(others.needs_.begin(), others.needs_.end(), [this](const Need& other) {
    return std::any_of(needs_.begin(), needs_.end(),
                       [&other](const Need& need) { return need.key == other.key; });
  });
}

Result<RankFacts> Needs::extract(const RankItem& item, const LoadedTrace& trace,
                                 RankFacts had) const {
  had.values_.resize(needs_.size());
  had.cached_.resize(needs_.size());
  for (std::size_t i = 0; i < needs_.size(); ++i)
    if (const bool spared =
            spare_frames_ && needs_[i].frames && trace.trace.python_events_skipped > 0;
        had.values_[i].empty() && !spared) {
      RS_TRY(had.values_[i], needs_[i].extract(item, trace));
    }
  return had;
}

Result<RankFacts> Needs::decode(const RankParts& parts) const {
  RankFacts out;
  for (const Need& need : needs_) {
    const auto at = parts.encoded.find(need.key);
    if (at == parts.encoded.end())
      return Error{ErrorCode::kUnreadable, "",
                   "its parts lack '" + need.key.substr(0, need.key.find('\n')) + "'",
                   "run rankscope partial again, with the name of this command in --for"};
    RS_TRY(AnyPart value, need.decode(at->second));
    out.values_.push_back(std::move(value));
  }
  return out;
}

void Needs::encode(const RankFacts& facts, RankParts& parts) const {
  for (std::size_t i = 0; i < needs_.size(); ++i)
    parts.encoded.emplace(needs_[i].key, needs_[i].encode(facts.values_[i]));
}

RankFacts Needs::find(const FactCache& cache, const RankFile& file,
                      const std::string& identity) const {
  RankFacts out;
  for (const Need& need : needs_) {
    AnyPart value;
    if (const auto bytes = cache.find(file, identity, need.key))
      if (Result<AnyPart> decoded = need.decode(*bytes))
        value = std::move(*decoded);
    out.cached_.push_back(!value.empty());
    out.values_.push_back(std::move(value));
  }
  return out;
}

bool Needs::all_in(const RankFacts& facts) const {
  for (std::size_t i = 0; i < needs_.size(); ++i)
    if (!facts.cached_[i] && !(spare_frames_ && needs_[i].frames))
      return false;
  return true;
}

void Needs::store(FactCache& cache, const RankFile& file, const std::string& identity,
                  const RankFacts& facts) const {
  for (std::size_t i = 0; i < needs_.size(); ++i)
    if (!facts.cached_[i] && !facts.values_[i].empty())
      cache.store(file, identity, needs_[i].key, needs_[i].encode(facts.values_[i]));
}

Result<void> run_ranks(Session& session, const std::vector<const RunPlan*>& plans,
                       const RankRun& run, FactSteps steps) {
  FactLoop loop(session.cache.get(), plans, steps);
  RankSteps<RankFacts> rank_steps;
  rank_steps.extract = [&loop](const RankItem& item, const LoadedTrace& trace) {
    return loop.extract(item, trace);
  };
  rank_steps.known = [&loop](const RankItem& item) { return loop.known(item); };
  rank_steps.decode = [&](const RankItem& item, const RankParts& parts) {
    return loop.usable(item, steps.needs.decode(parts));
  };
  rank_steps.consume = std::move(steps.consume);
  rank_steps.lost = std::move(steps.lost);
  rank_steps.finished = std::move(steps.finished);
  RankRun with_frames = run;
  with_frames.keep_python = run.keep_python || steps.needs.frames();
  return run_ranks<RankFacts>(session, plans, with_frames, std::move(rank_steps));
}

} // namespace rankscope
