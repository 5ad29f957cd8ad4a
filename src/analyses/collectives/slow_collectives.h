// Search for a collective with a bandwidth far below others of its kind and size.
#pragma once

#include "base/statistics.h"
#include "core/finding.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace rankscope {

struct TimedCollective;

struct SlowCollective {
  std::string name, id;
  double bus_gbps = 0, usual_gbps = 0; ///< bandwidth of this collective; mean of the others
  std::size_t others = 0;              ///< number of other collectives of its kind and size
  std::size_t comparisons = 0;         ///< number of collectives that it was chosen from
  FindingPlace place;                  ///< kernel on the first rank
};

/// Finds a collective with a bandwidth far below others of its kind and size.
class SlowCollectives {
public:
  /// Adds a synchronizing collective. Collectives must be added in the order of MatchResult.
  void add(const TimedCollective& t);
  /// Releases the samples of the process groups so far, which must be complete.
  void settle();
  /// Returns the collective that is slowest relative to its kind, if it is below the prediction
  /// interval of at least five others (Student's t, corrected for the number of added collectives)
  /// and below 80 % of their mean. Otherwise empty.
  [[nodiscard]] std::optional<SlowCollective> take();

private:
  struct Kind {
    std::vector<double> bus_gbps;
    std::size_t least_at = 0; ///< index of the first smallest value
    double least = 0;
    std::string id; ///< id of the collective with this value
    FindingPlace place;
    SampleStats others;
    void settle();
  };
  /// The kinds by group, name, type and number of elements.
  std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, Kind> kinds_;
  std::vector<Kind*> open_;
  std::size_t added_ = 0;
};

} // namespace rankscope
