#include "analyses/sweep/tuner.h"

#include "base/rank_excess.h"
#include "base/sample_intervals.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
constexpr std::array<std::string_view, 5> kCollectives = {"allreduce", "allgather", "reducescatter",
                                                          "broadcast", "reduce"};

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (const auto letter = static_cast<unsigned char>(c); std::isalnum(letter) != 0)
      out += static_cast<char>(std::tolower(letter));
  return out;
}

/// Returns whether the library supports the algorithm for the collective.
bool possible(std::string_view collective, const std::string& algorithm) {
  if (algorithm == "ring")
    return true;
  if (collective == "allreduce")
    return algorithm != "pat";
  return (collective == "allgather" || collective == "reducescatter") &&
         (algorithm == "pat" || algorithm == "nvls" || algorithm == "collnet_direct");
}

/// Measurements of a collective, number of ranks and size, by index of the setting.
using TunerSamples = std::map<std::size_t, SampleStats>;
struct TunerGroup {
  std::string_view collective;
  std::int64_t ranks = 0;
  bool operator<(const TunerGroup& other) const {
    return std::tie(collective, ranks) < std::tie(other.collective, other.ranks);
  }
};
using Measured = std::map<TunerGroup, std::map<std::int64_t, TunerSamples>>;

/// Returns both samples as one.
SampleStats pooled(const SampleStats& a, const SampleStats& b) {
  if (a.n == 0 || b.n == 0)
    return a.n == 0 ? b : a;
  const auto na = static_cast<double>(a.n);
  const auto nb = static_cast<double>(b.n);
  SampleStats out;
  out.n = a.n + b.n;
  out.mean = (na * a.mean + nb * b.mean) / (na + nb);
  const double between = na * (a.mean - out.mean) * (a.mean - out.mean) +
                         nb * (b.mean - out.mean) * (b.mean - out.mean);
  out.variance = ((na - 1) * a.variance + (nb - 1) * b.variance + between) / (na + nb - 1);
  return out;
}

struct MeasuredSources {
  Measured all;
  double dependence = 0; ///< lag-1 correlation of the steps
};

MeasuredSources measured(const std::vector<TunerSource>& sources) {
  MeasuredSources out;
  std::vector<StepSeries> series;
  std::vector<double> means;
  for (const TunerSource& source : sources) {
    // collectives of one step are one sample, even from several process groups
    std::map<TunerGroup, std::map<std::int64_t, SampleSet>> source_samples;
    for (const SyncSummary& row : source.collectives->summary) {
      const std::string_view collective = tuner_collective(row.name);
      const auto samples = source.collectives->samples.find(key_of(row));
      if (collective.empty() || !(row.full_mib > 0) || !(row.latency_us.mean > 0) ||
          row.group_size < 2 || samples == source.collectives->samples.end())
        continue;
      const auto bytes = static_cast<std::int64_t>(std::llround(row.full_mib * 1'048'576));
      source_samples[{collective, row.group_size}][bytes].add(samples->second.latency_us);
    }
    for (const auto& [group, sizes] : source_samples)
      for (const auto& [bytes, samples] : sizes) {
        SampleStats& all = out.all[group][bytes][source.setting];
        all = pooled(all, samples.stats());
        series.push_back(samples.means());
        means.insert(means.end(), series.back().begin(), series.back().end());
      }
  }
  out.dependence = lag1_dependence(series);
  const double resolution = decimal_step(means);
  for (auto& [group, sizes] : out.all)
    for (auto& [bytes, settings] : sizes)
      for (auto& [setting, stats] : settings)
        stats = with_rounding(stats, resolution);
  return out;
}

struct Decision {
  std::size_t setting = 0;
  std::string evidence; ///< "": the default, because no setting is significantly better
};

Decision decide(const TunerSamples& samples, std::string_view collective,
                const std::vector<TunerSetting>& settings, std::size_t default_setting,
                double alpha, double dependence) {
  Decision out{default_setting, ""};
  const auto usual = samples.find(default_setting);
  if (usual == samples.end())
    return out;
  double best = 0;
  for (const auto& [setting, stats] : samples) {
    if (setting == default_setting || !possible(collective, settings[setting].choice.algorithm))
      continue;
    const auto gain = // default - setting
        welch_dependent(stats, usual->second, alpha, dependence);
    if (!gain || gain->difference - gain->half_width <= 0 || gain->difference <= best)
      continue;
    best = gain->difference;
    out = {setting,
           fmt::format("{}: {:.1f} us, {:.1f} us shorter than {} ({:.1f} to {:.1f})",
                       settings[setting].label, stats.mean, gain->difference,
                       settings[default_setting].label, gain->difference - gain->half_width,
                       gain->difference + gain->half_width)};
  }
  return out;
}

