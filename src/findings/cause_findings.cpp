#include "findings/cause_findings.h"

#include "analyses/job/cause_candidates.h"
#include "base/ascii.h"
#include "base/display_text.h"
#include "base/number_text.h"
#include "base/units.h"
#include "findings/compose.h"
#include "model/kernel_names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankscope {
namespace {

/// Words of a command that with_paths() replaces: by the paths of the run, and by its only path.
constexpr const char* kPaths = "PATHS";
constexpr const char* kFolder = "FOLDER";

constexpr std::size_t kCauseNameWidth = 40, kExtraNameWidth = 32;
constexpr double kNearlyAll = 90; ///< percent

constexpr std::array<CauseHelp, kCauseRules> kHelp = {{
#define RANKSCOPE_CAUSE(rule, finding, id, question, detection, applies_to, remedy, source,        \
                        checked)                                                                   \
  {rules::finding, question, detection, applies_to, remedy, source, checked},
#include "analyses/job/causes.def"
#undef RANKSCOPE_CAUSE
}};
static_assert(std::ranges::equal(kHelp, kCauseRuleIds, {},
                                 [](const CauseHelp& help) { return help.finding.id; }));

/// Returns a short name: "<built-in method embedding of type object>" becomes "built-in embedding".
std::string short_place(const std::string& name) {
  constexpr std::string_view kMethod = "<built-in method ", kOf = " of ";
  const std::size_t end = name.find(kOf);
  if (name.starts_with(kMethod) && end != std::string::npos)
    return "built-in " + brief(name.substr(kMethod.size(), end - kMethod.size()), kCauseNameWidth);
  return brief(name, kCauseNameWidth);
}

std::string between(const StepCause& c) {
  if (!c.before.empty() && !c.after.empty())
    return fmt::format("between {} and {}", brief(c.before, 28), brief(c.after, 28));
  if (!c.before.empty())
    return "after " + short_place(c.before);
  return c.after.empty() ? std::string("between two launches") : "before " + short_place(c.after);
}

/// Returns "rank 3", "ranks 4 and 6", "ranks 8 to 15" or "the 16 ranks from 0 to 30".
std::string members_text(const StepCause& c) {
  constexpr std::size_t kNamed = 4;
  if (c.ranks.size() == 1)
    return fmt::format("rank {}", c.ranks.front());
  if (c.ranks.size() > 2 &&
      c.ranks.back() - c.ranks.front() + 1 == static_cast<std::int64_t>(c.ranks.size()))
    return fmt::format("ranks {} to {}", c.ranks.front(), c.ranks.back());
  if (c.ranks.size() > kNamed)
    return fmt::format("the {} ranks from {} to {}", c.ranks.size(), c.ranks.front(),
                       c.ranks.back());
  std::vector<std::string> names;
  for (const std::int64_t rank : c.ranks)
    names.push_back(fmt::format("{}", rank));
  return "ranks " + joined(names, "and");
}

/// Returns "ranks 4-5, 6-7": a group of two is its link, a larger one has its ranks in brackets.
std::string groups_text(const StepCause& c) {
  constexpr std::size_t kNamed = 3;
  std::string out = "ranks ";
  for (std::size_t k = 0; k < std::min(kNamed, c.groups.size()); ++k) {
    const std::vector<std::int64_t>& group = c.groups[k];
    out +=
        (k > 0 ? ", " : "") + (group.size() == 2 ? fmt::format("{}-{}", group.front(), group.back())
                                                 : fmt::format("({})", ranges_text(group, 4)));
  }
  return out + (c.groups.size() > kNamed ? ", ..." : "");
}

/// Returns the mean occurrences per step on each rank that has them: "12", "3.25".
std::string occurrences(const StepCause& c) {
  const double mean = static_cast<double>(c.count) /
                      static_cast<double>(c.steps * std::max<std::size_t>(1, c.ranks.size()));
  return mean == std::round(mean) ? fmt::format("{:.0f}", mean) : number3(mean);
}
/// Returns "12 times per step" or "once".
std::string times_per_step(const CauseFacts& facts, const StepCause& c) {
  const std::string count = occurrences(c);
  return (count == "1" ? "once" : count + " times") + (facts.steps > 0 ? " per step" : "");
}

std::string_view extra_work(const StepCause& c) {
  const bool one = occurrences(c) == "1";
  if (c.others > 0)
    return one ? "GPU activity" : "GPU activities";
  return one ? "kernel" : "kernels";
}

/// Returns "3.2 ms of a step" or "488 ms in 1 of 5 steps".
std::string cost_text(const CauseFacts& facts, const StepCause& c) {
  if (c.cost_ms < facts.floor_ms && c.alone_ms < facts.floor_ms)
    return "critical only without the causes above";
  if (in_single_steps(c))
    return fmt::format("{} ms in {} of {} steps", number3(c.cost_ms * static_cast<double>(c.steps)),
                       c.steps_seen, c.steps);
  return number3(c.cost_ms) + (facts.steps > 0 ? " ms of a step" : " ms");
}

