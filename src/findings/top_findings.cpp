#include "findings/top_findings.h"

#include "analyses/collectives/exposed_waits.h"
#include "analyses/collectives/run_consistency.h"
#include "analyses/sweep/sweep_compare.h"
#include "base/display_text.h"
#include "base/units.h"
#include "findings/cause_findings.h"
#include "findings/collective_findings.h"
#include "findings/compose.h"
#include "findings/rank_findings.h"
#include "findings/run_findings.h"
#include "model/kernel_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <iterator>

namespace rankscope {
namespace {

/// Adds the listed operator whose calls lose the most time compared with their roofline. `ranks`
/// and `steps` are those of the run; they are needed for the cost per step and rank.
void add_roofline(const TopFacts& facts, std::size_t ranks, double steps,
                  std::vector<Finding>& out) {
  const TopOperator* most = nullptr;
  const auto lost = [](const TopOperator& o) { return o.sum.rated_ns - o.sum.roofline_ns; };
  for (const TopOperator& o : facts.operators)
    if (o.sum.rated_ns > 0 && (most == nullptr || lost(o) > lost(*most)))
      most = &o;
  if (most == nullptr || most->percent < kWorthAFinding || !(lost(*most) > 0))
    return;
  const std::string shapes = short_shapes(most->sum.dims);
  const std::string name = most->sum.name + (shapes.empty() ? "" : " ") + shapes;
  Finding f = finding_of(rules::low_roofline, "operator", name);
  f.value = most->percent_of_roofline;
  f.unit = Unit::kPercent;
  if (steps > 0)
    f.cost_ms = ns_to_ms(lost(*most)) / (static_cast<double>(ranks) * steps);
  set_headline(f,
               fmt::format("{} runs at {} of the roofline of {}", brief(name, 48),
                           percent_text(most->percent_of_roofline),
                           facts.overview.gpu.empty() ? "the GPU" : brief(facts.overview.gpu, 16)));
  f.evidence = fmt::format("{} is the nearer limit; {} of the GPU time without communication; the "
                           "largest headroom listed",
                           capital(std::string(most->bound)), percent_text(most->percent));
  out.push_back(std::move(f));
}

/// Returns the work of each rank by operator; kernels without an operator have the kernel's name.
WorkByRank operators_of(const TopParts& parts) {
  WorkByRank out;
  for (std::size_t r = 0; r < parts.ranks.size(); ++r)
    for (const OperatorTotal& row : parts.ranks[r].operators) {
      const std::optional<KernelRowName> alone = kernel_row_of(row.name);
      WorkSum& sum = out[parts.records[r].key.rank][alone ? display_name(alone->kernel) : row.name];
      sum.kernel_ns += row.kernel_ns;
      sum.calls += row.count;
    }
  return out;
}

/// Returns the exposed waits: those of the job graph, which are exact, if there is one.
std::optional<ExposedWaits> waits_of(const TopParts& parts, const CollectiveFacts* collectives,
                                     const TopCauses* causes) {
  if (collectives == nullptr)
    return std::nullopt;
  const std::int64_t of_job = job_ranks(parts.identities);
  ExposedWaits out = exposed_waits(*collectives, of_job);
  if (causes == nullptr || of_job == 1 || !out.all_ranks || !one_clock(*collectives) ||
      !(causes->exposed.total_ms() > 0))
    return out;
  const ExposedTime& exact = causes->exposed;
  const auto ns = [](double ms) { return static_cast<std::int64_t>(ms * 1e6); };
  out.exposed_ns = ns(exact.total_ms());
  out.least_ns = ns(exact.wait_ms);
  out.most_ns = ns(exact.wait_ms + exact.unmatched_ms);
  return out;
}

using Rules = std::initializer_list<std::string_view>;

/// If one of these causes is listed, replaces the action: general advice could contradict the
/// remedy of the cause.
void refer_to_cause(const std::vector<Finding>& listed, Rules causes, Finding& finding) {
  const auto cause = std::ranges::find_if(
      listed, [causes](const Finding& f) { return std::ranges::count(causes, f.rule) > 0; });
  if (cause != listed.end())
    finding.action = fmt::format("First remove the cause listed above: {}", cause->rule);
}

/// Sets the action of the finding on idle time, where listed causes explain why the host launches
/// late.
void advise_on_idle(const std::vector<Finding>& listed, IdleCause cause, Finding& idle) {
  if (cause != IdleCause::kQueued && cause != IdleCause::kUnknown)
    refer_to_cause(listed,
                   {rules::data_loader.id, rules::garbage_collection.id, rules::host_code.id,
                    rules::allocator.id, rules::pinning.id, rules::checkpoint.id,
                    rules::read_back.id, rules::stream_wait.id, rules::blocking_launch.id,
                    rules::code_loading.id, rules::launch_bound.id, rules::graph_breaks.id,
                    rules::optimizer_loop.id, rules::slow_host.id},
                   idle);
}

/// Sets the action of the finding on exposed communication, where the causes explain it.
void advise_on_exposed(const std::vector<Finding>& listed, const TopCauses* causes,
                       const ExposedWaits& waits, Finding& exposed) {
  if (causes == nullptr)
    return;
  if (waits.least() > 0.5) {
    if (!causes->exposed_action.empty())
      exposed.action = causes->exposed_action;
    refer_to_cause(listed, {rules::rank_jitter.id, rules::uneven_exchange.id}, exposed);
  } else if (waits.most() <= 0.5) {
    refer_to_cause(listed,
                   {rules::small_collectives.id, rules::repeated_reduction.id, rules::slow_link.id,
                    rules::slow_collective.id, rules::uneven_exchange.id},
                   exposed);
  }
}

/// Returns whether a cause is that some ranks compute longer than their peers. Their lateness at
/// collectives can show this although the test of their computation does not.
bool computes_longer(const std::vector<Finding>& listed) {
  return std::ranges::any_of(listed, [](const Finding& f) {
    return f.rule == rules::slow_gpu.id || f.rule == rules::slow_operator.id ||
           f.rule == rules::more_work.id || f.rule == rules::more_data.id;
  });
}

} // namespace

TopCauses top_causes(const CauseFacts& facts, std::vector<PathPart> path) {
  constexpr std::size_t kListed = 3;
  TopCauses out{cause_findings(facts), facts.exposed, {}, std::move(path), cause_commands(facts)};
  if (out.listed.size() > kListed)
    out.listed.resize(kListed);
  for (const BoundaryStep& step : facts.boundary)
    out.listed.push_back(boundary_step_finding(step));
  if (std::optional<Finding> exposed = exposed_time_finding(facts))
    out.exposed_action = std::move(exposed->action);
  return out;
}

std::vector<Finding> top_findings(const TopFacts& facts, const TopParts& parts,
                                  const CollectiveFacts* collectives, const TopCauses* causes) {
  std::vector<Finding> out;
  if (parts.ranks.empty())
    return out;
  const std::vector<ConfigurationRanks> runs = one_run(parts);
  const ShownRun run{&runs.front(), "", ""};
  const bool alone = runs.front().ranks.size() < 2;
  const auto add = [&out](std::optional<Finding> finding) {
    if (finding)
      out.push_back(std::move(*finding));
  };
  if (causes != nullptr)
    out = causes->listed;
  const std::vector<Finding> listed = out;
  // if contention is a cause, that finding has a cost and a stricter test, so the other one is left
  // out
  const bool contention = std::ranges::any_of(
      out, [](const Finding& f) { return f.rule == rules::gemm_contention.id; });
  if (!alone) {
    std::vector<Finding> slow = slow_rank_findings(
        slow_ranks(runs), operators_of(parts), collectives != nullptr ? collectives->per_node : 0);
    if (computes_longer(listed))
      std::erase_if(slow, [](const Finding& f) { return f.rule == rules::no_slow_rank.id; });
    add_findings(out, std::move(slow));
  }
  const std::optional<ExposedWaits> waits = waits_of(parts, collectives, causes);
  if (std::optional<Finding> exposed = exposed_finding(run, waits)) {
    advise_on_exposed(listed, causes, waits.value_or(ExposedWaits()), *exposed);
    out.push_back(std::move(*exposed));
  }
  if (collectives != nullptr && !alone)
    add_findings(out, collective_findings(*collectives));
  if (std::optional<Finding> idle = idle_finding(run)) {
    advise_on_idle(listed, main_idle_cause(runs.front()), *idle);
    out.push_back(std::move(*idle));
  }
  if (!contention)
    add(contention_finding(run, contention_of(runs.front()), 1, ""));
  add_roofline(facts, runs.front().ranks.size(), runs.front().mean_steps(), out);
  return out;
}

} // namespace rankscope