/// Returns the choice for the file, with an algorithm that the collective supports.
TunerChoice written(TunerChoice choice, std::string_view collective) {
  if (!possible(collective, choice.algorithm))
    choice.algorithm = "ring";
  return choice;
}

std::string row(std::string_view collective, std::int64_t least, std::int64_t most,
                const TunerChoice& c, std::int64_t ranks) {
  return fmt::format("{},{},{},{},{},{},-1,{},-1,-1\n", collective, least, most, c.algorithm,
                     c.protocol, c.channels, ranks);
}

/// Returns a comment within the 255 characters that the plugins read per line.
std::string comment(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  constexpr std::size_t kLongest = 240;
  if (text.size() > kLongest)
    text = text.substr(0, kLongest) + "...";
  return "# " + text + "\n";
}

} // namespace

std::optional<TunerChoice> tuner_choice(std::string_view algorithm, std::string_view protocol,
                                        std::int64_t channels) {
  constexpr std::array<std::string_view, 7> kAlgorithms = {
      "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
  constexpr std::array<std::string_view, 3> kProtocols = {"ll", "ll128", "simple"};
  if (channels <= 0 || algorithm.find_first_of(",^:;") != std::string_view::npos ||
      protocol.find_first_of(",^:;") != std::string_view::npos)
    return std::nullopt;
  const auto a = std::ranges::find_if(
      kAlgorithms, [&](std::string_view name) { return lower(name) == lower(algorithm); });
  const auto p = std::ranges::find(kProtocols, lower(protocol));
  if (a == kAlgorithms.end() || p == kProtocols.end())
    return std::nullopt;
  return TunerChoice{std::string(*a), std::string(*p), channels};
}

std::string_view tuner_collective(std::string_view name) {
  const std::string text = lower(name);
  for (const std::string_view collective : kCollectives)
    if (collective != "reduce" && text.find(collective) != std::string::npos)
      return collective;
  return text == "reduce" ? kCollectives.back() : std::string_view();
}

Result<std::string> tuner_file(const std::vector<TunerSetting>& settings,
                               std::size_t default_setting,
                               const std::vector<TunerSource>& sources) {
  const auto [all, dependence] = measured(sources);
  std::size_t comparisons = 0;
  bool usable = false;
  for (const auto& [group, sizes] : all)
    for (const auto& [bytes, samples] : sizes) {
      comparisons += samples.size() - 1;
      usable = usable || samples.count(default_setting) != 0;
    }
  if (!usable)
    return Error{ErrorCode::kUnreadable, "",
                 fmt::format("no collective was measured with the default {}",
                             settings[default_setting].label),
                 "traces of two ranks or more are needed"};
  std::string out =
      comment(fmt::format("rankscope {}: latencies of collectives, {} settings, default {}",
                          RANKSCOPE_VERSION, settings.size(), settings[default_setting].label)) +
      comment(
          fmt::format("another choice than the default where it is significantly shorter (Welch, "
                      "95 % over {} comparisons, a sample is a step)",
                      comparisons)) +
      comment(
          "from half the smallest to twice the largest size measured; for all else NCCL chooses "
          "(the example plugin then sets one channel)") +
      comment("colltype,minbytes,maxbytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,"
              "regBuff");
  const double alpha = corrected_alpha(comparisons);
  for (const auto& [group, sizes] : all) {
    std::int64_t least = sizes.begin()->first / 2; // rows begin at half the smallest measured size
    std::optional<TunerChoice> open;               // rows with the same choice are combined
    for (auto at = sizes.begin(); at != sizes.end(); ++at) {
      const Decision d =
          decide(at->second, group.collective, settings, default_setting, alpha, dependence);
      const TunerChoice choice = written(settings[d.setting].choice, group.collective);
      if (open && *open != choice) {
        const std::int64_t before = std::prev(at)->first;
        const std::int64_t cut = before + (at->first - before) / 2;
        out += row(group.collective, least, cut, *open, group.ranks);
        least = cut + 1;
      }
      if (!d.evidence.empty())
        out += comment(fmt::format("{} bytes, {}", at->first, d.evidence));
      open = choice;
    }
    const std::int64_t largest = sizes.rbegin()->first;
    const std::int64_t most = largest > kMostBytes / 2 ? kMostBytes : 2 * largest;
    out += row(group.collective, least, most, *open, group.ranks);
  }
  return out;
}

} // namespace rankscope