std::string headline_of(const CauseFacts& facts, const StepCause& c) {
  const std::string cost = cost_text(facts, c);
  const std::string_view per_step = facts.steps > 0 ? " per step" : "";
  const bool single = c.ranks.size() == 1;
  const std::string_view its = single ? "its" : "their";
  switch (c.rule) {
  case CauseRule::kLoader:
    return fmt::format("The GPU waits for the data loader: {}", cost);
  case CauseRule::kCollection:
    if (c.confidence == Confidence::kHint)
      return fmt::format("The host pauses at changing places, for up to {} ms each: {}",
                         number3(c.occurrence_ms), cost);
    return fmt::format("Python's garbage collector delays the launches: {}", cost);
  case CauseRule::kHostCode:
    return c.what.empty() ? fmt::format("Host code {}: {}", between(c), cost)
                          : fmt::format("{} {}: {}", c.call ? "The host is in" : "Host code in",
                                        short_place(c.what), cost);
  case CauseRule::kAllocator:
    return fmt::format("The memory allocator calls the driver {}", times_per_step(facts, c));
  case CauseRule::kPinning:
    return fmt::format("Host memory is pinned: {}", cost);
  case CauseRule::kCheckpoint:
    return fmt::format("A checkpoint is written: {}", cost);
  case CauseRule::kReadBack:
    return fmt::format("{} makes the host wait for the GPU {}", short_place(c.what),
                       times_per_step(facts, c));
  case CauseRule::kStreamWait:
    return fmt::format("Other streams wait until the host has waited for {}: {}",
                       short_place(c.what), cost);
  case CauseRule::kBlockingLaunch:
    return "Every launch waits for its kernel to end";
  case CauseRule::kLoading:
    return fmt::format("Code is compiled or loaded: {}", cost);
  case CauseRule::kLaunchBound:
    return fmt::format("{} {} \u00b5s apart, {} {} \u00b5s (medians)",
                       c.what.empty() ? "Launches are" : "Graph launches are", number3(c.launch_us),
                       c.what.empty() ? "kernels take" : "the kernels of each take",
                       number3(c.kernel_us));
  case CauseRule::kGraphBreaks:
    return fmt::format("Compiled code runs in pieces, with {} gaps of the host{}: {}",
                       occurrences(c), per_step, cost);
  case CauseRule::kOptimizerLoop:
    return fmt::format("The optimizer launches {} kernels{} one by one", occurrences(c), per_step);
  case CauseRule::kSlowFormat:
    return fmt::format("{} runs in fp32 without matrix units at {} TFLOPS", short_place(c.what),
                       number3(c.rate));
  case CauseRule::kMisaligned:
    return fmt::format("GEMMs of awkward extents ({}) run at {} TFLOPS, aligned ones at {}", c.what,
                       number3(c.rate), number3(c.rate_to));
  case CauseRule::kSlowGemm:
    return fmt::format("{} runs at {} TFLOPS, GEMMs of similar size at {}",
                       brief(c.what, kCauseNameWidth), number3(c.rate), number3(c.rate_to));
  case CauseRule::kPageableCopy:
    return fmt::format("{} MB{} are copied from or to pageable memory at {} GB/s",
                       number3(static_cast<double>(c.bytes) / 1e6), per_step, number3(c.rate));
  case CauseRule::kExposedCopy:
    return fmt::format("The {} waits for copies {} the host: {} MB{}, {}",
                       facts.steps > 0 ? "step" : "run", copies_from_host(c.what) ? "from" : "to",
                       number3(static_cast<double>(c.bytes) / 1e6), per_step, cost);
  case CauseRule::kUnfusedAttention:
    return fmt::format("Attention writes its scores ({}) to memory: {}", c.what, cost);
  case CauseRule::kPointwiseChain:
    return fmt::format("{} kernels{} run pointwise operators one by one: {}", occurrences(c),
                       per_step, cost);
  case CauseRule::kLayoutConversion:
    return fmt::format("{} kernels{} convert between NCHW and NHWC: {}", occurrences(c), per_step,
                       cost);
  case CauseRule::kRecomputation:
    return fmt::format("The forward pass runs again in the backward pass: {}", cost);
  case CauseRule::kZeroGrad:
    return fmt::format("Gradients are filled with zeros: {}", cost);
  case CauseRule::kDeviceCopy:
    return fmt::format("{} copies tensors on the GPU {}: {}", short_place(c.what),
                       times_per_step(facts, c), cost);
  case CauseRule::kSlowGpu:
    return single ? fmt::format(
                        "The GPU of {} takes {} longer for its kernels than those of its peers",
                        members_text(c), percent_text(c.percent))
                  : fmt::format("Kernels take {} longer on {} than on their peers",
                                percent_text(c.percent), members_text(c));
  case CauseRule::kSlowOperator:
    return fmt::format("{} takes {} longer on {} than on {} peers", short_place(c.what),
                       percent_text(c.percent), members_text(c), its);
  case CauseRule::kSlowCopies:
    return fmt::format("Copies between host and GPU reach {} GB/s on {}, {} on {} peers",
                       number3(c.rate), members_text(c), number3(c.rate_to), its);
  case CauseRule::kMoreWork:
    return fmt::format("{} {} {} more {}{} than {} peers: {}{}", capital(members_text(c)),
                       single ? "has" : "have", occurrences(c), extra_work(c), per_step, its,
                       brief(c.what, kExtraNameWidth), c.percent < kNearlyAll ? " and others" : "");
  case CauseRule::kSlowHost:
    return fmt::format("The {} of {} {} longer than those of {} peers", single ? "host" : "hosts",
                       members_text(c), single ? "takes" : "take", its);
  case CauseRule::kMoreData:
    return fmt::format("{} operators{} have larger inputs on {} than on {} peers", occurrences(c),
                       per_step, members_text(c), its);
  case CauseRule::kSlowLink:
    if (c.groups.size() > 1)
      return fmt::format("The links of {} groups reach {} GB/s, those of other groups {}: {}",
                         c.groups.size(), number3(c.rate), number3(c.rate_to), groups_text(c));
    return fmt::format("{} {} {} GB/s, those of other groups {}",
                       c.ranks.size() == 2 ? "The link between" : "Transfers among",
                       members_text(c) + (c.ranks.size() == 2 ? " reaches" : " reach"),
                       number3(c.rate), number3(c.rate_to));
  case CauseRule::kSlowCollective:
    return fmt::format("One {} reaches {} GB/s, others of its size {}: {}", short_place(c.what),
                       number3(c.rate), number3(c.rate_to), cost);
  case CauseRule::kSmallCollectives:
    return fmt::format("{} small collectives{} ({}, at most {} KB) pay {} \u00b5s of latency each",
                       occurrences(c), per_step, short_place(c.what),
                       number3(static_cast<double>(c.bytes) / 1e3), number3(c.latency_us));
  case CauseRule::kRepeatedReduction:
    return fmt::format("Gradients are reduced in {} backward passes{}: {}", c.others,
                       facts.steps > 0 ? " of a step" : "", cost);
  case CauseRule::kUnevenExchange:
    return fmt::format("Rank {} sends or receives {} more than the mean in {}: {}", c.ranks.front(),
                       percent_text(c.percent), short_place(c.what), cost);
  case CauseRule::kContention:
    return fmt::format("GEMMs take {} longer while collectives run on their GPU",
                       percent_text(c.percent));
  case CauseRule::kJitter:
    return fmt::format("No single rank is slow: the slowest one changes from step to step ({})",
                       c.what);
  }
  return {};
}

