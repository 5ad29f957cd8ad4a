// Facts of a rank: the data that a command needs from each trace. A command lists its facts in a
// Needs object; run_ranks gets them from the cache, from a folder of parts, or from the trace.
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

/// The index of a fact in a Needs object, with its type.
template <class T> struct FactOf { std::size_t at = 0; };

/// The facts of one rank that a Needs object lists.
class RankFacts {
public:
  template <class T> [[nodiscard]] T& operator[](FactOf<T> fact) {
    return *values_[fact.at].template get<T>();
  }

private:
  friend class Needs;
  std::vector<AnyPart> values_; ///< in the order in which they were added to Needs
  std::vector<bool> cached_;    ///< for each fact: whether it is in the cache
};

class Needs {
public:
  /// Returns whether to read traces with their Python frames. The call trees do not contain the
  /// frames, so that other facts do not change.
  [[nodiscard]] bool frames() const;
  /// Reads traces without Python frames. Facts that need the frames are extracted only from traces
  /// without frames, and are empty for other traces.
  void spare_frames() { spare_frames_ = true; }

  /// Adds a fact; `name` is its kind of part. `options` is a text that contains all options on
  /// which the fact depends. `extract` must depend only on its arguments. If the fact was added
  /// before, returns its index. `frames`: the fact needs the Python frames.
  template <class T>
  FactOf<T> add(const PartName& name, const std::string& options,
                std::function<Result<T>(const RankItem&, const LoadedTrace&)> extract,
                bool frames = false) {
    const std::string key = options.empty() ? name.name : name.name + ("\n" + options);
    const auto had = std::find_if(needs_.begin(), needs_.end(),
                                  [&key](const Need& need) { return need.key == key; });
    if (had != needs_.end())
      return {static_cast<std::size_t>(had - needs_.begin())};
    Need need;
    need.key = key;
    need.frames = frames;
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

  /// Returns whether these facts contain all facts of `others`.
  [[nodiscard]] bool cover(const Needs& others) const;
  /// Extracts from the trace the facts that are missing in `had`.
  [[nodiscard]] Result<RankFacts> extract(const RankItem& item, const LoadedTrace& trace,
                                          RankFacts had = {}) const;
  /// Decodes the facts. Errors: kUnreadable if a fact is missing, damaged or has another version.
  [[nodiscard]] Result<RankFacts> decode(const RankParts& parts) const;
  /// Adds the encoded facts to `parts`.
  void encode(const RankFacts& facts, RankParts& parts) const;

  /// Returns the facts of a trace that are in the cache; other facts are empty.
  [[nodiscard]] RankFacts find(const FactCache& cache, const RankFile& file,
                               const std::string& identity) const;
  [[nodiscard]] bool all_in(const RankFacts& facts) const;
  /// Stores the facts of a trace that are not in the cache yet.
  void store(FactCache& cache, const RankFile& file, const std::string& identity,
             const RankFacts& facts) const;

private:
  struct Need {
    std::string key; ///< key of the fact in `RankParts::encoded`
    bool frames = false;
    std::function<Result<AnyPart>(const RankItem&, const LoadedTrace&)> extract;
    std::function<std::string(const AnyPart&)> encode;
    std::function<Result<AnyPart>(std::string_view)> decode;
  };
  std::vector<Need> needs_;
  bool spare_frames_ = false;
};

/// Callbacks for each rank, like RankSteps, but with facts instead of one part.
struct FactSteps {
  const Needs& needs;
  std::function<Result<void>(const RankItem&, const LoadedTrace&, RankFacts)> consume;
  /// Called on any thread with the facts of a rank. After an Error, this rank is lost.
  std::function<Result<void>(const RankItem&, RankFacts&)> usable = {};
  /// Called while the trace is in memory, to write files that are not facts. It is not called if
  /// the facts of the rank are read from parts.
  std::function<Result<void>(const RankItem&, const LoadedTrace&)> also = {};
  /// Returns the path of the file that `also` writes for a rank; `file_options` is a text that
  /// contains all options on which the file depends. If the cache shows that `also` wrote the file
  /// from this trace, the file is not written again.
  std::function<std::string(const RankItem&)> file = {};
  std::string file_options = {};
  /// `consume` needs the trace too, so it is read even if all facts are in the cache.
  bool with_trace = false;
  std::function<void(const RankItem&, const Error&)> lost = {};
  std::function<Result<void>(std::size_t plan_index)> finished = {};
};
Result<void> run_ranks(Session& session, const std::vector<const RunPlan*>& plans,
                       const RankRun& run, FactSteps steps);

} // namespace rankscope
