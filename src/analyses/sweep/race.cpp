#include "analyses/sweep/race.h"

#include "base/sample_intervals.h"

#include <algorithm>
#include <numbers>
#include <numeric>

namespace rankscope {

Race::Race(std::size_t settings, std::size_t default_setting, std::size_t most_rounds)
    : default_(default_setting), most_rounds_(most_rounds), left_(settings), worse_than_(settings),
      times_(settings) {
  std::iota(left_.begin(), left_.end(), std::size_t{0});
}

/// Returns a - b for each round that both have.
std::vector<double> Race::differences(std::size_t a, std::size_t b) const {
  std::vector<double> out;
  const std::size_t n = std::min(times_[a].size(), times_[b].size());
  for (std::size_t r = 0; r < n; ++r)
    if (times_[a][r] && times_[b][r])
      out.push_back(*times_[a][r] - *times_[b][r]);
  return out;
}

/// Returns the interval of a - b; nullopt with fewer than two rounds, or with two rounds whose
/// differences are equal within rounding.
std::optional<MeanDifference> Race::interval(std::size_t a, std::size_t b, double alpha) const {
  std::vector<double> values;
  for (const std::vector<std::optional<double>>& times : times_)
    for (const std::optional<double>& time : times)
      if (time)
        values.push_back(*time);
  const double step = decimal_step(values);
  const SampleStats exact = sample_stats(differences(a, b));
  // the difference of two rounded values has the rounding error of both
  const SampleStats rounded = with_rounding(exact, std::numbers::sqrt2 * step);
  if (exact.n < 3 && exact.variance < rounded.variance)
    return std::nullopt;
  return mean_interval(rounded, alpha);
}

/// Compares the mean differences to the default, because rounds differ and not all settings have
/// all rounds.
std::size_t Race::leader() const {
  std::size_t best = default_;
  double best_mean = 0;
  for (const std::size_t setting : left_) {
    const std::vector<double> d = differences(setting, default_);
    const double mean = d.empty() ? 0 : sample_stats(d).mean;
    if (setting != default_ && !d.empty() && mean < best_mean) {
      best = setting;
      best_mean = mean;
    }
  }
  return best;
}

void Race::add_round(const std::vector<std::optional<double>>& times) {
  ++rounds_;
  for (std::vector<std::optional<double>>& list : times_)
    list.resize(rounds_);
  std::vector<std::size_t> gone;
  for (std::size_t i = 0; i < left_.size(); ++i) {
    times_[left_[i]][rounds_ - 1] = times[i];
    if (!times[i] && left_[i] != default_)
      gone.push_back(left_[i]);
  }
  const auto is_gone = [&](std::size_t setting) {
    return std::ranges::find(gone, setting) != gone.end();
  };
  std::erase_if(left_, is_gone);
  for (std::size_t setting = 0; setting < worse_than_.size(); ++setting)
    if (worse_than_[setting] && is_gone(*worse_than_[setting])) {
      worse_than_[setting].reset();
      left_.insert(std::ranges::lower_bound(left_, setting), setting);
    }
  const std::size_t best = leader();
  const double alpha = corrected_alpha(times_.size() - 1);
  std::erase_if(left_, [&](std::size_t setting) {
    if (setting == best || setting == default_)
      return false;
    const auto worse = interval(setting, best, alpha);
    if (!worse || worse->difference - worse->half_width <= 0)
      return false;
    worse_than_[setting] = best;
    return true;
  });
}

RaceOutcome Race::outcome() const {
  RaceOutcome out;
  out.leader = leader();
  out.shared = differences(out.leader, default_).size();
  if (out.leader == default_)
    return out;
  out.gain = interval(default_, out.leader, corrected_alpha((times_.size() - 1) * most_rounds_));
  out.recommended = out.gain && out.gain->difference - out.gain->half_width > 0;
  return out;
}

bool Race::over() const {
  if (rounds_ >= most_rounds_ || left_.size() < 2)
    return true;
  return left_.size() == 2 && outcome().recommended;
}

} // namespace rankscope