/// Returns the rule with the remedy for this cause.
const CauseHelp& remedy_rule_of(const StepCause& c) {
  return help_of(c.from_host ? CauseRule::kPageableCopy : c.rule);
}
/// Returns what to do about the cause.
std::string_view action_of(const StepCause& c) {
  if (c.rule == CauseRule::kLaunchBound && !c.what.empty())
    return "Shorten the host code between the graph launches, capture more work in each graph, or "
           "enlarge the batch";
  return remedy_rule_of(c).remedy;
}

/// Returns "the cause on rank 5 (slow-host)": the other causes that must be removed together with
/// this one.
std::vector<std::string> tied_causes(const CauseFacts& facts, const StepCause& c) {
  std::vector<std::string> out;
  for (const StepCause& other : facts.causes)
    if (c.together && other.together == c.together && &other != &c)
      out.push_back(
          fmt::format("the cause on {} ({})", members_text(other), cause_rule_id(other.rule)));
  return out;
}

std::string of_outstanding_ranks(const CauseFacts& facts, const StepCause& c) {
  const bool single = c.ranks.size() == 1;
  const std::string_view its = single ? "its" : "their";
  std::string out = c.excess_ms > 0 ? fmt::format("{} {} ms longer than {} peers",
                                                  single ? "It computes" : "They compute",
                                                  number3(c.excess_ms), its)
                                    : fmt::format("{} later to collectives than {} peers",
                                                  single ? "It comes" : "They come", its);
  if (!single)
    out += "; one of them alone gains little, because the run then waits for the others";
  else if (facts.recorded_steps > 1 && c.latest_steps > 0)
    out += fmt::format(", most of all in {} of {} steps", c.latest_steps, facts.recorded_steps);
  if (!c.shapes)
    return out + "; shapes were not recorded, so larger inputs are not excluded";
  if (c.rule == CauseRule::kSlowGpu)
    out += c.alike ? "; all kernels alike, same names and shapes" : "; not all kernels alike";
  return out;
}

