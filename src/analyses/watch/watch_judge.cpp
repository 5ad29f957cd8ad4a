#include "analyses/watch/watch_judge.h"

#include "base/number_text.h"
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr double kErr = 0.025;      ///< of each kind of statement, over all windows
constexpr double kConfirmed = 0.01; ///< two windows in a row, each at this level
constexpr std::size_t kQuietWindows = 3;
constexpr std::size_t kMostCollectives = 4096; ///< whose bandwidth is remembered
constexpr std::uint64_t kFewestWindows = 5;    ///< that tell how windows scatter

std::string reason_of(AlarmKind kind, std::string_view subject) {
  return fmt::format("{} {}", alarm_name(kind), subject);
}

/// How far a mean of `test` lies below what was before, at this level: by the scatter of steps, and
/// where there were enough windows by theirs too.
bool below(const BandwidthBefore& before, const SampleStats& test, double alpha) {
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

bool WatchJudge::told(const std::string& reason, bool surely) {
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
  return out;
}

void WatchJudge::stragglers(const WatchWindow& window, std::vector<Alarm>& out) {
  const std::size_t family = window.lateness.size();
  if (family < 2)
    return;
  const double confirm = kConfirmed / static_cast<double>(family);
  const double alone = spent_alpha(family);
  const WatchedLateness* latest = nullptr;
  double most = 0;
  for (const WatchedLateness& rank : window.lateness)
    if (const double mean = sample_stats(rank.late_us).mean; latest == nullptr || mean > most) {
      latest = &rank;
      most = mean;
    }
  const std::optional<MeanDifference> near = mean_interval(latest->late_us, confirm);
  if (!near || near->difference - near->half_width <= limits_.least_late_us)
    return;
  const std::optional<MeanDifference> far = mean_interval(latest->late_us, alone);
  const bool surely = far && far->difference - far->half_width > limits_.least_late_us;
  const std::string subject = std::to_string(latest->rank);
  if (!told(reason_of(AlarmKind::kStraggler, subject), surely))
    return;
  const MeanDifference& shown = surely ? *far : *near;
  out.push_back({AlarmKind::kStraggler, subject,
                 fmt::format("{}: rank {} comes {:.1f} us +- {:.1f} us after the others to their "
                             "collectives ({} steps of {} ranks)",
                             window.label, latest->rank, shown.difference, shown.half_width,
                             latest->late_us.size(), window.ranks),
                 windows_});
}

void WatchJudge::bandwidth(const WatchWindow& window, std::vector<Alarm>& out) {
  std::size_t family = 0;
  for (const WatchedBandwidth& row : window.bandwidths)
    family += before_.count(row.what);
  struct Fall {
    const WatchedBandwidth* row;
    double before, now;
  };
  std::vector<Fall> falls;
  bool surely = false;
  for (const WatchedBandwidth& row : window.bandwidths) {
    const SampleStats now = sample_stats(row.gbps);
    const auto known = before_.find(row.what);
    if (known != before_.end() && known->second.steps.mean > 0) {
      const BandwidthBefore& before = known->second;
      const double share = 100 * (1 - now.mean / before.steps.mean);
      if (share >= limits_.least_fall_percent &&
          below(before, now, kConfirmed / static_cast<double>(family))) {
        surely = surely || below(before, now, spent_alpha(family));
        falls.push_back({&row, before.steps.mean, now.mean});
        continue; // what has fallen is no measure of the next
      }
    }
    if (known == before_.end() && before_.size() >= kMostCollectives)
      continue;
    BandwidthBefore& before = before_[row.what];
    for (const double gbps : row.gbps)
      before.steps.add(gbps);
    before.windows.add(now.mean);
  }
  if (falls.empty() || !told(reason_of(AlarmKind::kBandwidth, ""), surely))
    return;
  const Fall& worst =
      *std::min_element(falls.begin(), falls.end(), [](const Fall& a, const Fall& b) {
        return a.now / a.before < b.now / b.before;
      });
  out.push_back(
      {AlarmKind::kBandwidth, worst.row->what,
       fmt::format("{}: bandwidth falls: {} reaches {:.1f} GB/s, {:.0f} % less than the "
                   "{:.1f} GB/s before; {} of {} kinds of collectives fell",
                   window.label, worst.row->what, worst.now, 100 * (1 - worst.now / worst.before),
                   worst.before, falls.size(), family),
       windows_});
}

void WatchJudge::gaps(const WatchWindow& window, std::vector<Alarm>& out) {
  for (const WatchedGap& gap : window.gaps)
    if (told(reason_of(AlarmKind::kCollective, gap.group), true))
      out.push_back(
          {AlarmKind::kCollective, gap.group,
           fmt::format("{}: hang suspected: rank{} {} entered {} of group {} {}, "
                       "rank{} {} did not ({} collective{} in all)",
                       window.label, gap.entered.size() == 1 ? "" : "s", ranges_text(gap.entered),
                       gap.name, gap.group, gap.where, gap.absent.size() == 1 ? "" : "s",
                       ranges_text(gap.absent), gap.collectives, gap.collectives == 1 ? "" : "s"),
           windows_});
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
               fmt::format("hang suspected: nothing new of rank{} {}: {}",
                           news.size() == 1 ? "" : "s", which, others),
               windows_};
}

} // namespace rankscope
