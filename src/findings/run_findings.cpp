#include "findings/run_findings.h"

#include "analyses/gemm/gemm_data.h"
#include "analyses/timeline/idle_causes.h"
#include "base/display_text.h"
#include "base/statistics.h"
#include "base/units.h"
#include "findings/compose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace rankscope {
namespace {

/// A launch takes microseconds. If a start is later by at least this time, something else delays
/// it.
constexpr double kLongLaunchMs = 1;
/// A stream takes up to this time from one queued kernel to the next, without a reason.
constexpr double kTurnaroundUs = 5;

Finding finding_about(const FindingRule& rule, const ShownRun& run) {
  return run.label.empty() ? finding_of(rule, "run", "")
                           : finding_of(rule, "configuration", run.label);
}

std::string with_label(const ShownRun& run) {
  return run.label.empty() ? std::string() : " with " + run.name;
}

std::string over_ranks(const ShownRun& run) {
  return run.ranks->ranks.size() > 1 ? fmt::format("Mean over {} ranks", run.ranks->ranks.size())
                                     : std::string("One rank");
}

/// Sets value, cost and headline: "... 12.4 ms, 18.2 % of the time".
Finding part_of_time(const FindingRule& rule, const ShownRun& run, double ms, double percent,
                     const char* what) {
  Finding out = finding_about(rule, run);
  out.value = ms;
  out.unit = Unit::kMs;
  if (const double steps = run.ranks->mean_steps(); steps > 0)
    out.cost_ms = ms / steps;
  set_headline(out, fmt::format("{} {} ms, {} of the time{}", what, number3(ms),
                                percent_text(percent), with_label(run)));
  return out;
}

/// Returns "40 %" or "40 to 60 %" of two fractions.
std::string percent_range(double low, double high) {
  const std::string least = fmt::format("{:.0f}", low * 100);
  const std::string most = fmt::format("{:.0f}", high * 100);
  return least == most ? least + " %" : fmt::format("{} to {} %", least, most);
}

/// Adds to the evidence which part of the exposed time is waiting, and sets the action: which one
/// helps depends on the larger part.
void set_split(const ExposedWaits& waits, std::size_t ranks, Finding& out) {
  const double least = waits.least();
  const double most = waits.most();
  const bool unknown = least < 0.005 && most > 0.995; // "0 to 100 %"
  if (unknown)
    out.evidence += "; it is unknown how much of this time is waiting for late ranks";
  else if (most <= 0.5)
    out.evidence +=
        fmt::format("; {} of this time is transfer", percent_range(1 - most, 1 - least));
  else
    out.evidence += fmt::format("; {} of this time is waiting for the last rank to start",
                                percent_range(least, most));
  if (most <= 0.5)
    out.action = "Start collectives earlier or make them smaller (bucket size, prefetch), so that "
                 "compute overlaps them";
  else if (least > 0.5)
    out.action = "Find why ranks are late before changing collectives: rankscope collectives, "
                 "straggler_summary";
  else if (!waits.all_ranks)
    out.action = "Add the traces of the missing ranks: the waits depend on them";
  else
    out.action = ranks == 1 ? "Compare all ranks: rankscope collectives"
                            : "See how much of this time is waiting: rankscope why";
}

/// Returns the sums over the ranks of a field of RankRecord, by cause of idle time.
using IdleField = IdleByCause RankRecord::*;
std::array<double, kIdleCauses> sums_by_cause(const ConfigurationRanks& ranks, IdleField field) {
  std::array<double, kIdleCauses> out{};
  for (const RankRecord* r : ranks.ranks)
    for (std::size_t c = 0; c < kIdleCauses; ++c)
      out[c] += static_cast<double>((r->*field)[c]);
  return out;
}

/// Returns the longest idle interval with this cause.
std::optional<FindingPlace> longest_idle(const ConfigurationRanks& ranks, IdleCause cause) {
  std::optional<FindingPlace> out;
  for (const RankRecord* r : ranks.ranks) {
    const Interval& interval = r->longest_idle[static_cast<std::size_t>(cause)];
    if (interval.end - interval.start > (out ? out->end_ns - out->start_ns : 0))
      out = FindingPlace{r->key.rank, interval.start, interval.end};
  }
  return out;
}

/// Adds to the evidence whether the calls of a row take longer if collectives overlap them. The
/// level of the interval takes all `rows` rows into account.
void add_overlap(const GemmRow& row, std::size_t rows, Finding& out) {
  if (std::isnan(row.slowdown_us)) {
    out.evidence +=
        row.longest_overlap_percent() > 0
            ? "; the cost of overlap cannot be estimated: too few calls, or nearly the same "
              "overlap in all calls at a place in the step"
            : ""; // the evidence says that collectives overlap 0 % of the slowest call
    return;
  }
  const double degrees = row.slowdown_degrees;
  const double half =
      row.slowdown_half_us * student_t(degrees, corrected_alpha(rows)) / student_t95(degrees);
  const double us = row.slowdown_us;
  const std::string level = rows > 1 ? fmt::format("95 % CI over {} rows", rows) : "95 % CI";
  if (std::fabs(us) <= half) {
    if (half > row.calls_us.max) // a limit above the calls themselves says nothing
      out.evidence += "; too few calls to know whether overlap by collectives makes them longer";
    else
      out.evidence +=
          fmt::format("; these calls do not show an effect of overlap by collectives ({} \u00b5s "
                      "when fully overlapped, {})",
                      range3(us - half, us + half), level);
    out.detectable = half;
    return;
  }
  out.evidence += fmt::format(
      "; calls that collectives overlap are {}: {} \u00b5s {} when fully overlapped ({} {})",
      us > 0 ? "longer" : "shorter", number3(std::fabs(us)), us > 0 ? "slower" : "faster", level,
      amounts3({us, half}));
  if (us > 0)
    out.action = "See which collectives overlap the slowest GEMM calls: rankscope gemm overlap";
}

} // namespace