/// Returns a rule's text about its check and the alternatives that it excludes.
std::string check_of(const CauseFacts& facts, const StepCause& c) {
  switch (c.rule) {
  case CauseRule::kLoader:
    return "Not a full launch queue: the GPU is idle meanwhile";
  case CauseRule::kHostCode:
    if (c.call)
      return "A call of the runtime that waits for no work of the trace; it may load code";
    return c.what.empty()
               ? (facts.stacks
                      ? "No frame covers half of it"
                      : "Without Python stacks the function is unknown: record with_stack=True")
               : "In this time, it launches no recorded GPU work and does not wait for the GPU";
  case CauseRule::kCollection:
    return c.confidence == Confidence::kHint ? "Similar lengths at changing places, as of garbage "
                                               "collection; a guess, because the "
                                               "function is unknown: record with_stack=True"
                                             : "";
  case CauseRule::kOptimizerLoop:
    return "The bound has one kernel that reads each parameter with its gradient and writes it, at "
           "the rate of these kernels";
  case CauseRule::kGraphBreaks:
    return "Only the lookup of the code is between the pieces; the bound removes the gaps";
  case CauseRule::kSlowGemm:
    return fmt::format(
        "Median of {} GEMMs of other extents; the best rate of each differs, so this "
        "is a bound",
        c.others);
  case CauseRule::kDeviceCopy:
    return "The bound is the gain without any of these copies; some of them may be necessary";
  case CauseRule::kRepeatedReduction:
    return "All these backward passes have the same all-reduces; the gain keeps the last";
  case CauseRule::kUnevenExchange:
    return "The bound gives every rank the mean amount; a slow network of this rank is not "
           "excluded";
  case CauseRule::kReadBack:
    if (c.before_host_code)
      return "Without the call, the host could run ahead of its long pauses, which take most "
             "of this time";
    return "The gain is the idle time behind the call, not the call's own length";
  case CauseRule::kStreamWait:
    return "No event orders the streams; if the next work needs the result, the gain is smaller";
  case CauseRule::kSlowGpu:
  case CauseRule::kSlowOperator:
  case CauseRule::kSlowCopies:
  case CauseRule::kMoreWork:
  case CauseRule::kMoreData:
  case CauseRule::kSlowHost:
    return of_outstanding_ranks(facts, c);
  case CauseRule::kSlowLink:
    return fmt::format("Bus bandwidth of {} against the median of the {} other groups of its kind "
                       "and size; waiting for late ranks is not in it{}",
                       short_place(c.what), c.others,
                       c.groups.size() > 1 ? "; one of the links alone gains little" : "");
  case CauseRule::kSlowCollective:
    return fmt::format("Against {} others of its kind, size and group; waiting for late ranks is "
                       "not in it",
                       c.others);
  case CauseRule::kSmallCollectives:
    return "One collective of their total size pays the latency once";
  case CauseRule::kContention:
    return fmt::format("99 % CI {}. GEMMs at the same place of the step are compared with and "
                       "without overlap. The bound leaves the collectives unchanged",
                       range3(c.percent_low, c.percent_high) + " %");
  case CauseRule::kJitter:
    return fmt::format("As with the mean time over the ranks, at each place of each step. No rank "
                       "is the slowest in more than {} of {} steps",
                       c.latest_steps, facts.steps);
  case CauseRule::kLaunchBound:
    return facts.recording ? ""
                           : "The profiler lengthens launches: compare with a step that is not "
                             "recorded (--step-time)";
  case CauseRule::kSlowFormat:
    return "Bound by the peak of TF32 at the share of the peak that fp32 reaches";
  case CauseRule::kMisaligned:
    return c.kind == GainKind::kEstimate ? "At the rate of the nearest aligned product of this run"
                                         : "No aligned product of similar size in this run";
  case CauseRule::kPageableCopy:
    return c.rate_to > 0
               ? fmt::format("Pinned copies of this run reach {} GB/s", number3(c.rate_to))
               : "No pinned copy to compare with: the bound hides the copies";
  case CauseRule::kExposedCopy:
    return contains(c.what, "Pinned") ? "The bound overlaps the copies with kernels"
                                      : "The bound overlaps the copies with kernels; the trace "
                                        "does not record whether the memory is pinned";
  case CauseRule::kUnfusedAttention:
    return "Bound by the peak of its products";
  case CauseRule::kPointwiseChain:
    return fmt::format("The bound reads the input of a chain once and writes its result once. The "
                       "longest: {}",
                       c.what);
  case CauseRule::kRecomputation:
    return "Activation checkpointing saves memory for this time";
  default:
    return {};
  }
}

std::string ranks_of(const StepCause& c, std::size_t ranks) {
  if (ranks < 2)
    return {};
  if (c.ranks.size() == ranks)
    return "all ranks";
  return c.ranks.size() == 1 ? fmt::format("rank {}", c.ranks.front())
                             : fmt::format("{} of {} ranks", c.ranks.size(), ranks);
}

std::string evidence_of(const CauseFacts& facts, const StepCause& c) {
  std::string out;
  const auto add = [&out](const std::string& text) {
    if (!text.empty())
      out += (out.empty() ? "" : "; ") + text;
  };
  add(gain_text(facts, c));
  if (c.alone_ms >= c.gain_ms + facts.floor_ms &&
      facts.quality.unexplained_percent() <= kNoGainPercent)
    add(fmt::format("{} ms if nothing else is removed", number3(c.alone_ms)));
  else if (c.together)
    add("alone it gains little");
  else if (c.alone_ms < facts.floor_ms)
    add("nothing before the causes above are removed");
  add(ranks_of(c, facts.ranks));
  if (c.steps > 1 && !in_single_steps(c))
    add(fmt::format("in {} of {} steps", c.steps_seen, c.steps));
  if (c.confidence != Confidence::kSure)
    add("confidence: " + std::string(confidence_name(c.confidence)));
  if (const std::string check = check_of(facts, c); !check.empty())
    out += ". " + check;
  return out;
}

