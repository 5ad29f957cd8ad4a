#include "findings/collective_findings.h"

#include "analyses/collectives/collective_report.h"
#include "analyses/collectives/exposed_waits.h"
#include "analyses/collectives/late_ranks.h"
#include "base/number_text.h"
#include "base/units.h"
#include "findings/compose.h"
#include "findings/rank_findings.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kMostSlowGroups = 4; ///< maximum number of slow groups with separate findings
constexpr std::size_t kMostClocks = 8;     ///< maximum number of clocks in the text; the sheet
                                           ///< contains all

void add_slow_links(const CollectiveFacts& facts, std::span<const SlowGroup> found,
                    std::vector<Finding>& out) {
  const std::string shared = shared_link_action(found, facts.summary, facts.per_node);
  for (std::size_t i = 0; i < std::min(found.size(), kMostSlowGroups); ++i)
    out.push_back(slow_link_finding(found[i], shared));
  if (found.size() <= kMostSlowGroups)
    return;
  const std::size_t more = found.size() - kMostSlowGroups;
  Finding rest = finding_of(rules::slow_link, "groups", fmt::format("{} more", more));
  rest.value = static_cast<double>(more);
  rest.unit = Unit::kCount;
  set_headline(rest,
               fmt::format("{} slower than the others of their kind and size",
                           counted(more, "more process group is", "more process groups are")));
  rest.evidence = "Sheet nccl_summary_implicit_sync has the bandwidth of every group";
  out.push_back(std::move(rest));
}

void add_most_exposed(const CollectiveFacts& facts, std::vector<Finding>& out) {
  if (facts.exposed_types.empty())
    return;
  const ExposedType& x = facts.exposed_types.front();
  Finding f = finding_of(rules::exposed_collective, "collective", x.name);
  f.value = ns_to_ms(x.exposed_ns());
  f.unit = Unit::kMs;
  set_headline(f, fmt::format("{} has the most exposed time: {} ms over all ranks, {} of its time",
                              brief(x.name, 24), number3(ns_to_ms(x.exposed_ns())),
                              percent_text(x.exposed_percent())));
  f.evidence = fmt::format("{}; in exposed time, neither compute nor copies run",
                           counted(static_cast<std::size_t>(x.kernels), "kernel", "kernels"));
  if (x.waits_known_ns > 0 && one_clock(facts)) // otherwise starts of ranks cannot be compared
    f.evidence += fmt::format("; {} ms of its time is waiting for the last member to start",
                              number3(ns_to_ms(x.wait_ns)));
  out.push_back(std::move(f));
}

void add_slow_collective(const std::optional<SlowCollective>& slow, std::vector<Finding>& out) {
  if (!slow)
    return;
  Finding f =
      finding_of(rules::slow_collective, "collective", fmt::format("{} {}", slow->name, slow->id));
  f.value = slow->bus_gbps;
  f.unit = Unit::kGBps;
  f.place = slow->place;
  set_headline(f, fmt::format("{} {} reaches {} GB/s, {:.0f} % of the others of its kind and size",
                              brief(slow->name, 24), brief(slow->id, 16), number3(slow->bus_gbps),
                              slow->bus_gbps / slow->usual_gbps * 100));
  f.evidence = fmt::format("Bus bandwidth; the mean of the {} others is {} GB/s, and their scatter "
                           "does not explain the difference (95 % over {} collectives)",
                           slow->others, number3(slow->usual_gbps), slow->comparisons);
  out.push_back(std::move(f));
}

void add_incomplete(const CollectiveFacts& facts, std::vector<Finding>& out) {
  const CollectiveTotals& totals = facts.totals;
  if (totals.incomplete == 0 || facts.compat_tracelens)
    return;
  Finding f = finding_of(rules::incomplete_collectives, "run", "");
  f.value = static_cast<double>(totals.incomplete);
  f.unit = Unit::kCount;
  set_headline(f, fmt::format("{} of {} collectives lack members of their group", totals.incomplete,
                              totals.matched));
  f.evidence = "Their bandwidths and waits are blank";
  if (totals.not_recorded < totals.incomplete)
    f.action = "Add the traces of the missing ranks";
  else
    f.action = "Record the same steps on all ranks: no rank is missing, but some lack collectives";
  out.push_back(std::move(f));
}

Finding unaligned_clock(const ClockOffset& clock) {
  Finding out = finding_of(rules::unaligned_clock, "rank", std::to_string(clock.rank));
  const bool alone = clock.fit == ClockFit::kAlone;
  set_headline(
      out,
      alone || clock.fit == ClockFit::kPoor
          ? fmt::format("The clock of rank {} is not aligned; the time base of its trace is used",
                        clock.rank)
          : fmt::format("The clock of rank {} is aligned roughly", clock.rank));
  if (alone) {
    out.evidence = "This rank shares no collective with a rank whose clock is aligned";
    return out;
  }
  out.value = ns_to_us(clock.residual_ns);
  out.unit = Unit::kUs;
  out.evidence = fmt::format("The ends of {} collectives scatter by {} \u00b5s around those of "
                             "rank {}, the starts by {} \u00b5s",
                             clock.samples, number3(ns_to_us(clock.residual_ns)), clock.via,
                             number3(ns_to_us(clock.effect_ns)));
  return out;
}