std::optional<Finding> exposed_finding(const ShownRun& run,
                                       const std::optional<ExposedWaits>& waits) {
  const double total = run.ranks->mean_ms(TimeKind::kTotal);
  const double exposed = run.ranks->mean_ms(TimeKind::kExposedComm);
  if (!(total > 0) || !(exposed / total * 100 >= kWorthAFinding))
    return std::nullopt;
  Finding out = part_of_time(rules::exposed_communication, run, exposed, exposed / total * 100,
                             "Communication is exposed for");
  out.evidence = over_ranks(run);
  set_split(waits.value_or(ExposedWaits()), run.ranks->ranks.size(), out);
  return out;
}

IdleCause main_idle_cause(const ConfigurationRanks& ranks) {
  const std::array<double, kIdleCauses> by_cause = sums_by_cause(ranks, &RankRecord::idle_ns);
  return static_cast<IdleCause>(std::ranges::max_element(by_cause) - by_cause.begin());
}

std::optional<Finding> idle_finding(const ShownRun& run) {
  const double total = run.ranks->mean_ms(TimeKind::kTotal);
  const double idle = run.ranks->mean_ms(TimeKind::kIdle);
  const std::array<double, kIdleCauses> by_cause = sums_by_cause(*run.ranks, &RankRecord::idle_ns);
  const double all = std::accumulate(by_cause.begin(), by_cause.end(), 0.0);
  if (!(total > 0) || !(idle / total * 100 >= kWorthAFinding) || !(all > 0))
    return std::nullopt;
  const IdleCause cause = main_idle_cause(*run.ranks);
  Finding out = part_of_time(rules::idle_gpu, run, idle, idle / total * 100, "The GPU is idle for");
  out.evidence = fmt::format("{}; {} of the idle time is {} ({})", over_ranks(run),
                             percent_text(by_cause[static_cast<std::size_t>(cause)] / all * 100),
                             idle_cause_name(cause), idle_cause_help(cause));
  out.action = capital(std::string(idle_cause_advice(cause)));
  out.place = longest_idle(*run.ranks, cause);
  const double longest_ms = out.place ? ns_to_ms(out.place->end_ns - out.place->start_ns) : 0;
  const auto row = static_cast<std::size_t>(cause);
  const double mean_us =
      ns_to_us(by_cause[row] / sums_by_cause(*run.ranks, &RankRecord::idle_gaps)[row]);
  if (cause == IdleCause::kQueued && mean_us < kTurnaroundUs && longest_ms < idle / 2) {
    out.evidence += fmt::format(
        "; a gap takes {} \u00b5s on average, which is usual between kernels", number3(mean_us));
    out.action = "Run fewer, larger kernels (fusion, compilation)";
  }
  if (cause == IdleCause::kLaunch && longest_ms >= kLongLaunchMs && longest_ms >= idle / 2) {
    out.evidence += fmt::format("; one gap is {} ms", number3(longest_ms));
    out.action = "Find what delays this start: work or events that the trace does not contain";
  }
  return out;
}

