#include "pages/why_page.h"

#include "base/sort.h"
#include "base/units.h"
#include "findings/cause_findings.h"
#include "findings/compose.h"
#include "pages/top_page.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kWidestWhy = 200;
constexpr std::size_t kPathRows = 6;
constexpr double kWorthAPart = 0.05;   ///< minimum share of a rank's lateness
constexpr double kProfilerPercent = 3; ///< profilers may lengthen a step by so much

void why_overview(const CauseFacts& facts, ConsolePage& page) {
  page.heading("WHY", facts.title);
  page.sentence(fmt::format("{} ms {}); on the critical path: GPU {}, host {}",
                            number3(facts.step_ms), per_step_text(facts.steps, facts.ranks),
                            percent_text(facts.gpu_busy_percent),
                            percent_text(facts.host_percent)));
  const double unexplained = facts.quality.unexplained_percent();
  std::string quality =
      fmt::format("the job graph explains all but {} of the time", percent_text(unexplained));
  if (unexplained > kNoGainPercent)
    quality += "; above 30 % no gain is printed";
  else if (unexplained > kDoubtfulPercent)
    quality += "; above 10 % gains are uncertain";
  if (facts.prediction_error)
    quality += fmt::format(". A step predicted from the one before differs by {}",
                           percent_text(*facts.prediction_error));
  page.sentence(quality, "  ", Ink::kFaint);
  if (const std::optional<Finding> exposed = exposed_time_finding(facts)) {
    page.sentence(exposed->headline, "  ", Ink::kStrong);
    page.sentence(exposed->evidence, "    ");
    if (!exposed->action.empty())
      page.sentence(exposed->action, "    do: ", Ink::kGood);
  }
  for (const BoundaryStep& step : facts.boundary)
    page.sentence(boundary_step_text(step), "  ", Ink::kWarn);
  if (const std::string clocks = clock_text(facts); !clocks.empty())
    page.sentence(clocks, "  ", Ink::kWarn);
  if (facts.unlinked_percent >= 5)
    page.sentence(
        fmt::format("{} of the GPU time has no launch in the trace: record CPU activity too",
                    percent_text(facts.unlinked_percent)),
        "  ", Ink::kWarn);
  if (facts.recording) {
    page.sentence(
        fmt::format("recorded, {} takes {} ms: {} \u00b5s are subtracted from the host's time for "
                    "each recorded range and call, so that it takes {} ms",
                    facts.steps > 0 ? "a step" : "the run", number3(facts.recording->recorded_ms),
                    number3(facts.recording->each_us), number3(facts.recording->step_ms)),
        "  ", Ink::kWarn);
  } else if (facts.step_time_ms > 0) {
    const double longer = 100 * (facts.step_ms / facts.step_time_ms - 1);
    if (longer > kProfilerPercent)
      page.sentence(
          fmt::format("recording made the steps {} longer ({} against {} ms): findings about the "
                      "host are overstated",
                      percent_text(longer), number3(facts.step_ms), number3(facts.step_time_ms)),
          "  ", Ink::kWarn);
    else
      page.sentence(fmt::format("--step-time {} ms corrects nothing: the recorded {} ms are not "
                                "more than {:.0f} % longer",
                                number3(facts.step_time_ms), number3(facts.step_ms),
                                kProfilerPercent),
                    "  ", Ink::kWarn);
  } else if (facts.frame_cost_percent > kFrameCostPercent &&
             facts.host_percent > kFrameCostPercent) {
    page.sentence(
        fmt::format("judged by the shortest calls, recording Python stacks takes about {} of the "
                    "host's time: findings about the host are overstated (--step-time measures it)",
                    percent_text(facts.frame_cost_percent)),
        "  ", Ink::kWarn);
  }
}

