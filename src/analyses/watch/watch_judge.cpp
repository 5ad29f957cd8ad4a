#include "analyses/watch/watch_judge.h"

#include "base/number_text.h"
#include "base/rank_excess.h"
#include "base/sort.h"
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

namespace rankscope {
namespace {

constexpr double kErr = 0.025;      ///< error probability of each kind of alarm, over all windows
constexpr double kConfirmed = 0.01; ///< level that each of two consecutive windows must reach
constexpr std::size_t kQuietWindows = 3;
constexpr std::size_t kMostCollectives = 4096; ///< collectives whose bandwidth is stored
/// Minimum number of windows to estimate the variation between windows. A slow change is compared
/// with this number of first windows.
constexpr std::uint64_t kFewestWindows = 5;

std::string reason_of(AlarmKind kind, std::string_view subject) {
  return fmt::format("{} {}", alarm_name(kind), subject);
}

/// Returns whether the mean of `test` is below the previous bandwidth at this level. Uses the
/// variance of steps and, with enough windows, also the variance of windows.
bool below(const BandwidthSample& before, const SampleStats& test, double alpha) {
  const SampleStats base{static_cast<std::size_t>(before.steps.n), before.steps.mean,
                         before.steps.variance()};
  const std::optional<MeanDifference> change = welch(base, test, alpha);
  if (!change || change->difference + change->half_width >= 0)
    return false;
  const RunningSample& windows = before.windows;
  if (windows.n < kFewestWindows)
    return true;
  const auto n = static_cast<double>(windows.n);
  return test.mean <
         windows.mean - student_t(n - 1, alpha) * std::sqrt(windows.variance() * (1 + 1 / n));
}

/// Returns a text such as "; the others wait 0.94 ms per step for it (0.23 %), not hidden by other
/// work"; "" if the time is unknown. `whom`: "it" or "rank 5".
std::string waits_text(const WatchWindow& window, const WatchedLateness& row,
                       const std::string& whom) {
  if (!row.waits_ms)
    return {};
  const double ms = std::max(0.0, *row.waits_ms);
  if (window.step_ms <= 0)
    return fmt::format("; this costs at most {:.3g} ms per second ({:.2g} %)", ms, ms / 10);
  return fmt::format("; the others wait {:.3g} ms per step for {} ({:.2g} %), not hidden by other "
                     "work",
                     ms, whom, 100 * ms / window.step_ms);
}

/// Returns the ranks with at least half of the median number of samples. The others are left out,
/// because the rank with the fewest samples determines the number of steps of the test.
std::vector<const WatchedLateness*> comparable_rows(const WatchWindow& window) {
  std::vector<double> sizes;
  for (const WatchedLateness& row : window.lateness)
    sizes.push_back(static_cast<double>(row.late_us.size()));
  std::vector<const WatchedLateness*> out;
  if (sizes.empty())
    return out;
  const double usual = quantile_of(std::move(sizes), 0.5);
  for (const WatchedLateness& row : window.lateness)
    if (!row.late_us.empty() && 2 * static_cast<double>(row.late_us.size()) >= usual)
      out.push_back(&row);
  return out;
}

struct StragglerRow {
  const WatchedLateness* row;
  double late_us, half_width;
};

/// Names at most four ranks with their lateness, the latest first.
std::string straggler_text(const WatchWindow& window, const std::vector<StragglerRow>& late,
                           const std::vector<std::int64_t>& ranks) {
  constexpr std::size_t kNamed = 4;
  const StragglerRow& worst = late.front();
  const std::string waits = waits_text(
      window, *worst.row, late.size() == 1 ? "it" : fmt::format("rank {}", worst.row->rank));
  const std::string evidence = fmt::format("({} {} of {} ranks)", worst.row->late_us.size(),
                                           window.step_ms > 0 ? "steps" : "samples", window.ranks);
  if (late.size() == 1)
    return fmt::format(
        "{}: rank {} starts its collectives {:.1f} \u00b5s \u00b1 {:.1f} \u00b5s later than the "
        "others{} {}",
        window.label, worst.row->rank, worst.late_us, worst.half_width, waits, evidence);
  std::string named;
  for (std::size_t i = 0; i < std::min(kNamed, late.size()); ++i)
    named += fmt::format("{}rank {} by {:.1f} \u00b5s \u00b1 {:.1f} \u00b5s", i == 0 ? "" : ", ",
                         late[i].row->rank, late[i].late_us, late[i].half_width);
  return fmt::format("{}: ranks {} start their collectives later than the others: {}{}{} {}",
                     window.label, ranges_text(ranks), named, late.size() > kNamed ? ", ..." : "",
                     waits, evidence);
}

/// Adds a window. The sample of the first windows is complete after kFewestWindows windows.
void add_window(BandwidthBefore& before, const std::vector<double>& gbps) {
  const double mean = sample_stats(gbps).mean;
  const bool first = before.first.windows.n < kFewestWindows;
  for (BandwidthSample* const sample : {&before.all, first ? &before.first : nullptr}) {
    if (sample == nullptr)
      continue;
    for (const double value : gbps)
      sample->steps.add(value);
    sample->windows.add(mean);
  }
}

/// A kind of collective whose bandwidth is lower in this window.
struct BandwidthFall {
  const WatchedBandwidth* row;
  double before, now;
  bool slow;   ///< below the first windows, but not below all windows
  bool surely; ///< significant even without another window
};

std::string fall_text(const WatchWindow& window, const BandwidthFall& worst, std::size_t fell,
                      std::size_t family) {
  return fmt::format(
      "{}: bandwidth falls: {} reaches {:.1f} GB/s, {:.0f} % less than the "
      "{:.1f} GB/s {}; {} of {} kinds of collectives fell",
      window.label, worst.row->what, worst.now, 100 * (1 - worst.now / worst.before), worst.before,
      worst.slow ? fmt::format("of the first {} windows", kFewestWindows) : "before", fell, family);
}

} // namespace

std::string_view alarm_name(AlarmKind kind) {
  switch (kind) {
  case AlarmKind::kStraggler:
    return "straggler";
  case AlarmKind::kBandwidth:
    return "bandwidth";
  case AlarmKind::kHang:
    return "hang";
  case AlarmKind::kCollective:
    return "collective";
  case AlarmKind::kSilent:
    return "silent";
  }
  return "";
}

void RunningSample::add(double value) {
  ++n;
  const double off = value - mean;
  mean += off / static_cast<double>(n);
  squares += off * (value - mean);
}

double WatchJudge::spent_alpha(std::size_t family) const {
  const auto k = static_cast<double>(windows_);
  return kErr / (k * (k + 1)) / static_cast<double>(std::max<std::size_t>(1, family));
}

bool WatchJudge::is_news(const std::string& reason, bool surely) {
  const auto [at, fresh] = reasons_.try_emplace(reason);
  WatchReason& seen = at->second;
  const bool again = !fresh && seen.last_window + 1 == windows_;
  seen.last_window = windows_;
  if (seen.raised || !(surely || again))
    return false;
  seen.raised = true;
  return true;
}

void WatchJudge::forget_gone() {
  std::erase_if(reasons_, [this](const auto& reason) {
    return reason.second.last_window + kQuietWindows <= windows_;
  });
}

std::vector<Alarm> WatchJudge::judge(const WatchWindow& window) {
  ++windows_;
  std::vector<Alarm> out;
  gaps(window, out);
  stragglers(window, out);
  bandwidth(window, out);
  forget_gone();
  for (Alarm& alarm : out)
    alarm.label = window.label;
  return out;
}

double WatchJudge::least_late_us(const WatchWindow& window) const {
  if (limits_.least_late_us)
    return *limits_.least_late_us;
  return window.step_ms > 0 ? 0 : WatchLimits::kLeastLateUs;
}

bool WatchJudge::costs_enough(const WatchWindow& window, const WatchedLateness& row) const {
  return limits_.least_late_us || window.step_ms <= 0 || !row.waits_ms ||
         *row.waits_ms >= WatchLimits::kLeastCostPercent / 100 * window.step_ms;
}

void WatchJudge::stragglers(const WatchWindow& window, std::vector<Alarm>& out) {
  constexpr double kClockUs = 0.001; // resolution of durations
  const std::vector<const WatchedLateness*> rows = comparable_rows(window);
  // test the excess over the smallest lateness that counts
  const double least_us = least_late_us(window);
  std::vector<StepSeries> over;
  for (const WatchedLateness* const row : rows) {
    over.push_back(row->late_us);
    for (double& value : over.back())
      value -= least_us;
  }
  const RankTest test = std::move(test_ranks(std::span(&over, 1), kClockUs, kConfirmed).front());
  const double alone = spent_alpha(rows.size());
  std::vector<StragglerRow> late;
  for (std::size_t r = 0; r < test.ranks.size(); ++r) {
    const RankExcess& excess = test.ranks[r];
    if (excess.significant && costs_enough(window, *rows[r]) &&
        is_news(reason_of(AlarmKind::kStraggler, std::to_string(rows[r]->rank)), excess.p <= alone))
      late.push_back({rows[r], excess.excess + least_us, excess.half_width});
  }
  if (late.empty())
    return;
  std::vector<std::int64_t> ranks; // ascending, like the rows
  for (const StragglerRow& rank : late)
    ranks.push_back(rank.row->rank);
  sort_stably(late, std::ranges::greater(), &StragglerRow::late_us);
  out.push_back({AlarmKind::kStraggler, ranges_text(ranks), straggler_text(window, late, ranks),
                 windows_, 0});
}

void WatchJudge::bandwidth(const WatchWindow& window, std::vector<Alarm>& out) {
  std::size_t family = 0;
  for (const WatchedBandwidth& row : window.bandwidths)
    family += before_.count(row.what);
  // each kind is compared twice: with all windows and with the first windows
  const double confirm = kConfirmed / static_cast<double>(std::max<std::size_t>(1, 2 * family));
  const double alone = spent_alpha(2 * family);
  std::vector<BandwidthFall> falls;
  for (const WatchedBandwidth& row : window.bandwidths) {
    const SampleStats now = sample_stats(row.gbps);
    const auto fell = [&](const BandwidthSample& before, bool slow) {
      const bool far = before.steps.mean > 0 &&
                       100 * (1 - now.mean / before.steps.mean) >= limits_.least_fall_percent;
      if (!far || !below(before, now, confirm))
        return false;
      falls.push_back({&row, before.steps.mean, now.mean, slow, below(before, now, alone)});
      return true;
    };
    const auto known = before_.find(row.what);
    if (known == before_.end() && before_.size() >= kMostCollectives)
      continue;
    if (known != before_.end() &&
        (fell(known->second.all, false) ||
         (known->second.first.windows.n >= kFewestWindows && fell(known->second.first, true))))
      continue; // reduced bandwidth is not a reference for later windows
    add_window(before_[row.what], row.gbps);
  }
  const BandwidthFall* worst = nullptr;
  for (const BandwidthFall& fall : falls)
    if (is_news(reason_of(AlarmKind::kBandwidth, fall.row->what), fall.surely) &&
        (worst == nullptr || fall.now / fall.before < worst->now / worst->before))
      worst = &fall;
  if (worst != nullptr)
    out.push_back({AlarmKind::kBandwidth, worst->row->what,
                   fall_text(window, *worst, falls.size(), family), windows_, 0});
}

void WatchJudge::gaps(const WatchWindow& window, std::vector<Alarm>& out) {
  for (const WatchedGap& gap : window.gaps)
    if (is_news(reason_of(AlarmKind::kCollective, gap.group), true))
      out.push_back(
          {AlarmKind::kCollective, gap.group,
           fmt::format("{}: hang suspected: rank{} {} entered {} of group {} {}, "
                       "rank{} {} did not ({} collective{} in all)",
                       window.label, gap.entered.size() == 1 ? "" : "s", ranges_text(gap.entered),
                       gap.name, gap.group, gap.where, gap.absent.size() == 1 ? "" : "s",
                       ranges_text(gap.absent), gap.collectives, gap.collectives == 1 ? "" : "s"),
           windows_, 0});
}

std::optional<Alarm> WatchJudge::judge_still(const std::vector<std::int64_t>& still,
                                             std::string_view others) {
  std::vector<std::int64_t> news;
  std::set_difference(still.begin(), still.end(), still_.begin(), still_.end(),
                      std::back_inserter(news));
  still_ = still;
  if (news.empty())
    return std::nullopt;
  const std::string which = ranges_text(news);
  return Alarm{AlarmKind::kHang, which,
               fmt::format("hang suspected: no new data from rank{} {}: {}",
                           news.size() == 1 ? "" : "s", which, others),
               windows_, 0};
}

} // namespace rankscope