void add_clocks(const CollectiveFacts& facts, std::vector<Finding>& out) {
  std::vector<std::int64_t> more;
  std::size_t named = 0;
  for (const RankClock& clock : facts.clocks)
    if (clock_note(clock.offset).empty())
      continue;
    else if (named++ < kMostClocks)
      out.push_back(unaligned_clock(clock.offset));
    else
      more.push_back(clock.rank);
  if (more.empty())
    return;
  Finding f = finding_of(rules::unaligned_clock, "ranks", ranges_text(more));
  f.value = static_cast<double>(more.size());
  f.unit = Unit::kCount;
  set_headline(f, fmt::format("The clocks of {} are aligned roughly or not at all",
                              counted(more.size(), "more rank", "more ranks")));
  f.evidence = fmt::format("Ranks {}; the sheet clocks lists all ranks", ranges_text(more));
  out.push_back(std::move(f));
}

void add_problems(const CollectiveFacts& facts, std::vector<Finding>& out) {
  if (facts.problems.empty())
    return;
  Finding f = finding_of(rules::collective_problems, "run", "");
  f.value = static_cast<double>(facts.problems.size());
  f.unit = Unit::kCount;
  set_headline(f, fmt::format("{} between ranks",
                              counted(facts.problems.size(), "collective or window disagrees",
                                      "collectives or windows disagree")));
  f.evidence = "They are listed in the sheet problems";
  out.push_back(std::move(f));
}

} // namespace

std::string shared_link_action(std::span<const SlowGroup> slow, std::span<const SyncSummary> rows,
                               std::int64_t per_node) {
  if (const std::vector<std::int64_t> ranks = shared_members(slow, rows); ranks.size() == 1)
    return fmt::format("Check the links of rank {}: all {} slow groups contain it, and no other "
                       "group of their kind and size does",
                       ranks.front(), slow.size());
  if (per_node <= 1)
    return {};
  const std::vector<std::int64_t> nodes = shared_members(slow, rows, per_node);
  if (nodes.size() != 1)
    return {};
  const std::int64_t first = nodes.front() * per_node;
  return fmt::format("Check the links of node {} (ranks {} to {}): all {} slow groups have members "
                     "there, and no other group of their kind and size does",
                     nodes.front(), first, first + per_node - 1, slow.size());
}

Finding slow_link_finding(const SlowGroup& g, const std::string& shared) {
  std::string ranks = g.row->group_ranks;
  std::erase_if(ranks, [](char c) { return c == '[' || c == ']'; });
  Finding out = finding_of(rules::slow_link, "group", g.row->group);
  out.value = g.bus_gbps;
  out.unit = Unit::kGBps;
  out.low = g.bus_gbps * std::exp(-g.log_half_width);
  out.high = g.bus_gbps * std::exp(g.log_half_width);
  out.steps = g.steps;
  if (const std::size_t steps = g.row->step_bus_gbps.size(); steps > 1)
    out.cost_ms =
        g.row->total_latency_ms * (1 - g.bus_gbps / g.usual_gbps) / static_cast<double>(steps);
  set_headline(out, fmt::format("Ranks {}: {} reaches {} GB/s, {:.0f} % below the other groups",
                                brief(ranks, 24), brief(g.row->name, 24), number3(g.bus_gbps),
                                g.percent_below()));
  out.evidence = fmt::format("Bus bandwidth of group {} (ranks {}); the median is {} GB/s in the "
                             "{} other groups of its kind and size",
                             brief(g.row->group, kHeadlineWidth), brief(ranks, kHeadlineWidth),
                             number3(g.usual_gbps), g.others);
  out.action =
      shared.empty() ? fmt::format("Check the link between ranks {}", brief(ranks, 24)) : shared;
  return out;
}

std::vector<Finding> collective_findings(const CollectiveFacts& facts) {
  const std::vector<SlowGroup> links = slow_groups(facts.summary);
  std::vector<Finding> out = late_rank_findings(late_ranks(facts), facts.per_node, links);
  add_slow_links(facts, links, out);
  add_most_exposed(facts, out);
  add_slow_collective(facts.totals.slow, out);
  add_incomplete(facts, out);
  add_clocks(facts, out);
  add_problems(facts, out);
  return out;
}

Report collective_report(const CollectiveFacts& facts, const CollectiveOptions& options) {
  Report out = collective_tables(facts, options);
  put_findings_first(out, collective_findings(facts));
  return out;
}

void put_findings_first(Report& report, std::span<const Finding> findings) {
  report.tables.insert(report.tables.begin(), finding_schema().table(findings));
}

} // namespace rankscope