/// Returns a text such as "rank 7, step 14, 804.324 to 804.367 ms". Times are since the first GPU
/// event of the run, as on the axis of its page: in seconds from one second on.
std::string place_text(const FindingPlace& at, std::optional<std::int64_t> step,
                       const RunClock& clock) {
  constexpr double kNsPerS = 1e9;
  const auto from = static_cast<double>(clock.since_start(at.rank, at.start_ns));
  const auto to = static_cast<double>(clock.since_start(at.rank, at.end_ns));
  const std::string where =
      fmt::format("rank {}{}", at.rank, step ? fmt::format(", step {}", *step) : "");
  return to < kNsPerS ? fmt::format("{}, {:.3f} to {:.3f} ms", where, from / 1e6, to / 1e6)
                      : fmt::format("{}, {:.6f} to {:.6f} s", where, from / 1e9, to / 1e9);
}

void why_causes(const CauseFacts& facts, const RunClock& clock, ConsolePage& page,
                std::size_t most) {
  const std::vector<Finding> findings = cause_findings(facts);
  const std::size_t shown = most == 0 ? findings.size() : std::min(most, findings.size());
  if (findings.empty() && facts.quality.unexplained_percent() > kNoGainPercent) {
    page.sentence("No cause was found in the time that the job graph explains.");
    return;
  }
  if (findings.empty()) {
    page.sentence(fmt::format("No cause is shown to gain {} ms or more{}.", number3(facts.floor_ms),
                              facts.steps > 0 ? " per step" : ""));
    return;
  }
  page.heading("CAUSES", shown < findings.size()
                             ? fmt::format("{} of {}", shown, findings.size())
                             : std::string("each gain assumes that the causes above are removed"));
  for (std::size_t k = 0; k < shown; ++k) {
    const std::string mark = fmt::format(" {}  ", k + 1);
    page.sentence(findings[k].headline, mark, Ink::kStrong);
    page.sentence(findings[k].evidence, "    ");
    page.sentence(findings[k].action, "    do: ", Ink::kGood);
    if (const std::optional<FindingPlace>& at = findings[k].place)
      page.sentence("look: " + place_text(*at, facts.causes[k].place_step, clock), "    ",
                    Ink::kFaint);
  }
  if (facts.quality.unexplained_percent() <= kNoGainPercent)
    page.sentence(fmt::format("Without all of them: {} ms.", number3(facts.after_ms)));
}

void why_long_steps(const CauseFacts& facts, ConsolePage& page) {
  constexpr std::size_t kStepsShown = 5;
  if (facts.long_steps.empty())
    return;
  page.heading("LONG STEPS", fmt::format("{} of {}", facts.long_steps.size(), facts.steps));
  for (std::size_t k = 0; k < std::min(kStepsShown, facts.long_steps.size()); ++k)
    page.sentence(long_step_text(facts.long_steps[k]), "  ");
  if (facts.long_steps.size() > kStepsShown)
    page.sentence(fmt::format("and {} more", facts.long_steps.size() - kStepsShown), "  ",
                  Ink::kFaint);
}

/// Returns the largest parts of a delay, and the sum of all others: "kernels +6.10, host +0.21;
/// rest 0.04".
std::string parts_text(const LateRankParts& late_rank) {
  const auto order = stable_order(kStretchParts, [&](std::size_t a, std::size_t b) {
    return std::abs(late_rank.parts[a].excess_ms) > std::abs(late_rank.parts[b].excess_ms);
  });
  std::string out;
  double rest_ms = late_rank.all.excess_ms;
  for (const std::size_t k : order) {
    const double ms = late_rank.parts[k].excess_ms;
    if (std::abs(ms) < kWorthAPart * std::abs(late_rank.all.excess_ms))
      break;
    out += fmt::format("{}{} {}{}", out.empty() ? "" : ", ",
                       stretch_part_name(static_cast<StretchPart>(k)), ms < 0 ? "" : "+",
                       number3(ms, late_rank.all.excess_ms));
    rest_ms -= ms;
  }
  return out + fmt::format("{}rest {}", out.empty() ? "" : "; ",
                           number3(rest_ms, late_rank.all.excess_ms));
}