std::optional<MeanDifference> contention_percent(const std::optional<Estimate>& contention,
                                                 std::size_t comparisons) {
  if (!contention)
    return std::nullopt;
  const MeanDifference d = contention->interval(corrected_alpha(comparisons));
  if (d.difference - d.half_width <= kLeastSlowdown)
    return std::nullopt;
  return MeanDifference{d.difference * 100, d.half_width * 100};
}

std::optional<Finding> contention_finding(const ShownRun& run,
                                          const std::optional<Estimate>& contention,
                                          std::size_t comparisons, const std::string& where) {
  const std::optional<MeanDifference> percent = contention_percent(contention, comparisons);
  if (!percent)
    return std::nullopt;
  Finding out = finding_about(rules::gemm_contention, run);
  set_interval(out, percent->difference, percent->half_width, Unit::kPercent);
  set_headline(out, fmt::format("{}GEMMs that run entirely under a collective are {} slower",
                                run.label.empty() ? "" : "With " + run.name + ", ",
                                percent_text(percent->difference)));
  out.evidence = fmt::format("{} {} %; {} overlapped calls, compared with calls of the same shape "
                             "without overlap, at any place in the step{}",
                             level_text(comparisons), range3(*percent), contention->calls, where);
  out.action = "If the overlap is the reason, fewer channels, or collectives at another place in "
               "the step, can make the GEMMs faster";
  return out;
}

namespace {

/// Returns "2 kernels: A 16 calls, B 8 calls".
std::string served_text(const std::vector<ServedCalls>& served) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> kernels;
  for (std::size_t k = 0; k < std::min(kMost, served.size()); ++k)
    kernels.push_back(fmt::format("{} {}", brief(served[k].kernel, 40),
                                  counted(served[k].calls, "call", "calls")));
  return fmt::format("{} kernels: {}{}", served.size(), fmt::join(kernels, ", "),
                     served.size() > kMost ? ", ..." : "");
}

} // namespace

std::vector<Finding> gemm_findings(const GemmFacts& facts, std::size_t most) {
  std::vector<Finding> out;
  std::set<std::string> named;
  for (const GemmRow& row : facts.rows) {
    if (out.size() == most)
      break;
    const bool alike = row.calls_us.max < (1 + kWorthAFinding / 100) * row.calls_us.min;
    // launches of one kernel without an operator can be different products
    const bool product = row.op != kGemmKernelOnly;
    const auto name_with = [&](const std::string& shapes) {
      return product ? row.op + (shapes.empty() ? "" : " ") + shapes : row.kernel;
    };
    const std::string name = name_with(row.dims);
    if (alike || !named.insert(name).second)
      continue;
    Finding f = finding_of(rules::gemm_spread, "operator", name);
    f.value = row.calls_us.max - row.calls_us.min;
    f.unit = Unit::kUs;
    f.place = FindingPlace{row.key.rank, row.longest.start_ns, row.longest.end_ns};
    set_headline(f, fmt::format("{}: calls take {} \u00b5s{}",
                                brief(name_with(short_shapes(row.dims)), 56),
                                range3(row.calls_us.min, row.calls_us.max),
                                product ? "" : ", shapes unknown"));
    f.evidence =
        fmt::format("{}, {}{} on the same stream and GPU; collectives overlap {:.0f} % of the "
                    "slowest call",
                    to_text(row.key), counted(row.calls_us.count, "call", "calls"),
                    row.strides.empty() ? "" : " with the same strides and scalars",
                    row.longest_overlap_percent());
    if (row.served.size() > 1)
      f.evidence += "; " + served_text(row.served);
    add_overlap(row, facts.rows.size(), f);
    out.push_back(std::move(f));
  }
  return out;
}

} // namespace rankscope
