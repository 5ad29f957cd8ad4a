#include "pages/whatif_page.h"

#include "analyses/job/causes.h"
#include "findings/cause_findings.h"
#include "findings/compose.h"
#include "findings/straggler_findings.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kPathOfChange = 3;

void whatif_head(const WhatIfFacts& facts, ConsolePage& page) {
  page.heading("WHAT IF", facts.title);
  page.sentence(
      fmt::format("{} ms {})", number3(facts.step_ms), per_step_text(facts.steps, facts.ranks)));
  for (const BoundaryStep& step : facts.boundary)
    page.sentence(boundary_step_text(step), "  ", Ink::kWarn);
  const double unexplained = facts.doubt_percent();
  const std::string quality =
      facts.pipeline
          ? "the replay without unexplained delays is shorter by " + percent_text(unexplained)
          : fmt::format("the job graph explains all but {} of the time", percent_text(unexplained));
  page.sentence(quality + (unexplained > kDoubtfulPercent
                               ? "; above 10 % the values below are uncertain"
                               : ""),
                "  ", Ink::kFaint);
}

void whatif_stragglers(const WhatIfFacts& facts, ConsolePage& page, std::size_t most) {
  const StragglerFacts& s = *facts.stragglers;
  page.heading("STRAGGLERS");
  if (facts.ranks < 2 && facts.steps < 2) {
    page.sentence("one rank and one step: no usual durations to compare with");
    return;
  }
  const std::string_view unit = facts.steps > 0 ? "a step" : "the run";
  const std::string effect =
      s.slowdown() > 1 ? fmt::format("stragglers make {} {:.3f} times as long", unit, s.slowdown())
                       : fmt::format("unusual durations do not lengthen {} (slowdown {:.3f})", unit,
                                     s.slowdown());
  page.sentence(
      fmt::format("without delays {} ms, and with the usual duration of every activity {} ms: {}",
                  number3(s.without_delays_ms), number3(s.ideal_ms), effect));
  for (const Finding& f : straggler_findings(facts)) {
    page.sentence(f.headline, "  * ", Ink::kStrong);
    page.sentence(f.evidence, "    ");
    page.sentence(f.action, "    do: ");
  }
  constexpr std::array<std::pair<StragglerGroup, const char*>, 4> kTitles = {
      {{StragglerGroup::kOperator, "BY OPERATOR"},
       {StragglerGroup::kStage, "BY STAGE"},
       {StragglerGroup::kDataParallel, "BY DATA-PARALLEL RANK"},
       {StragglerGroup::kRank, "BY RANK"}}};
  for (const auto& [group, title] : kTitles) {
    std::vector<std::vector<PageCell>> rows;
    std::size_t all = 0;
    for (const StragglerShare& share : s.shares) {
      if (share.group != group)
        continue;
      ++all;
      if (most == 0 || rows.size() < most)
        rows.push_back({{share.name, Ink::kPlain},
                        {fmt::format("{:.4f}", share.slowdown), Ink::kPlain},
                        {number3(share.cost_ms), Ink::kPlain}});
    }
    if (rows.empty())
      continue;
    page.heading(title, fmt::format("{} of {}; a row is the run without stragglers, except for the "
                                    "recorded durations of this row",
                                    rows.size(), all));
    page.table({{"", false, 16, 0},
                {"slowdown", true, 0, 0},
                {facts.steps > 0 ? "ms per step" : "ms", true, 0, 0}},
               rows);
  }
  const auto left = [&](std::size_t count, const char* what) {
    if (count > 0)
      page.sentence(
          fmt::format("{} more {} with a smaller excess over their usual durations were left out",
                      count, what),
          "  ", Ink::kFaint);
  };
  left(s.operators_left_out, "operators");
  left(s.ranks_left_out, "ranks");
}

void whatif_changes(const WhatIfFacts& facts, ConsolePage& page) {
  page.heading("CHANGES", facts.steps > 0 ? "per step" : "");
  std::vector<std::vector<PageCell>> rows;
  for (const EditAnswer& a : facts.answers) {
    std::string interval;
    if (a.low_ms && number3(*a.low_ms) != number3(*a.high_ms)) // else the change says it all
      interval = range3(*a.low_ms, *a.high_ms);
    rows.push_back(
        {{a.text, Ink::kPlain},
         {number3(a.after_ms), Ink::kPlain},
         {number3(a.change_ms), Ink::kStrong},
         {percent_text(facts.step_ms > 0 ? 100 * a.change_ms / facts.step_ms : 0), Ink::kPlain},
         {interval, Ink::kFaint},
         {fmt::format("{}", a.activities), Ink::kFaint}});
  }
  page.table({{"", false, 20, 0},
              {"ms", true, 0, 0},
              {"change", true, 0, 0},
              {"", true, 0, 0},
              {"95 % CI", true, 0, 2},
              {"activities", true, 0, 1}},
             rows);
  for (const EditAnswer& a : facts.answers) {
    if (&a != &facts.answers.back() && facts.answers.size() > kPathOfChange)
      continue;
    std::string path;
    for (std::size_t k = 0; k < std::min(kPathOfChange, a.path.size()); ++k)
      path += fmt::format("{}{}{}{} {} ms", k == 0 ? "" : "; ", a.path[k].kind,
                          a.path[k].what.empty() ? "" : " ", brief(a.path[k].what, 28),
                          number3(a.path[k].ms));
    page.sentence(fmt::format("after '{}', most time on the critical path is {}", a.text, path),
                  "  ", Ink::kFaint);
  }
}

} // namespace

std::string whatif_page(const WhatIfFacts& facts, const PageStyle& style, std::size_t most) {
  ConsolePage page(style);
  whatif_head(facts, page);
  if (facts.stragglers)
    whatif_stragglers(facts, page, most);
  else
    whatif_changes(facts, page);
  return page.text();
}

} // namespace rankscope