void why_ranks(const CauseFacts& facts, ConsolePage& page) {
  constexpr std::size_t kRanksShown = 4;
  std::vector<LateRankParts> late; // others are late only at smaller collectives, or compute longer
  std::ranges::copy_if(facts.late_rank_parts, std::back_inserter(late),
                       [&](const LateRankParts& r) { return r.all.excess_ms > facts.floor_ms; });
  if (late.empty())
    return;
  const std::size_t shown = std::min(kRanksShown, late.size());
  page.heading("LATE RANKS", shown < late.size()
                                 ? fmt::format("{} of {}", shown, late.size())
                                 : std::string("against the other members of their collectives"));
  for (std::size_t k = 0; k < shown; ++k)
    page.sentence(fmt::format("rank {} starts its collectives {} ms{} later in total: {}",
                              late[k].rank, number3(late[k].all.excess_ms),
                              facts.steps > 0 ? " per step" : "", parts_text(late[k])),
                  "  ");
  page.sentence("A delay counts at each collective until other work of the peers waits for it.",
                "  ", Ink::kFaint);
}

void why_path(const CauseFacts& facts, ConsolePage& page) {
  const std::size_t shown = std::min(kPathRows, facts.path.size());
  page.heading("CRITICAL PATH", fmt::format("{} of {}", shown, facts.path.size()));
  std::vector<std::vector<PageCell>> rows;
  double largest = 0;
  for (std::size_t k = 0; k < shown; ++k)
    largest = std::max(largest, facts.path[k].ms);
  for (std::size_t k = 0; k < shown; ++k) {
    const PathRow& row = facts.path[k];
    rows.push_back({{row.kind, Ink::kPlain},
                    {row.what, Ink::kPlain},
                    {number3(row.ms, largest), Ink::kPlain},
                    {percent_text(row.percent), Ink::kPlain},
                    {page.bar(row.percent, page.bar_width()), Ink::kGood}});
  }
  page.table({{"", false, 0, 0},
              {"", false, 16, 0},
              {facts.steps > 0 ? "ms per step" : "ms", true, 0, 0},
              {"share", true, 0, 0},
              {"", false, 0, 1}},
             rows);
}

} // namespace

std::string why_page(const CauseFacts& facts, const RunClock& clock, const PageStyle& style,
                     std::size_t most, const std::vector<TopNext>& next) {
  PageStyle used = style;
  used.width = std::min(style.width, kWidestWhy);
  ConsolePage page(used);
  why_overview(facts, page);
  why_causes(facts, clock, page, most);
  why_long_steps(facts, page);
  why_ranks(facts, page);
  why_path(facts, page);
  const std::vector<std::string> unsaid = unsaid_lines(facts);
  if (!unsaid.empty()) {
    page.heading("NOT REPORTED");
    for (const std::string& line : unsaid)
      page.sentence(line, "  - ", Ink::kFaint);
  }
  next_commands(next, page);
  return page.text();
}

std::string why_rules_page(const PageStyle& style) {
  ConsolePage page(style);
  page.heading("RULES");
  for (std::size_t k = 0; k < kCauseRules; ++k) {
    const auto rule = static_cast<CauseRule>(k);
    const CauseHelp& help = help_of(rule);
    page.sentence(fmt::format("{}: {}", cause_rule_id(rule), help.question), "  ", Ink::kStrong);
    page.sentence(fmt::format("if: {}", help.detection), "    ");
    page.sentence(fmt::format("do ({}): {}", help.applies_to, help.remedy), "    ");
    if (!help.source.empty())
      page.sentence(fmt::format("source: {}, {}", help.source, help.checked), "    ", Ink::kFaint);
  }
  return page.text();
}

} // namespace rankscope
