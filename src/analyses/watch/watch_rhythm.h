// How often a running job writes something. Shows that the complete job makes no progress.
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
  static constexpr std::size_t kFewestWindows = 3; ///< that a job has shown before it can be silent

  /// Notes when something was written, by the clock of the writer (unix ns).
  void note_written(std::int64_t written_ns);
  /// Notes that something new was read now.
  void hear(std::int64_t now_ns);

  /// Raises an alarm when nothing was heard for at least `still_ns` and twice the longest stored
  /// gap, once until something is heard again. `windows`: number so far; `writers`: "64 logs".
  [[nodiscard]] std::optional<Alarm> judge(std::int64_t now_ns, std::int64_t still_ns,
                                           std::size_t windows, std::string_view writers);

  /// Returns whether data that was read back is consistent.
  [[nodiscard]] bool sound() const;

private:
  template <class Archive, class Row>
  requires std::same_as<std::remove_const_t<Row>, WatchRhythm>
  friend void part_fields(Archive& archive, Row& r) {
    archive(r.gaps_ns_, r.written_ns_, r.heard_ns_, r.silent_);
  }

  void add_gap(std::int64_t from_ns, std::int64_t to_ns);

  std::vector<std::int64_t> gaps_ns_; ///< the newest, of a second and more
  std::int64_t written_ns_ = 0, heard_ns_ = 0;
  bool silent_ = false; ///< the alarm was raised
};

} // namespace rankscope