/// Returns lines about links that are not compared, one for each reason.
std::vector<std::string> untested_link_lines(std::span<const UntestedLinks> links) {
  using Reason = UntestedLinks::Reason;
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> out;
  for (const auto& [reason, why] :
       {std::pair(Reason::kFewGroups, "fewer than three groups of equal collectives"),
        std::pair(Reason::kFewSteps,
                  "fewer than three steps, and fewer than nine groups of equal collectives")}) {
    std::vector<std::string> names;
    for (const UntestedLinks& link : links)
      if (link.reason == reason)
        names.push_back(fmt::format("{} of {} ranks", short_place(link.name), link.group_size));
    if (names.empty())
      continue;
    const std::size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
    names.resize(names.size() - more);
    if (more > 0)
      names.push_back(fmt::format("{} more", more));
    out.push_back(fmt::format("the bandwidth of links in {}: {}", joined(names, "and"), why));
  }
  return out;
}

/// Returns "its kernels and host": the parts with a significant excess of at least a tenth of the
/// rank's excess.
std::string parts_text(const LateRankParts& late) {
  constexpr double kLeastPart = 0.1;
  std::vector<std::string> parts;
  for (const StretchPart part :
       {StretchPart::kKernels, StretchPart::kOtherInputs, StretchPart::kExtraKernels,
        StretchPart::kCopies, StretchPart::kHost, StretchPart::kLaunch}) {
    const PartExcess& excess = late.parts[static_cast<std::size_t>(part)];
    if (excess.excess_ms >= kLeastPart * late.all.excess_ms &&
        excess.low_ms.value_or(excess.excess_ms) > 0)
      parts.emplace_back(stretch_part_name(part));
  }
  return "its " + (parts.empty() ? std::string("activities") : joined(parts, "and"));
}

/// Returns why the step is left out.
std::string reason_of(const BoundaryStep& step) {
  if (!step.incomplete())
    return fmt::format("{} ms of it is waiting for rank {}, which has no activity meanwhile",
                       number3(step.wait_ms), step.rank);
  return fmt::format("it has {} GPU activities on rank {}, and the other complete steps have at "
                     "least {}; the recording may {} within it",
                     step.activities, step.rank, step.other_activities,
                     step.step == 0 ? "begin" : "end");
}

std::string remedy_of(const BoundaryStep& step) {
  return step.incomplete() ? "Record complete steps only"
                           : "Add warm-up steps to the profiler's schedule, and a barrier before "
                             "the first recorded step";
}

Schema<StepCause> remedy_schema() {
  using R = StepCause;
  const auto help = [](std::string_view CauseHelp::*text) {
    return [text](const R& r) { return text_or_blank(remedy_rule_of(r).*text); };
  };
  return Schema<R>(
      "remedies", "what to do about the causes of this run",
      {{"rule", [](const R& r) { return cause_rule_id(r.rule); }, "id of the rule (docs/why.md)"},
       {"remedy", [](const R& r) { return action_of(r); },
        "what to do; the quickest remedy is first"},
       {"applies_to", help(&CauseHelp::applies_to), "software or vendor that the remedy is for"},
       {"source", help(&CauseHelp::source), "documentation of the remedy"},
       {"checked", help(&CauseHelp::checked),
        "date on which the remedy was compared with its source"}});
}

/// Returns the ranks that the others wait for, and the time that is waiting or transfer.
std::string exposed_evidence(const CauseFacts& facts, double unmatched_ms) {
  constexpr std::size_t kWaitedFor = 3;
  constexpr double kWorthAWait = 0.01; // of the longest wait; shorter waits are not named
  const std::vector<RankWait>& waits = facts.exposed.wait_for;
  std::string out;
  if (facts.ranks > 1)
    out = fmt::format("Mean over {} ranks", facts.ranks);
  for (std::size_t k = 0;
       k < std::min(kWaitedFor, waits.size()) && waits[k].ms >= kWorthAWait * waits[0].ms; ++k)
    out += fmt::format("{} {} ms for rank {}", k == 0 ? "; they wait" : ",",
                       number3(waits[k].ms, waits[0].ms), waits[k].rank);
  if (unmatched_ms > 0)
    out += fmt::format("{}{} ms are waiting or transfer: sends, receives, broadcasts, or "
                       "collectives with members that were not read",
                       out.empty() ? "" : "; ", number3(unmatched_ms));
  return out;
}

} // namespace

