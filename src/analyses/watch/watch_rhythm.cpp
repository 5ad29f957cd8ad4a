#include "analyses/watch/watch_rhythm.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::int64_t kLeastGapNs = 1'000'000'000; ///< shorter gaps are within one window

} // namespace

void WatchRhythm::add_gap(std::int64_t from_ns, std::int64_t to_ns) {
  if (from_ns <= 0 || to_ns - from_ns < kLeastGapNs)
    return;
  gaps_ns_.push_back(to_ns - from_ns);
  if (gaps_ns_.size() > kMostGaps)
    gaps_ns_.erase(gaps_ns_.begin());
}

void WatchRhythm::note_written(std::int64_t written_ns) {
  if (written_ns <= written_ns_)
    return;
  add_gap(written_ns_, written_ns);
  written_ns_ = written_ns;
}

void WatchRhythm::hear(std::int64_t now_ns) {
  add_gap(heard_ns_, now_ns);
  heard_ns_ = std::max(heard_ns_, now_ns);
  silent_ = false;
}

std::optional<Alarm> WatchRhythm::judge(std::int64_t now_ns, std::int64_t still_ns,
                                        std::size_t windows, std::string_view writers) {
  if (silent_ || heard_ns_ <= 0 || windows < kFewestWindows)
    return std::nullopt;
  const std::int64_t longest = gaps_ns_.empty() ? 0 : *std::ranges::max_element(gaps_ns_);
  const std::int64_t silence = now_ns - heard_ns_;
  if (silence < still_ns || silence / 2 < longest)
    return std::nullopt;
  silent_ = true;
  const std::string before =
      longest > 0 ? fmt::format(" (the longest pause before was {} s)", longest / 1'000'000'000)
                  : std::string();
  return Alarm{AlarmKind::kSilent, "all",
               fmt::format("nothing new from any of {} for {} s{}: the job hangs or has ended "
                           "(use --ended-when to distinguish them)",
                           writers, silence / 1'000'000'000, before),
               windows, 0};
}

bool WatchRhythm::sound() const {
  constexpr std::int64_t kLatest = INT64_MAX / 4;
  return gaps_ns_.size() <= kMostGaps && written_ns_ >= 0 && written_ns_ <= kLatest &&
         heard_ns_ >= 0 && heard_ns_ <= kLatest &&
         std::ranges::all_of(gaps_ns_, [](std::int64_t gap) { return gap >= 0 && gap <= kLatest; });
}

} // namespace rankscope
