// A collective far below what its own kind and size reach otherwise.
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
  double bus_gbps = 0, usual_gbps = 0; ///< its own; mean of the others
  std::size_t others = 0;              ///< of its kind and size
  std::size_t comparisons = 0;         ///< collectives that it was chosen from
  FindingPlace place;                  ///< its kernel on its first rank
};

/// Looks for a collective far below what its own kind and size reach otherwise.
class SlowCollectives {
public:
  /// One that synchronises. They come in the order of MatchResult.
  void add(const TimedCollective& t);
  /// No other one of the process groups so far will come: their samples are given up.
  void settle();
  /// The slowest, when there is one below the interval in which one more of the others would be
  /// expected (Student's t), of as many as were added.
  [[nodiscard]] std::optional<SlowCollective> take();

private:
  struct Kind {
    std::vector<double> bus_gbps;
    std::size_t least_at = 0; ///< of them the first that is smallest
    double least = 0;
    std::string id; ///< of that one
    FindingPlace place;
    SampleStats others;
    void settle();
  };
  /// Of a group, a name, a type and a number of elements.
  std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, Kind> kinds_;
  std::vector<Kind*> open_;
  std::size_t added_ = 0;
};

} // namespace rankscope
