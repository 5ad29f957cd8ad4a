// Intervals at which a running job writes data. They show that the complete job makes no progress.
#pragma once

#include "analyses/watch/watch_judge.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope {

/// Stores only the newest kMostGaps gaps.
class WatchRhythm {
public:
  static constexpr std::size_t kMostGaps = 16;
  /// Number of windows that a job must have had before it can count as silent.
  static constexpr std::size_t kFewestWindows = 3;

  /// Notes that data was written at this time, by the clock of the writer (unix ns).
  void note_written(std::int64_t written_ns);
  /// Notes that new data was read now.
  void hear(std::int64_t now_ns);

  /// Raises an alarm if no new data was read for at least `still_ns` and for twice the longest
  /// stored gap. Raises it only once until new data is read. `windows`: number of windows so far;
  /// `writers`: "64 logs".
  [[nodiscard]] std::optional<Alarm> judge(std::int64_t now_ns, std::int64_t still_ns,
                                           std::size_t windows, std::string_view writers);

  /// Returns whether data read from a file is consistent.
  [[nodiscard]] bool sound() const;

private:
  template <class Archive, class Row>
  requires std::same_as<std::remove_const_t<Row>, WatchRhythm>
  friend void part_fields(Archive& archive, Row& r) {
    archive(r.gaps_ns_, r.written_ns_, r.heard_ns_, r.silent_);
  }

  void add_gap(std::int64_t from_ns, std::int64_t to_ns);

  std::vector<std::int64_t> gaps_ns_; ///< newest gaps of at least a second
  std::int64_t written_ns_ = 0, heard_ns_ = 0;
  bool silent_ = false; ///< the alarm was raised
};

} // namespace rankscope