std::string gain_text(const CauseFacts& facts, const StepCause& c) {
  const double unexplained = facts.quality.unexplained_percent();
  if (unexplained > kNoGainPercent)
    return "gain unknown: too much of the time is unexplained";
  const std::vector<std::string> others = tied_causes(facts, c);
  const auto causes = static_cast<double>(others.size() + 1);
  std::string out = "removing it";
  if (!others.empty())
    out += " and " + joined(others, "and");
  out += c.kind == GainKind::kEstimate ? " gains " : " gains at most ";
  out += number3(causes * c.gain_ms) + " ms";
  if (c.low_ms && c.high_ms) {
    const double low = causes * *c.low_ms, high = causes * *c.high_ms;
    if (number3(low) != number3(high)) // else the gain says it all
      out += fmt::format(" ({})", range3(low, high));
  }
  out += fmt::format(" of {} ms", number3(facts.step_ms));
  if (in_single_steps(c))
    out += ", as a mean over the steps";
  if (unexplained > kDoubtfulPercent)
    out += ", uncertain";
  return out;
}

std::vector<Finding> cause_findings(const CauseFacts& facts) {
  std::vector<Finding> out;
  for (const StepCause& c : facts.causes) {
    std::string subject = c.what;
    if (subject.empty() && (!c.before.empty() || !c.after.empty()))
      subject = c.before + " | " + c.after;
    std::string kind = subject.empty() ? "run" : "place";
    if (compares_ranks(c.rule)) {
      kind = c.ranks.size() == 1 ? "rank" : "ranks";
      subject = ranges_text(c.ranks) + (subject.empty() ? "" : ": " + subject);
    }
    Finding f = finding_of(help_of(c.rule).finding, kind, subject);
    f.value = c.gain_ms;
    f.unit = Unit::kMs;
    f.low = c.low_ms;
    f.high = c.high_ms;
    f.steps = facts.steps;
    f.cost_ms = c.cost_ms;
    f.place = c.place;
    set_headline(f, headline_of(facts, c));
    f.evidence = capital(evidence_of(facts, c));
    f.action = action_of(c);
    out.push_back(std::move(f));
  }
  return out;
}

std::optional<Finding> exposed_time_finding(const CauseFacts& facts) {
  constexpr double kLeastPercent = 5;    // as in `top`
  constexpr double kMostlyWaiting = 0.7; // above this, the transfers are not the reason
  constexpr double kOneRank = 0.5;       // of the waits; up to this, no rank is the reason
  const ExposedTime& x = facts.exposed;
  if (!(x.total_ms() * 100 >= kLeastPercent * facts.step_ms) || x.total_ms() <= 0)
    return std::nullopt;
  Finding f = finding_of(rules::exposed_communication, "run", "communication");
  f.value = x.total_ms();
  f.unit = Unit::kMs;
  f.steps = facts.steps;
  f.cost_ms = x.total_ms();
  const bool waits = x.wait_ms >= kMostlyWaiting * x.total_ms() && !x.wait_for.empty();
  const double unmatched_ms = facts.job_ranks == 1 ? 0 : x.unmatched_ms; // waits for no other rank
  const bool pairs = x.pair_wait_ms > x.wait_ms / 2;
  const std::string total = fmt::format("Communication is exposed for {} ms{}",
                                        number3(x.total_ms()), facts.steps > 0 ? " of a step" : "");
  std::string headline = total;
  const std::string transfers = x.transfer_ms > 0 || unmatched_ms == 0
                                    ? fmt::format(", {} ms transfers", number3(x.transfer_ms))
                                    : std::string(); // unknown
  if (facts.job_ranks != 1 && unmatched_ms < x.total_ms())
    for (const char* const whom : {pairs ? " for peers" : " for late ranks", ""})
      if (headline == total || display_width(headline) > kHeadlineWidth)
        headline = fmt::format("{}: {} ms waiting{}{}", total, number3(x.wait_ms), whom, transfers);
  set_headline(f, std::move(headline));
  f.evidence = exposed_evidence(facts, unmatched_ms);
  if (waits) {
    const RankWait& most = x.wait_for.front();
    const auto cause = std::ranges::find_if(facts.causes, [&](const StepCause& c) {
      return std::ranges::find(c.ranks, most.rank) != c.ranks.end() &&
             (compares_ranks(c.rule) || ((c.ranks.size() == 1 || c.main_rank == most.rank) &&
                                         c.gain_ms > kOneRank * most.ms));
    });
    const bool at_start = most.start_ms > kOneRank * most.ms;
    if (cause == facts.causes.end() && pairs)
      f.action =
          "Compare the stages: rankscope whatif lists the slowdown by rank. An even pipeline "
          "waits too, less with more micro-batches";
    else if (cause != facts.causes.end())
      f.action =
          fmt::format("Remove the cause on rank {} ({})", most.rank, cause_rule_id(cause->rule));
    else if (at_start)
      f.action = fmt::format("Record more steps: rank {} begins its first step later than the "
                             "others, and the trace does not show why",
                             most.rank);
    else if (most.ms > kOneRank * x.wait_ms)
      f.action = fmt::format("Find why rank {} is late", most.rank);
    else
      f.action = "Find why ranks are late: no rank causes most of the waiting";
    if (!pairs)
      f.action += "; faster or smaller collectives do not shorten the waiting";
  } else if (unmatched_ms >= kMostlyWaiting * x.total_ms() &&
             (facts.ranks == 1 || static_cast<std::int64_t>(facts.ranks) < facts.job_ranks))
    f.action = facts.ranks > 1 ? "Add the traces of the missing ranks"
                               : "Give the traces of all ranks: a folder instead of one trace";
  return f;
}

