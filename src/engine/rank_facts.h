// Facts of a rank: the data that a command over ranks extracts from one trace. A command declares
// its needs once; run_ranks gets them from the cache, from a folder of parts, or from the trace.
#pragma once

#include "core/any_part.h"
#include "engine/fact_cache.h"
#include "engine/rank_parts.h"
#include "engine/run_ranks.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// The index of a fact in a Needs.
template <class T> struct FactOf { std::size_t at = 0; };

/// The facts of one rank, as listed in a Needs.
class RankFacts {
public:
  template <class T> [[nodiscard]] T& operator[](FactOf<T> fact) {
    return *values_[fact.at].template get<T>();
  }

private:
  friend class Needs;
  std::vector<AnyPart> values_; ///< in the order of the needs
  std::vector<bool> cached_;    ///< facts that are in the cache
};

class Needs {
public:
  /// Reads traces with their Python frames. Call trees are built without frames, so that other
  /// facts do not change.
  void want_frames() { frames_ = true; }
  [[nodiscard]] bool frames() const { return frames_; }

  /// Adds a fact with its encoding. `options` is a text of all options that the fact depends on.
  /// `extract` is a pure function of the rank's trace. A second call with equal arguments returns
  /// the first fact.
  template <class T>
  FactOf<T> add(const PartName& name, const std::string& options,
                std::function<Result<T>(const RankItem&, const LoadedTrace&)> extract) {
    const std::string key = options.empty() ? name.name : name.name + ("\n" + options);
    const auto had = std::find_if(needs_.begin(), needs_.end(),
                                  [&key](const Need& need) { return need.key == key; });
    if (had != needs_.end())
      return {static_cast<std::size_t>(had - needs_.begin())};
    Need need;
    need.key = key;
    need.extract = [extract = std::move(extract)](const RankItem& item,
                                                  const LoadedTrace& trace) -> Result<AnyPart> {
      RS_TRY(T value, extract(item, trace));
      return AnyPart::of(std::move(value));
    };
    need.encode = [name](const AnyPart& part) {
      return encode_part(name.name, name.version, *part.get<T>());
    };
    need.decode = [name](std::string_view bytes) -> Result<AnyPart> {
      RS_TRY(T value, decode_part<T>(name.name, name.version, bytes));
      return AnyPart::of(std::move(value));
    };
    needs_.push_back(std::move(need));
    return {needs_.size() - 1};
  }

  /// Returns whether all facts of `others` are among these.
  [[nodiscard]] bool cover(const Needs& others) const;
  /// Extracts the facts that `had` lacks from the trace.
  [[nodiscard]] Result<RankFacts> extract(const RankItem& item, const LoadedTrace& trace,
                                          RankFacts had = {}) const;
  /// Errors: kUnreadable when a fact is missing, damaged or has another version.
  [[nodiscard]] Result<RankFacts> decode(const RankParts& parts) const;
  /// Adds the encoded facts to `parts`.
  void hold(const RankFacts& facts, RankParts& parts) const;

  /// Returns the facts of a trace that are in the cache; the others are empty.
  [[nodiscard]] RankFacts find(const FactCache& cache, const RankFile& file,
                               const std::string& identity) const;
  [[nodiscard]] bool all_in(const RankFacts& facts) const;
  /// Stores the facts of a trace that are not in the cache yet.
  void store(FactCache& cache, const RankFile& file, const std::string& identity,
             const RankFacts& facts) const;

private:
  struct Need {
    std::string key; ///< key in `RankParts::held`
    std::function<Result<AnyPart>(const RankItem&, const LoadedTrace&)> extract;
    std::function<std::string(const AnyPart&)> encode;
    std::function<Result<AnyPart>(std::string_view)> decode;
  };
  std::vector<Need> needs_;
  bool frames_ = false;
};

/// Callbacks for each rank with requested facts, like RankSteps.
struct FactSteps {
  const Needs& needs;
  std::function<Result<void>(const RankItem&, const LoadedTrace&, RankFacts)> take;
  /// Called while the trace is in memory, for files that are not facts. Not called for a rank read
  /// from parts.
  std::function<Result<void>(const RankItem&, const LoadedTrace&)> also = {};
  /// The file that `also` writes for a rank, and a text of all options that the file depends on. A
  /// file is not written again if the cache shows that `also` wrote it from this trace.
  std::function<std::string(const RankItem&)> file = {};
  std::string file_options = {};
  /// `take` reads the trace too, so cached facts are not enough.
  bool with_trace = false;
  std::function<void(const RankItem&, const Error&)> lost = {};
  std::function<Result<void>(std::size_t plan_index)> finished = {};
};
Result<void> run_ranks(Session& session, const std::vector<const RunPlan*>& plans,
                       const RankRun& run, FactSteps steps);

} // namespace rankscope