std::string clock_text(const CauseFacts& facts) {
  if (facts.ranks < 2)
    return "";
  if (facts.clock_conflict_ns > 0)
    return fmt::format(
        "the ranks' clocks differ: a receive ends {} ms before its send starts, so the "
        "waiting in sends and receives is unknown. A collective of all ranks in each "
        "step would align the clocks",
        number3(ns_to_ms(facts.clock_conflict_ns)));
  if (!facts.clock_error_ns)
    return "the clocks of ranks that share only sends and receives are not compared: the waits in "
           "them are right if the clocks agree, as on one node";
  if (*facts.clock_error_ns <= kLeaveTogetherNs)
    return "";
  return fmt::format("the ranks' clocks agree to within {} ms: shorter waits for late ranks are "
                     "uncertain",
                     number3(ns_to_ms(*facts.clock_error_ns)));
}

std::string boundary_step_text(const BoundaryStep& step) {
  return fmt::format("step {} is left out: {}. {}", step.number, reason_of(step), remedy_of(step));
}

Finding boundary_step_finding(const BoundaryStep& step) {
  Finding f = finding_of(rules::left_out_step, "step", std::to_string(step.number));
  set_headline(f, fmt::format("Step {} is left out of the causes", step.number));
  f.evidence = capital(reason_of(step));
  f.action = remedy_of(step);
  return f;
}

std::string long_step_text(const LongStep& step) {
  constexpr double kExplained = 0.5; // of the excess
  std::string out = fmt::format("step {} takes {} ms, {} ms longer than the median step",
                                step.number, number3(step.ms), number3(step.excess_ms));
  if (step.left_ms > kExplained * step.excess_ms)
    return out + fmt::format("; the causes above do not explain this (--only-steps {} may show "
                             "causes in this step)",
                             step.number);
  return out + fmt::format(", and {} ms longer without the causes above",
                           number3(std::max(0.0, step.left_ms)));
}

std::string unexplained_rank_text(const CauseFacts& facts, const UnexplainedRank& rank) {
  const std::string peers = facts.ranks == 2 ? "the other" : "its peers";
  const std::string floor = number3(facts.floor_ms);
  const auto parts = std::ranges::find(facts.late_rank_parts, rank.rank, &LateRankParts::rank);
  constexpr double kMostRemainder = 0.5; // of the excess
  std::string why = "the differences of its kernels and host activities do not add up to this";
  if (facts.ranks < kFewestRanks)
    why = "with fewer than four ranks no reason is looked for";
  else if (parts == facts.late_rank_parts.end())
    why = "no collective of four or more ranks shows when it arrives";
  else if (rank.small)
    why = fmt::format("the difference is in {}, but gains below {} ms are not listed",
                      parts_text(*parts), floor);
  else if (parts->all.excess_ms > facts.floor_ms &&
           parts->parts[static_cast<std::size_t>(StretchPart::kOtherGroups)].excess_ms >
               kMostRemainder * parts->all.excess_ms)
    why = "it waits for other ranks in its other groups";
  else if (parts->all.excess_ms > facts.floor_ms &&
           std::abs(parts->remainder_ms()) <= kMostRemainder * parts->all.excess_ms)
    why = fmt::format("the difference is in {}, but no gain of {} ms is significant",
                      parts_text(*parts), floor);
  else if (!(parts->all.excess_ms > facts.floor_ms) && parts->all.low_ms.value_or(0) > 0)
    why = fmt::format("at collectives of four or more ranks it is late by {} ms, and no reason is "
                      "looked for below {} ms",
                      number3(parts->all.excess_ms), floor);
  else if (!(parts->all.excess_ms > facts.floor_ms))
    why = fmt::format("at collectives of four or more ranks it is late by less than {} ms, and no "
                      "gain of {} ms is found",
                      floor, floor);
  return fmt::format("rank {} {}; {}", rank.rank,
                     rank.excess_ms > 0 ? fmt::format("computes {} ms longer than {}",
                                                      number3(rank.excess_ms), peers)
                                        : "is later than " + peers,
                     why);
}

std::vector<std::string> unsaid_lines(const CauseFacts& facts) {
  const bool members_missing = facts.job_ranks != 1 && facts.exposed.unmatched_ms > facts.floor_ms;
  const std::array<std::string_view, 4> kWhy = {
      members_missing ? "overlapping work takes as long, or collectives that lack members hide it"
                      : "overlapping work takes as long",
      "explained by the causes above", "not significant over the steps",
      "in fewer than half of the steps"};
  std::vector<std::string> out;
  const std::string_view step = facts.steps > 0 ? " of a step" : "";
  for (const UnexplainedRank& rank : facts.unexplained_ranks)
    out.push_back(unexplained_rank_text(facts, rank));
  for (const UnclearRank& rank : facts.unclear_ranks)
    out.push_back(fmt::format("rank {} computes {} ms longer than its peers on average, but {} ms "
                              "in the steps: not significant",
                              rank.rank, number3(rank.mean_ms),
                              range3(rank.lowest_ms, rank.highest_ms)));
  const bool no_gain = facts.quality.unexplained_percent() > kNoGainPercent;
  for (const Unsaid& u : facts.unsaid) {
    const bool noise = u.reason == UnsaidReason::kBelowNoise || u.reason == UnsaidReason::kFewSteps;
    const double ms = noise ? u.gain_ms : u.cost_ms;
    const bool listed =
        std::ranges::find(facts.causes, u.rule, &StepCause::rule) != facts.causes.end();
    out.push_back(fmt::format("{}{}: {}", listed ? "further " : "", cause_rule_id(u.rule),
                              kWhy[static_cast<std::size_t>(u.reason)]));
    if (ms >= facts.floor_ms && !(noise && no_gain)) // below it, other causes hide the cost
      out.back() += fmt::format(" ({} {} ms{})", noise ? "gain" : "cost", number3(ms), step);
  }
  if (facts.visible_ms > facts.step_ms)
    out.push_back("slow ranks: the differences between the ranks vary by more than a step");
  else if (facts.visible_ms > facts.floor_ms) {
    const bool others =
        !facts.unclear_ranks.empty() || std::ranges::any_of(facts.causes, [](const StepCause& c) {
          return compares_ranks(c.rule) && c.rule != CauseRule::kSlowLink;
        });
    out.push_back(
        fmt::format("{}ranks that compute less than {} ms longer per step than their peers: "
                    "{} cannot show it",
                    others ? "other " : "", number3(facts.visible_ms),
                    facts.recorded_steps > 1 ? "these steps" : "one step"));
  }
  for (std::string& line : untested_link_lines(facts.untested_links))
    out.push_back(std::move(line));
  if (facts.ranks == 1 && facts.job_ranks > 1)
    out.push_back(fmt::format("late ranks and slow links: this is one of {} ranks (give the folder "
                              "of the run)",
                              facts.job_ranks));
  if (!facts.stacks)
    out.push_back(
        "functions of host code, garbage collection, checkpoints: no Python stacks in the trace "
        "(record with_stack=True)");
  return out;
}

std::vector<TopNext> cause_commands(const CauseFacts& facts) {
  constexpr std::size_t kCauses = 3;
  std::vector<TopNext> out;
  for (std::size_t k = 0; k < std::min(kCauses, facts.causes.size()); ++k) {
    const StepCause& c = facts.causes[k];
    TopNext next;
    if (c.rule >= CauseRule::kSlowLink && c.rule <= CauseRule::kUnevenExchange) {
      next = {{"rankscope", "collectives", kPaths}, "sizes and bandwidths of each collective"};
    } else if (compares_ranks(c.rule) && c.rule != CauseRule::kMoreData &&
               c.rule != CauseRule::kMoreWork) { // no other rank has this data or work
      next = {{"rankscope", "whatif", kPaths, "--edit",
               fmt::format("ranks={} as median", fmt::join(c.ranks, ","))},
              "the steps if " + members_text(c) + (c.ranks.size() == 1 ? " was" : " were") +
                  " like the other ranks"};
    } else if (c.rule == CauseRule::kContention && facts.ranks > 1) {
      next = {{"rankscope", "gemm", "overlap", kFolder},
              "the GEMMs that vary most, with the collectives that overlap them"};
    }
    if (!next.command.empty() &&
        std::ranges::find(out, next.command, &TopNext::command) == out.end())
      out.push_back(std::move(next));
  }
  return out;
}

std::vector<TopNext> with_paths(const std::vector<TopNext>& commands,
                                const std::vector<std::string>& paths) {
  std::vector<TopNext> out;
  if (paths.empty() || paths.front() == "-")
    return out;
  for (const TopNext& next : commands) {
    std::vector<std::string> words = next.command;
    const auto at = std::ranges::find_if(
        words, [](const std::string& word) { return word == kPaths || word == kFolder; });
    if (at == words.end() || (*at == kFolder && paths.size() > 1))
      continue;
    words.insert(words.erase(at), paths.begin(), paths.end());
    out.push_back({std::move(words), next.why});
  }
  return out;
}

const CauseHelp& help_of(CauseRule rule) {
  return kHelp[static_cast<std::size_t>(rule)];
}

Table remedy_table(const CauseFacts& facts) {
  std::vector<StepCause> rows;
  for (const StepCause& cause : facts.causes)
    if (std::ranges::none_of(rows, [&cause](const StepCause& row) {
          return row.rule == cause.rule && action_of(row) == action_of(cause);
        }))
      rows.push_back(cause);
  return remedy_schema().table(rows);
}

SheetInfo remedy_sheet() {
  return remedy_schema().info();
}

} // namespace rankscope
